"""`try`: the derivative of the way that the primal takes, through handlers too."""

import numba
import numpy as np
import pytest

import numbad as nd

MODES = pytest.mark.parametrize("mode", ["forward", "reverse"])


def quotient(x, y):
    q = x
    try:
        q = 2.0 * x
        q = x / y + 1.0
    except Exception:
        q = q + 10.0 * x
    return q * x


def power(x, y):
    try:
        r = x**-2 * y
    except Exception:
        r = y * y
    return r


def in_a_loop(x, y):
    total = 0.0
    for i in range(4):
        try:
            total += x / (y - i)
        except Exception:
            total += x * x
        else:
            total *= 1.5
    return total


def nested(x, y):
    try:
        try:
            r = 1 / x
        except Exception:
            r = x + 1 / y
    except Exception:
        r = 2.0 * y + x + 1.0
    return r * r


def returned(x, y):
    try:
        return x / y
    except Exception:
        return x * 7.0 + y


def finally_too(x, y):
    q = x
    try:
        q = x / y
    finally:
        q = q * x
    return q


def raised(x, y):
    try:
        if x > y:
            raise ValueError("too large")
        x = x * y
    except Exception:
        x = 3.0 * x
    return x * x


def indices(x, y):
    n = 0
    try:
        n = 7 % int(y)
        x = x * y
    except Exception:
        n = 3
        x = x * x
    return x * n


@numba.njit
def grown(x, y):
    for _ in range(3):
        if x > 10.0:
            raise ValueError("too large")
        x = x * y + 1 / y
    return x


def called(x, y):
    try:
        r = grown(x, y) * y
    except Exception:
        r = x * y * 3.0
    return r * x


@numba.njit
def forgiving(x, y):
    try:
        r = grown(x, y)
    except Exception:
        raise ArithmeticError("twice")  # noqa: B904  (Numba knows no `from`)
    return r


def called_twice(x, y):
    try:
        return forgiving(x, y) * x
    except Exception:
        return x * x * y


@numba.njit
def quotients(x, y):
    return 1 / x + x / y


def two_in_a_callee(x, y):
    try:
        return quotients(x, y)
    except Exception:
        return 3.0 * x + y


@numba.njit(error_model="numpy")
def infinite(x, y):
    return min(x / y, 4.0)


def other_model(x, y):
    try:
        r = infinite(x, y) / x
    except Exception:
        r = y
    return r * x * x


# Function, arguments, gradient by hand.
CASES = [
    (quotient, (3.0, 2.0), (2 * 3 / 2 + 1, -9 / 4)),  # x^2/y + x
    (quotient, (3.0, 0.0), (2 * 12 * 3, 0.0)),  # 12 x^2
    (power, (2.0, 3.0), (-2 * 3 / 8, 1 / 4)),
    (power, (0.0, 3.0), (0.0, 6.0)),
    (power, (1e-200, 3.0), (0.0, 6.0)),  # its square is 0
    (nested, (2.0, 3.0), (-2 / 8, 0.0)),
    (nested, (0.0, 3.0), (2 / 3, -2 / 27)),  # (x + 1/y)^2
    (nested, (0.0, 0.0), (2.0, 4.0)),  # (2 y + x + 1)^2
    (returned, (2.0, 3.0), (1 / 3, -2 / 9)),
    (returned, (2.0, 0.0), (7.0, 1.0)),
    (finally_too, (3.0, 2.0), (3.0, -9 / 4)),
    (raised, (2.0, 1.0), (36.0, 0.0)),
    (raised, (2.0, 3.0), (36.0, 24.0)),
    (indices, (2.0, 3.0), (3.0, 2.0)),
    (indices, (2.0, 0.5), (12.0, 0.0)),
    (called, (20.0, 2.0), (240.0, 1200.0)),  # 3 x^2 y
    (called, (2.0, 0.0), (0.0, 12.0)),
    (called_twice, (20.0, 2.0), (80.0, 400.0)),
    (called_twice, (1.0, 0.0), (0.0, 1.0)),
    (two_in_a_callee, (2.0, 5.0), (-0.05, -0.08)),
    (two_in_a_callee, (2.0, 0.0), (3.0, 1.0)),
    (two_in_a_callee, (0.0, 2.0), (3.0, 1.0)),
    (other_model, (2.0, 0.0), (4.0, 0.0)),  # x / y is infinite: 4 x
    # x ((x y + 1/y) y + 1/y) y + ...: y^4 x^2 + (y^2 + y + 1) x
    (called, (1.0, 2.0), (2 * 16 + 7, 4 * 8 + 5)),
    # By one step: t -> 1.5 (t + x / (y - i)), and t + x^2 at i = 2.
    (in_a_loop, (3.0, 2.0), (1.5**3 / 2 + 1.5**2 + 9 - 1.5, -3 * (1.5**3 / 4 + 1.5**2 + 1.5))),
]


