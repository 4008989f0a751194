"""`mode=` of gradients and Jacobians: structures in both modes, what "auto" takes, what it falls back to."""

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import njit
from numba.typed import List
from numpy.lib.stride_tricks import as_strided

import numbad as nd
from numbad.operators.mode import CROSSOVER
from numbad.testing import GradientError

Point = namedtuple("Point", "x y")
Mixed = namedtuple("Mixed", "rate count label")
both = pytest.mark.parametrize("mode", ["forward", "reverse"])
INPUTS = 40


@pytest.fixture(autouse=True)
def compiled_anew(monkeypatch):
    """Code from the cache on disk takes no choice that could be looked at."""
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")


def taken(dispatcher):
    """The mode that an operator's result was last generated in."""
    (tried,) = dispatcher.operator.choice._taken.values()
    return tried[-1]


@njit
def product(x, y):
    return x * x * y


@njit
def cubes(a):
    total = 0.0
    for i in range(a.size):
        total += a[i] ** 3
    return total


@njit
def outer(v, s):
    out = np.zeros((v.size, 2))
    for i in range(v.size):
        out[i, 0] = s * v[i]
        out[i, 1] = v[i] * v[i]
    return out


@both
def test_gradients_of_scalars(mode):
    assert nd.grad(product, mode=mode)(3.0, 2.0) == 12.0
    assert nd.grad(product, (1, 0), mode)(3.0, 2.0) == (9.0, 12.0)
    assert nd.grad(product, argnums=(1,), mode=mode)(3.0, 2.0) == (9.0,)
    assert nd.value_and_grad(product, (0, 1), mode)(3.0, 2.0) == (18.0, (12.0, 9.0))
    assert nd.hessian(product, (0, 1), mode)(3.0, 2.0) == ((4.0, 6.0), (6.0, 0.0))


@both
def test_gradients_keep_the_structure_of_the_argument(mode):
    @njit
    def norm(p):
        return math.hypot(p.x, p.y)

    gradient = nd.grad(norm, mode=mode)(Point(3.0, 4.0))
    assert type(gradient) is Point
    assert gradient == pytest.approx(Point(0.6, 0.8))

    @njit
    def mixed(m, nested):
        total = 0.0
        for w in nested[1]:
            total += w
        return m.rate**m.count * nested[0][0] * total

    weights = np.array([1.0, 2.0])
    args = Mixed(2.0, 3, "hare"), ((5.0,), weights)
    by_m, by_nested = nd.grad(mixed, (0, 1), mode)(*args)
    assert by_m == Mixed(12.0 * 5.0 * 3.0, 0, None)
    assert type(by_m) is Mixed
    assert type(by_m.count) is int
    assert by_nested[0] == (24.0,)
    np.testing.assert_array_equal(by_nested[1], [40.0, 40.0])
    second = nd.hessian(mixed, mode=mode)(*args)
    assert second.rate.rate == pytest.approx(6 * 2.0 * 5.0 * 3.0)
    assert second.count is not None
    assert second.label is None


@pytest.mark.deep(but=["F-*", "reversed-*", "strided-reverse", "empty-forward"])
@both
@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "read-only", "empty"])
def test_arrays_of_any_layout(mode, layout):
    @njit
    def entries(m):
        total = 0.0
        for i in range(m.shape[0]):
            for j in range(m.shape[1]):
                total += m[i, j] * m[i, j]
        return total

    m = np.arange(12.0).reshape(3, 4)
    m = {
        "C": m,
        "F": np.asfortranarray(m),
        "strided": m[:, ::2],
        "reversed": m[::-1],
        "read-only": m,
        "empty": np.zeros((0, 3)),
    }[layout]
    m.setflags(write=layout != "read-only")
    before = m.copy()
    np.testing.assert_array_equal(nd.grad(entries, mode=mode)(m), 2 * m)
    np.testing.assert_array_equal(m, before)


@both
def test_jacobians(mode):
    v = np.array([1.0, 2.0, 3.0])
    by_v, by_s = nd.jacobian(outer, (0, 1), mode)(v, 5.0)
    assert by_v.shape == (3, 2, 3)
    assert by_s.shape == (3, 2)
    np.testing.assert_array_equal(by_v[:, 0], 5.0 * np.eye(3))
    np.testing.assert_array_equal(by_v[:, 1], np.diag(2 * v))
    np.testing.assert_array_equal(by_s, np.stack([v, 0 * v], axis=1))
    value, (by_v,) = nd.value_and_jacobian(outer, (0,), mode)(v, 5.0)
    np.testing.assert_array_equal(value, np.stack([5.0 * v, v * v], axis=1))
    np.testing.assert_array_equal(by_v[:, 0], 5.0 * np.eye(3))
    assert nd.jacobian(outer, mode=mode)(np.zeros(0), 5.0).shape == (0, 2, 0)


