"""Structrefs made in the function: fields, methods, attributes, lists, in every mode and twice."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.forward.compare import Programs, assert_close
from tests.operators.extension_types import polynomial, quaternion
from tests.operators.structrefs import Pair
from tests.reverse.plain import check, numbers

MODES = ["forward", "reverse"]
programs = Programs()
ARRAY = np.array([0.75, 1.5, 2.5])


@programs.on(0.75, 1.5, 2.5)
def fields(a, b, c):
    """Three inputs, whose partials lie on the heap: aligned to less than a vector of them is."""
    p = Pair(a * b, c)
    p.x = p.x * c
    q = Pair(1.0, 0.5)  # of constants, until active values are assigned
    q.y = p.x * a
    q.x *= b
    return p.x * p.y + q.y * q.x + a


@programs.on(0.75, 1.5, 2.5)
def in_lists(a, b, c):
    pairs = [Pair(a * b, c), Pair(c, a)]
    pairs.append(Pair(b, b))
    s = 0.0
    for p in pairs:
        p.x = p.x * a
        s += p.x * p.y
    return s + pairs[1].x * pairs[-1].y


@njit
def moved(pair, d):
    pair.x += d * pair.y
    return pair


@programs.on(0.75, 1.5, 2.5)
def methods_and_callees(a, b, c):
    p = Pair(a, b)
    p.scale(c)
    q = p
    for _ in range(3):
        q = moved(p, c)
    return p.weighted(a) + p.area * q.x


@programs.on(ARRAY)
def arrays_and_structrefs_in_fields(x):
    p = Pair(x.copy(), (x[1], x[2] * x[0]))
    q = Pair(p, x[2])
    q.x.x[1] *= q.y * p.y[1]
    p.y = (p.x[0], p.y[0])
    return q.x.y[0] * p.x[1] * x[0]


@programs.on(0.75, 1.5)
def of_quaternions(x, y):
    b = Pair(quaternion(x, y, 1.0, 0.5), Pair(x * y, y))
    s = 0.0
    for _ in range(3):
        b.x = b.x * quaternion(y, x, 0.1, 0.2)
        b.y.x = b.y.x + b.x.w
        s += b.x.square * b.y.x
    return s


@programs.on(0.75, 1.5)
def of_quaternions_in_a_list(x, y):
    pairs = [Pair(quaternion(x, y, 1.0, 0.5), x)]
    pairs.append(Pair(quaternion(y, y, x, x * y), y))
    s = 0.0
    for p in pairs:
        s += p.x.square * p.y
    pairs[0].x = pairs[1].x
    return s + pairs[0].x.z


@programs.on(0.75, 1.5)
def of_an_array_in_an_extension_type(x, y):
    p = Pair(polynomial(np.array([x, y, x * y]), 1.5, 2), x)
    p.x.coefficients[1] *= y
    return p.x.at(0.3) * p.y


@njit
def squared(pair, d):
    pair.x = pair.x * pair.x
    pair.y += d
    return pair.x.w


@programs.on(0.75, 1.5)
def of_a_quaternion_that_a_callee_changes(x, y):
    p = Pair(quaternion(x, y, 1.0, 0.5), x)
    return squared(p, y) * p.x.x + p.y


@pytest.mark.deep(
    but=[
        "fields",
        "arrays_and_structrefs_in_fields",
        "of_quaternions",
        "of_a_quaternion_that_a_callee_changes",
    ]
)
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)
    wrt = tuple(range(len(args)))
    reverse, forward = (nd.grad(f, wrt, mode=mode)(*args) for mode in ("reverse", "forward"))
    assert_close(numbers(forward, args), numbers(reverse, args), 1e-13, "forward")


def test_second_order_in_forward_mode():
    args, direction = (0.75, 1.5, 2.5), (0.5, 1.0, 2.0)
    twice = [nd.jvp(nd.grad(fields, (0, 1, 2), mode=m))(args, direction)[1] for m in MODES]
    np.testing.assert_allclose(*twice, rtol=1e-13)


@pytest.mark.parametrize("n", [3, 7])
def test_any_number_of_partials_in_fields_and_lists(n):
    """Aligned stores of vectors would end the process."""

    @njit
    def f(x):
        pairs = [Pair(x[i], Pair(x[i - 1] * x[i], i)) for i in range(len(x))]
        s = 0.0
        for p in pairs:
            s += p.x * p.y.x * p.y.y
        return s

    x = np.linspace(0.5, 2.0, n)
    i = np.arange(n)
    exact = 2.0 * x * np.roll(x, 1) * i + np.roll(x**2 * i, -1)
    np.testing.assert_allclose(nd.grad(f, mode="forward")(x), exact, rtol=1e-14)


@pytest.mark.deep(but=["of_quaternions"])
@pytest.mark.parametrize(
    "f", [of_quaternions, of_quaternions_in_a_list, of_a_quaternion_that_a_callee_changes]
)
def test_extension_types_in_second_order(f):
    """Dual numbers through the adjoint, and dual numbers of dual numbers."""
    found = [nd.jvp(nd.grad(f, (0, 1), mode=mode))((0.75, 1.5), (1.0, 2.0))[1] for mode in MODES]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_an_argument_that_holds_an_extension_type_is_changed_as_the_function_does(mode):
    """It is the caller's, and a constant: the square of the quaternion begins with -0.68."""

    @njit
    def made():
        return Pair(quaternion(0.3, 0.4, 0.5, 0.6), 2.0)

    @njit
    def begin(pair):
        return pair.x.w

    def f(x, pair):
        pair.x = pair.x * pair.x
        return pair.x.w * x

    pair = made()
    assert nd.grad(f, 0, mode=mode)(0.5, pair) == pytest.approx(-0.68, rel=1e-15)
    assert begin(pair) == pytest.approx(-0.68, rel=1e-15)