@pytest.mark.deep(but=["*reverse"])
@MODES
@pytest.mark.parametrize(("f", "args", "exact"), CASES)
def test_gradient_of_the_way_taken(f, args, exact, mode):
    value, found = nd.value_and_grad(f, (0, 1), mode=mode)(*args)
    assert value == pytest.approx(numba.njit(f)(*args), rel=1e-14)
    assert found == pytest.approx(exact, rel=1e-12, abs=1e-12)


def in_views(x, y):
    a = np.array([[x, y], [y, x * y]])
    try:
        r = a.T[0, 1] * a.ravel()[3] / y + nd.special.logsumexp(a[0])
    except Exception:
        r = 3.0 * x
    return r


@pytest.mark.deep(but=["*reverse"])
@MODES
def test_views_that_any_array_has_do_not_raise(mode):
    """There is no shape that does not fit. The value is x y + log(e^x + e^y)."""
    _, found = nd.value_and_grad(in_views, (0, 1), mode=mode)(0.4, 1.1)
    weight = 1.0 / (1.0 + np.exp(1.1 - 0.4))
    assert found == pytest.approx((1.1 + weight, 0.4 + 1.0 - weight), rel=1e-13)
    _, found = nd.value_and_grad(in_views, (0, 1), mode=mode)(0.4, 0.0)
    assert found == pytest.approx((3.0, 0.0))


def in_arrays(a, b):
    try:
        r = (a * b).sum() / b[0]
    except Exception:
        r = 3.0 * a.sum()
    return r


@MODES
def test_arrays_that_do_not_fit(mode):
    gradient = nd.grad(in_arrays, (0, 1), mode=mode)
    a, b = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 1.0])
    s = 13.0  # a . b
    np.testing.assert_allclose(gradient(a, b)[0], b / 2)
    np.testing.assert_allclose(gradient(a, b)[1], a / 2 - np.array([s / 4, 0.0, 0.0]))
    np.testing.assert_array_equal(gradient(a, np.ones(2))[0], 3.0)
    np.testing.assert_array_equal(gradient(a, np.ones(2))[1], 0.0)


def every_other(a):
    try:
        s = a[:, ::2].sum() * a[::-1][0, 0] / a[0, 1]
    except Exception:
        s = a[0, 0]
    return s


@MODES
def test_slices_with_a_step(mode):
    a = np.array([[2.0, 4.0, 1.0], [1.0, 3.0, 5.0]])
    kept = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]) / 4
    wanted = kept + np.array([[0.0, -9 / 16, 0.0], [9 / 4, 0.0, 0.0]])
    np.testing.assert_allclose(nd.grad(every_other, mode=mode)(a), wanted, rtol=1e-14)


def multiplied(a, b):
    try:
        x = (a @ b)[0] * np.dot(b, a[1])
    except Exception:
        x = a[0, 0] * b[0]
    return x