@both
def test_jacobians_of_tuples(mode):
    @njit
    def several(x, a, n):
        out = np.empty(2)
        out[0] = x * a[0]
        out[1] = a[1] * a[2]
        return x**n, (out, n), "label", np.arange(2)

    a = np.array([2.0, 3.0, 5.0])
    value, found = nd.value_and_jacobian(several, (0, 1), mode)(2.0, a, 3)
    assert value[0] == 8.0
    np.testing.assert_array_equal(value[1][0], [4.0, 15.0])
    assert value[2] == "label"
    (x_by_x, x_by_a), ((out_by_x, out_by_a), n), label, ints = found
    assert x_by_x == 12.0
    np.testing.assert_array_equal(x_by_a, np.zeros(3))
    np.testing.assert_array_equal(out_by_x, [2.0, 0.0])
    np.testing.assert_array_equal(out_by_a, [[2.0, 0.0, 0.0], [0.0, 5.0, 3.0]])
    assert n[0] == 0.0
    np.testing.assert_array_equal(n[1], np.zeros(3))
    assert label is None
    np.testing.assert_array_equal(ints[0], [0.0, 0.0])
    np.testing.assert_array_equal(ints[1], np.zeros((2, 3)))


@both
def test_jacobians_of_what_is_written_into_an_argument(mode):
    @njit
    def rhs(t, y, dy, p):
        dy[0] = p[0] * y[0] * y[1]
        dy[1] = t * p[1] * y[1]

    y, p = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    buffer = np.full(2, np.nan)
    jacobian = nd.jacobian(rhs, 1, mode, out=2)(2.0, y, buffer, p)
    np.testing.assert_array_equal(jacobian, [[6.0, 3.0], [0.0, 8.0]])
    np.testing.assert_array_equal(buffer, [6.0, 16.0])
    value, (by_t, by_p) = nd.value_and_jacobian(rhs, (0, 3), mode, out=2)(2.0, y, buffer, p)
    np.testing.assert_array_equal(value, [6.0, 16.0])
    np.testing.assert_array_equal(by_t, [0.0, 8.0])
    np.testing.assert_array_equal(by_p, [[2.0, 0.0], [0.0, 4.0]])


def test_a_function_with_effects_is_run_once_as_far_as_anyone_can_tell():
    @njit
    def noisy(x, calls):
        calls[0] += 1.0
        out = np.empty(3)
        for i in range(3):
            x[i] = 2.0 * x[i]
            out[i] = x[i] * np.random.rand() * calls[0]
        return out

    @njit
    def seed(k):
        np.random.seed(k)

    @njit
    def draw():
        return np.random.rand()

    seed(7)
    plain, calls = np.array([1.0, 2.0, 3.0]), np.zeros(1)
    value, afterwards = noisy(plain, calls), draw()
    seed(7)
    x, calls = np.array([1.0, 2.0, 3.0]), np.zeros(1)
    found, jacobian = nd.value_and_jacobian(noisy, mode="reverse")(x, calls)
    np.testing.assert_array_equal(found, value)
    np.testing.assert_allclose(jacobian, np.diag(value / [1.0, 2.0, 3.0]), rtol=1e-15)
    np.testing.assert_array_equal(x, plain)
    assert calls[0] == 1.0
    assert draw() == afterwards


def test_hessian_vector_products():
    a, v = np.array([1.0, 2.0]), np.array([1.0, -1.0])
    (along,) = nd.hvp(cubes)((a,), (v,))
    np.testing.assert_array_equal(along, 6 * a * v)
    value, (gradient,), (along,) = nd.grad_and_hvp(cubes)((a,), (v,))
    assert value == 9.0
    np.testing.assert_array_equal(gradient, 3 * a**2)
    np.testing.assert_array_equal(along, 6 * a * v)
    np.testing.assert_array_equal(nd.hessian(cubes, mode="reverse")(a), np.diag(6 * a))


# What "auto" takes.


def summed(n):
    names = ", ".join(f"x{i}" for i in range(n))
    scope = {}
    exec(f"def f({names}):\n    return " + " + ".join(f"x{i} * x{i}" for i in range(n)), scope)
    return njit(scope["f"])


def test_few_scalars_go_forward_many_and_arrays_in_reverse():
    for n, expected in ((1, "forward"), (CROSSOVER, "forward"), (CROSSOVER + 1, "reverse")):
        gradient = nd.grad(summed(n), tuple(range(n)))
        assert gradient(*map(float, range(n))) == tuple(2.0 * i for i in range(n))
        assert taken(gradient) == expected
    gradient = nd.value_and_grad(njit(cubes.py_func))
    np.testing.assert_array_equal(gradient(np.ones(2))[1], [3.0, 3.0])
    assert taken(gradient) == "reverse"


