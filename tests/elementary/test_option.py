"""`nd.vector_math()`: which operators take vector code, in which modes, and that derivatives stay right."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse
import scipy.special as sp
from numba import njit

import numbad as nd
from numbad.reverse.switches import without

x = np.linspace(-1.5, 2.5, 37)


@njit
def inner(v):
    return math.exp(-v * v)


@njit
def elementwise(v):
    out = np.empty_like(v)
    for i in range(v.size):
        out[i] = inner(v[i]) + math.sin(v[i]) * math.tanh(v[i])
    return out


@njit
def elementwise_one(v):
    return inner(v) + math.sin(v) * math.tanh(v)


def slope(v):
    """Of `elementwise`, in closed form."""
    return -2 * v * np.exp(-v * v) + np.cos(v) * np.tanh(v) + np.sin(v) / np.cosh(v) ** 2


def curvature(v):
    sech = 1 / np.cosh(v) ** 2
    bell = (4 * v * v - 2) * np.exp(-v * v)
    return bell + 2 * np.cos(v) * sech - np.sin(v) * np.tanh(v) - 2 * np.sin(v) * sech * np.tanh(v)


def total(v):
    return elementwise(v).sum()


def _text(operator):
    """The calls in its code: what is defined there may be called by nobody."""
    lines = "".join(operator.inspect_llvm().values()).splitlines()
    return "\n".join(line for line in lines if " call " in line)


def _made(build):
    with nd.vector_math():
        return build()


OPERATORS = {
    "reverse": lambda: nd.value_and_grad(total, mode="reverse"),
    "forward": lambda: nd.value_and_grad(total, mode="forward"),
}


@pytest.mark.parametrize("build", OPERATORS.values(), ids=OPERATORS)
def test_values_and_derivatives(build):
    value, gradient = _made(build)(x)
    truth = np.exp(-x * x) + np.sin(x) * np.tanh(x)
    np.testing.assert_allclose(value, truth.sum(), rtol=1e-15)
    np.testing.assert_allclose(gradient, slope(x), rtol=1e-13, atol=1e-15)


def test_the_same_bits_in_vectors_and_alone():
    operator = _made(lambda: nd.vjp(elementwise))
    together, _ = operator((x,), np.ones(x.size))
    alone = [operator((x[i : i + 1],), np.ones(1))[0][0] for i in range(x.size)]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.deep
def test_second_order():
    hessian = _made(lambda: nd.hessian(total))(x[:5])
    np.testing.assert_allclose(np.diag(hessian), curvature(x[:5]), rtol=1e-12)


def test_what_is_made_outside_stays_as_it_is():
    before = nd.value_and_grad(total, mode="reverse")
    inside = _made(OPERATORS["reverse"])
    after = nd.value_and_grad(total, mode="reverse")
    assert before is after
    assert inside is not before
    assert inside is _made(OPERATORS["reverse"])
    inside(x), before(x)
    assert "numbad.elementary.exp.in" not in _text(before)
    assert "@numbad.elementary.exp(" not in _text(before)
    with pytest.raises(KeyError), nd.vector_math():
        raise KeyError
    assert nd.value_and_grad(total, mode="reverse") is before


@pytest.mark.deep
def test_an_operator_with_it_within_one_without_and_the_other_way_round():
    inside = _made(lambda: nd.grad(total, mode="reverse"))

    def norm(v):
        return np.log(inside(v) ** 2 + 2.0).sum()

    wanted = 2 * slope(x) * curvature(x) / (slope(x) ** 2 + 2.0)
    for outer in (nd.grad(norm, mode="reverse"), _made(lambda: nd.grad(norm, mode="reverse"))):
        np.testing.assert_allclose(outer(x), wanted, rtol=1e-11, atol=1e-13)

    @njit
    def caller(v):
        return inside(v)[3] + math.log(1e-310)  # beyond the formula of ours

    assert caller(x) == pytest.approx(slope(x)[3] + math.log(1e-310))


def test_one_first_compiled_within_plain_code_and_one_within_another_with_it():
    """Neither has machine code of its own by then: the one takes its own, the other that of its caller."""
    inner = _made(lambda: nd.batch(elementwise_one, lanes=4))
    within = njit(lambda v: inner(v) + 0.0)(x)
    outer = _made(lambda: nd.vjp(lambda v: inner(v) + 0.0))
    np.testing.assert_array_equal(outer((x,), np.ones(x.size))[0], within)
    np.testing.assert_array_equal(inner(x), within)
    np.testing.assert_array_equal(_made(lambda: nd.batch(elementwise_one, lanes=4))(x), within)
    assert np.any(nd.batch(elementwise_one, lanes=4)(x) != within)

    again = _made(lambda: nd.batch(lambda v: elementwise_one(v), lanes=4))
    first = _made(lambda: nd.vjp(lambda v: again(v) + 0.0))((x,), np.ones(x.size))[0]
    np.testing.assert_array_equal(njit(lambda v: again(v) + 0.0)(x), first)
    np.testing.assert_array_equal(first, within)


def test_a_function_that_calls_itself():
    @njit
    def tower(v, n):
        if n == 0:
            return v
        return math.sin(tower(v, n - 1)) + 0.5

    value, gradient = _made(lambda: nd.value_and_grad(tower, mode="reverse"))(0.3, 3)
    v, d = 0.3, 1.0
    for _ in range(3):
        v, d = math.sin(v) + 0.5, d * math.cos(v)
    assert value == pytest.approx(v, rel=1e-15)
    assert gradient == pytest.approx(d, rel=1e-14)


def test_squares_stay_products():
    def squares(v):
        return (v**2.0).sum()

    operator = _made(lambda: nd.value_and_grad(squares, mode="reverse"))
    assert operator(x)[0] == nd.value_and_grad(squares, mode="reverse")(x)[0]


@pytest.mark.parametrize("log", [False, True])
def test_sums_are_in_vectors_where_their_order_is_free(log):
    """By LLVM, in the loop itself. With a logarithm, the adjoint of the sum is known after the loop alone."""

    @njit(fastmath={"reassoc"})
    def bells(v):
        found = 0.0
        for i in range(v.size):
            found += math.exp(-v[i] * v[i])
        return math.log(found) if log else found

    with without("lane_loops"):
        operator = _made(lambda: nd.value_and_grad(bells, mode="reverse"))
        value, gradient = operator(x)
    each = np.exp(-x * x)
    total = each.sum()
    assert value == pytest.approx(math.log(total) if log else total, rel=1e-14)
    np.testing.assert_allclose(gradient, -2 * x * each / (total if log else 1.0), rtol=1e-14)
    assert "x double> @numbad.elementary.exp." in _text(operator)


def test_functions_of_scipy():
    def weighted(v, w):
        return np.dot(sp.expit(v) + sp.log_expit(2 * v) + sp.erf(v) + sp.expm1(v), w)

    operator = _made(lambda: nd.value_and_grad(weighted, mode="reverse"))
    value, gradient = operator(x, np.ones(x.size))
    sigmoid, bell = 1 / (1 + np.exp(-x)), 2 / np.sqrt(np.pi) * np.exp(-x * x)
    softplus = np.log1p(np.exp(-2 * x))
    errors = [math.erf(v) for v in x]
    assert value == pytest.approx((sigmoid - softplus + errors + np.exp(x) - 1).sum(), rel=1e-14)
    wanted = sigmoid * (1 - sigmoid) + 2 / (1 + np.exp(2 * x)) + bell + np.exp(x)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-13)
    for name in ("expit", "log_expit", "erf", "expm1"):
        assert f"x double> @numbad.elementary.{name}." in _text(operator)


def test_functions_of_scipy_stay_its_own_without():
    v = np.linspace(-3.0, 3.0, 200)
    values, _ = nd.vjp(sp.expit)((v,), v)
    np.testing.assert_array_equal(values, sp.expit(v))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_sparse_jacobians_which_are_compiled_after_the_block(mode):
    def bands(v):
        out = np.empty_like(v)
        for i in range(v.size):
            out[i] = np.tanh(v[i])
        return out

    v = np.linspace(0.1, 3.0, 200)
    pattern = scipy.sparse.eye_array(v.size, format="csr")
    plain = nd.jacobian(bands, sparsity=pattern, mode=mode)(v)
    vectors = _made(lambda: nd.jacobian(bands, sparsity=pattern, mode=mode))(v)
    np.testing.assert_allclose(vectors.diagonal(), 1 / np.cosh(v) ** 2, rtol=1e-12)
    assert np.any(plain.diagonal() != vectors.diagonal())


def test_pickled():
    operator = pickle.loads(pickle.dumps(_made(lambda: nd.grad(total, mode="reverse"))))
    np.testing.assert_allclose(operator(x), slope(x), rtol=1e-13, atol=1e-15)
    assert operator.operator.vector_math


def test_partials_are_in_vectors_by_default():
    """The value is the C library's, bit by bit; the partial is no value."""

    def errors(v):
        out = np.empty_like(v)
        for i in range(v.size):
            out[i] = math.erf(v[i])
        return out

    operator = nd.vjp(errors)
    value, (gradient,) = operator((x,), np.ones(x.size))
    np.testing.assert_array_equal(value, [math.erf(v) for v in x])
    np.testing.assert_allclose(gradient, 2 / np.sqrt(np.pi) * np.exp(-x * x), rtol=4e-16)
    assert "x double> @numbad.elementary.exp." in _text(operator)


def test_what_is_compiled_afterwards_has_its_own_functions():
    """What both call has changed its arguments where it became a part of the first alone."""

    def bells(p, y):
        found = 1.5
        for i in range(len(y)):
            found -= math.exp(-((y[i] - p[0]) ** 2))
        return found * p[0]

    def stored(p, y):
        q, found = p * 2.0, 0.0
        for i in range(len(y)):
            found += math.exp(q[0] * y[i])
        q[0] = 7.0 * found
        for i in range(len(y)):
            found += math.sin(q[0] * y[i] * 0.001)
        return found

    p = np.array([0.04, -0.06, 0.2])
    _made(lambda: nd.value_and_grad(bells, (0, 1), mode="reverse"))(p, x)
    gradient = nd.grad(stored, mode="reverse")(p, x)
    np.testing.assert_allclose(gradient, nd.grad(stored, mode="forward")(p, x), rtol=1e-12)