@MODES
def test_products_of_sizes_that_do_not_go_together(mode):
    gradient = nd.grad(multiplied, (0, 1), mode=mode)
    a, b = np.array([[2.0, 0.5], [1.0, 3.0]]), np.array([0.3, 0.7])
    by_a, by_b = gradient(a, b)
    np.testing.assert_allclose(by_a, np.outer((a @ b)[::-1], b), rtol=1e-14)
    np.testing.assert_allclose(by_b, (a @ b)[::-1] @ a, rtol=1e-14)
    by_a, by_b = gradient(a, np.ones(3))
    np.testing.assert_array_equal(by_a, [[1.0, 0.0], [0.0, 0.0]])
    np.testing.assert_array_equal(by_b, [2.0, 0.0, 0.0])


def solved(a, b):
    try:
        x = np.linalg.solve(a, b[1:])
    except Exception:
        x = b[1:] * b[0]
    return x.sum()


@MODES
def test_library_code_that_raises(mode):
    gradient, b = nd.grad(solved, (0, 1), mode=mode), np.array([3.0, 0.5, 2.0])
    a = np.array([[2.0, 0.5], [1.0, 3.0]])
    by_a, by_b = gradient(a, b)
    weights = np.linalg.inv(a).T @ np.ones(2)
    np.testing.assert_allclose(by_a, -np.outer(weights, np.linalg.solve(a, b[1:])), rtol=1e-13)
    np.testing.assert_allclose(by_b, [0.0, *weights], rtol=1e-13)
    by_a, by_b = gradient(np.ones((2, 2)), b)
    np.testing.assert_array_equal(by_a, 0.0)
    np.testing.assert_array_equal(by_b, [2.5, 3.0, 3.0])


def drawn(a):
    np.random.seed(3)
    total = 0.0
    for _ in range(3):
        try:
            r = np.random.normal(a[0], a[1])
        except Exception:
            r = 0.0
        total += r * r
    return total


def test_draws_are_not_made_twice():
    """A draw in `try` is refused, or the one that the primal makes."""
    a = np.array([0.3, 0.7])
    try:
        value, _ = nd.value_and_grad(drawn, mode="reverse")(a)
    except nd.UnsupportedError:
        return
    assert value == numba.njit(drawn)(a)


def test_finally_raises_as_the_primal():
    with pytest.raises(AssertionError, match="RERAISE"):  # all that Numba makes of it
        numba.njit(finally_too)(1.0, 0.0)
    with pytest.raises(AssertionError, match="RERAISE"):
        nd.grad(finally_too, (0, 1), mode="reverse")(1.0, 0.0)


@pytest.mark.deep
@pytest.mark.parametrize(("f", "args", "exact"), CASES)
def test_hessian(f, args, exact):
    """Differences of the gradient, by the arguments whose changes keep to the way taken."""
    gradient = nd.grad(f, (0, 1), mode="reverse")
    hessian = nd.hessian(f, (0, 1))(*args)
    for k in range(2):
        if args[k] in (0.0, 1e-200) or (f is in_a_loop and k == 1):
            continue
        up, down = list(args), list(args)
        up[k] += 1e-5
        down[k] -= 1e-5
        slope = (np.array(gradient(*up)) - gradient(*down)) / 2e-5
        np.testing.assert_allclose([row[k] for row in hessian], slope, rtol=1e-6, atol=1e-6)


def factor(a):
    try:
        low = np.linalg.cholesky(a)
    except Exception:
        return a[0, 0] * a[1, 1]
    return low[0, 0] + np.trace(low * low[1, 0])


@MODES
def test_factor_of_what_may_have_none(mode):
    """For a matrix [[p, q], [q, r]] the factor has sqrt(p), q / sqrt(p) and sqrt(r - q^2 / p)."""
    p, q, r = 2.0, 0.6, 1.3
    root, last = np.sqrt(p), np.sqrt(r - q * q / p)
    slopes = nd.grad(factor, mode=mode)(np.array([[p, q], [q, r]]))
    expected = (root + last) / root - (q / root) * (q / p) / last
    np.testing.assert_allclose(slopes[0, 1] + slopes[1, 0], expected, rtol=1e-13)
    slopes = nd.grad(factor, mode=mode)(np.array([[p, 3.0], [3.0, r]]))
    np.testing.assert_array_equal(slopes, [[r, 0.0], [0.0, p]])