def test_array_to_array_goes_forward_array_to_scalar_in_reverse():
    jacobian = nd.jacobian(njit(outer.py_func))
    jacobian(np.ones(2), 1.0)
    assert taken(jacobian) == "forward"
    jacobian = nd.jacobian(njit(cubes.py_func))
    np.testing.assert_array_equal(jacobian(np.ones(2)), [3.0, 3.0])
    assert taken(jacobian) == "reverse"


@njit
def root(x):
    return math.sqrt(x)


@njit
def cube(x):
    return as_strided(np.ones(1) * x, (1,), (8,))[0] ** 3.0


# Forward mode does not take memory apart, nor reverse mode a function with a jvp alone.
nd.rule(root, jvp=lambda p, t: (math.sqrt(p[0]), 0.5 / math.sqrt(p[0]) * t[0]))
nd.rule(cube, vjp=(lambda x: (cube(x), x), lambda x, w: (3.0 * x * x * w,)))


@pytest.mark.dear
def test_auto_takes_the_other_mode_where_one_refuses():
    f = njit(lambda a: root(a[0]) * a[1])  # root has no vjp
    a = np.array([4.0, 3.0])
    gradient = nd.grad(f)
    np.testing.assert_array_equal(gradient(a), [0.75, 2.0])
    assert taken(gradient) == "forward"
    with pytest.raises(nd.UnsupportedError):
        nd.grad(f, mode="reverse")(a)
    np.testing.assert_allclose(nd.hessian(f)(a), [[-3.0 / 32.0, 0.25], [0.25, 0.0]])
    np.testing.assert_allclose(nd.hvp(f)((a,), (np.array([1.0, 0.0]),))[0], [-3.0 / 32.0, 0.25])

    slope = nd.grad(njit(lambda x: cube(x) + x))  # cube has no jvp
    assert slope(2.0) == pytest.approx(13.0, rel=1e-14)
    assert taken(slope) == "reverse"
    with pytest.raises(nd.UnsupportedError):
        nd.grad(njit(lambda x: cube(x) + x), mode="forward")(2.0)


@pytest.mark.parametrize("argument", [2.0, np.array([2.0, 3.0])])
def test_what_both_modes_refuse_names_both_reasons(argument):
    def f(x):
        return cube(root(x))

    def g(a):
        return cube(root(a[0]))

    with pytest.raises(nd.UnsupportedError, match="mode refuses it as well") as caught:
        nd.grad(g if isinstance(argument, np.ndarray) else f)(argument)
    assert "root" in str(caught.value)
    assert "cube" in str(caught.value)


def test_wrong_use_is_told_at_once_in_every_mode():
    for mode in ("auto", "forward", "reverse"):
        with pytest.raises(nd.ArgumentError, match=r"argument 'x', which is an int.*pass a float"):
            nd.grad(product, mode=mode)(2, 3.0)
        with pytest.raises(nd.ArgumentError, match=r"'a', which is an array of int64.*astype"):
            nd.grad(cubes, mode=mode)(np.arange(3))
        with pytest.raises(nd.ArgumentError, match="returns a 2-D array. Perhaps you meant nd.jac"):
            nd.grad(outer, mode=mode)(np.ones(2), 1.0)
        with pytest.raises(nd.ArgumentError, match="returns None.*out="):
            nd.grad(lambda a: None, mode=mode)(np.ones(2))
        with pytest.raises(nd.ArgumentError, match="returns a complex number"):
            nd.grad(lambda a: a[0] * 1j, mode=mode)(np.ones(2))
        with pytest.raises(nd.ArgumentError, match="returns numbers"):
            nd.jacobian(lambda a: "text", mode=mode)(np.ones(2))
    with pytest.raises(nd.ArgumentError, match="mode is"):
        nd.grad(product, mode="backward")
    for operator in (nd.grad, nd.value_and_grad, nd.jacobian, nd.value_and_jacobian):
        with pytest.raises(nd.ArgumentError, match="chunk= is the number of partials"):
            operator(product, mode="reverse", chunk=2)


def test_a_result_that_does_not_depend_on_the_argument():
    assert nd.grad(lambda x: 7, mode="reverse")(1.0) == 0.0
    np.testing.assert_array_equal(nd.grad(lambda a: 1.0, mode="reverse")(np.ones(3)), np.zeros(3))
    value, gradient = nd.value_and_grad(lambda a: a.size, mode="reverse")(np.ones(3))
    assert value == 3
    assert type(value) is int
    np.testing.assert_array_equal(gradient, np.zeros(3))


def test_a_list_that_grows_needs_no_second_call():
    @njit
    def growing(x, kept):
        kept.append(1.0)
        total = 0.0
        for v in x:
            total += v
        return total * len(kept)

    kept = List([1.0])
    np.testing.assert_array_equal(nd.grad(growing)(np.ones(INPUTS), kept), np.full(INPUTS, 2.0))
    assert len(kept) == 2


def test_functions_as_arguments_and_star_arguments():
    @njit
    def square(x):
        return x * x

    @njit
    def apply(f, a):
        return f(a[0]) * a[1]

    a = np.array([3.0, 2.0])
    np.testing.assert_array_equal(nd.grad(apply, 1, "reverse")(square, a), [12.0, 9.0])
    np.testing.assert_array_equal(nd.hessian(apply, 1)(square, a), [[4.0, 6.0], [6.0, 0.0]])

    def combined(f, r, *start):
        return f * r * start[0] + start[1]

    assert nd.grad(combined, (0, 1), "reverse")(2.0, 3.0, 4.0, 5.0) == (12.0, 8.0)


def test_functions_among_primals():
    @njit
    def square(x):
        return x * x

    @njit
    def cubed(x):
        return x * x * x

    @njit
    def apply(f, a, g, factor=2.0):
        return f(a[0]) * a[1] * g(factor)

    a, along = np.array([3.0, 2.0]), np.array([1.0, -1.0])
    value, cotangents = nd.vjp(apply)((square, a, cubed), 1.0)
    assert value == 18.0 * 8.0
    assert cotangents[0] is None
    assert cotangents[2] is None
    np.testing.assert_array_equal(cotangents[1], [96.0, 72.0])
    assert cotangents[3] == 18.0 * 12.0
    value, (by_factor,) = nd.vjp(apply, (3,))((square, a, square, 1.5), 2.0)
    assert (value, by_factor) == (18.0 * 2.25, 2.0 * 18.0 * 3.0)
    assert nd.jvp(apply)((square, a, square, 1.0), (None, along, None, 0.5)) == (18.0, 3.0 + 18.0)
    assert nd.jvp(apply, 1)((square, a, square, 1.0), (along,)) == (18.0, 3.0)
    by_a, by_factor = nd.hvp(apply)((square, a, square, 1.0), (None, along, None, 0.0))
    np.testing.assert_array_equal(by_a, [4.0 - 6.0, 6.0])
    assert by_factor == 2.0 * 3.0

    @njit
    def composed(f, g):
        return f(g(2.0))

    with pytest.raises(nd.ArgumentError, match="no argument holds floats"):
        nd.vjp(composed)((square, cubed), 1.0)


@pytest.mark.filterwarnings("ignore:First-class function")  # of Numba's, for such a tuple
def test_functions_among_primals_in_compiled_code():
    @njit
    def square(x):
        return x * x

    @njit
    def apply(f, a):
        return f(a[0]) * a[1]

    @njit
    def from_compiled(a):
        return nd.vjp(apply)((square, a), 1.0)[1][1]

    a = np.array([3.0, 2.0])
    np.testing.assert_array_equal(from_compiled(a), [12.0, 9.0])
    with pytest.raises(nd.ArgumentError, match="'f'"):
        nd.vjp(apply, 0)((square, a), 1.0)


# The checker in reverse.


@njit
def tilted(x):
    return x * x


nd.rule(tilted, vjp=(lambda x: (x * x, x), lambda x, w: (2.0 * x * w * 1.0005,)))


@pytest.mark.parametrize("x", [0.7, -3.1, 250.0])
def test_a_reverse_rule_wrong_by_half_a_thousandth_fails(x):
    f = njit(lambda x: tilted(x) + 1.0)
    with pytest.raises(GradientError, match="in reverse mode.*differences of the function give"):
        nd.check_grads(f, (x,), modes=("reverse",), order=1)
    nd.check_grads(lambda x: x * x + 1.0, (x,), modes=("reverse",))


def test_one_wrong_entry_among_many_fails():
    @njit
    def last_is_wrong(a):
        return cubes(a) + tilted(a[-1])

    a = np.linspace(0.5, 1.5, 40)
    nd.check_grads(cubes, (a,), modes=("reverse",), order=1)
    with pytest.raises(GradientError):
        nd.check_grads(last_is_wrong, (a,), modes=("reverse",), order=1)


def test_a_wrong_second_derivative_in_reverse_fails():
    @njit
    def flat(x):
        return math.sin(x)

    nd.rule(
        flat,
        vjp=(
            lambda x: (math.sin(x), x),
            lambda x, w: (math.cos(nd.stop_gradient(x)) * w,),
        ),
    )
    nd.check_grads(flat, (0.4,), modes=("reverse",), order=1)
    with pytest.raises(GradientError, match="second derivative in reverse mode"):
        nd.check_grads(flat, (0.4,), modes=("reverse",))
