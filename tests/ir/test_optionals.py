"""Arrays and lists that may be None, in both modes: first and second order, and None where they are None."""

import numpy as np
import pytest
from numba import njit
from numba.typed import List

import numbad as nd
from tests.forward import compare
from tests.reverse import plain

X = np.array([1.0, 2.0, 1.5])
MANY = 3  # from here on, the programs have their array; below, None
PROGRAMS = []


def program(f):
    PROGRAMS.append(f)
    return f


@program
def elements(x, n):
    w = None
    if n >= MANY:
        w = x * x
    s = x[0]
    if w is not None:
        for i in range(len(w)):
            s += w[i] * w[-1 - i] * (i + 1.0)
    return s


@program
def chosen_by_an_expression(x, n):
    w = x * x if n >= MANY else None
    return w[0] * w[1] if w is not None else x[0] * x[1]


@program
def methods(x, n):
    w = x * x if n >= MANY else None
    if w is None:
        return x[0]
    rows = w.reshape(3, 1)
    return w.sum() * w.copy()[1] + w.prod() + rows[2, 0] + w.dot(x) + w.T[0] + w.max()


@program
def functions_of_numpy(x, n):
    w = None
    if n >= MANY:
        w = x * x
    if w is None:
        return x[0]
    return np.sum(w) * np.dot(w, x) + np.vdot(x, w) + np.outer(w, x)[0, 1] + np.abs(w)[2]


@program
def products_of_matrices(x, n):
    w = None
    if n >= MANY:
        w = np.outer(x, x)
    if w is None:
        return x[0]
    return (w @ x).max() + (x @ w)[1] + np.dot(w, x).min() + (w @ w).sum()


@njit
def _made_list(x, n):
    if n < MANY:
        return None
    return [x[0], 2 * x[0] * x[1], x[2]]


@program
def lists(x, n):
    found = _made_list(x, n)
    if found is None:
        return x[0] * x[1]
    other = found
    other[0] = found[1] * x[2]
    found.append(other[0] * x[1])
    s = len(found) * x[0] + sum(found)
    for v in other:
        s += v * v
    return s


@program
def one_of_two_lists(x, n):
    first, second = _made_list(x, MANY), _made_list(x * x, n)
    found = first if second is None else second
    return found[0] * found[-1] + max(found)


@program
def array_expressions(x, n):
    w = None
    if n >= MANY:
        w = x * x
    if w is None:
        return x[0]
    return (w * w).sum() + (-w + 2.0 * x / w)[0] + (w**2 - x)[2] + (w > 1.5).sum() * x[0]


@program
def equality(x, n):
    w = None
    if n >= MANY:
        w = x * x + 0.25
    if w is None:
        return x[0]
    return (w == x).sum() * x[0] + (x != w).sum() * x[1]


@program
def written_to(x, n):
    w = None
    if n >= MANY:
        w = x * x
    if w is not None:
        w[1:] = x[0]
        w[:2] += x[1:]
        w[0] *= 3.0
        return w[0] * w[1] * w[2]
    return x[0]


@program
def another_name(x, n):
    y = x.copy()
    w = None
    if n >= MANY:
        w = y
    if w is not None:
        w[0] = x[1] * x[2]
    return y[0] * y[1]


@program
def written_to_by_numpy(x, n):
    out = None
    if n >= MANY:
        out = np.empty(3)
    if out is None:
        return x[0]
    np.multiply(x, x, out)
    out[:] = out * x
    return out[0] * out[1] + out[2]


@program
def iterated_over(x, n):
    w = None
    if n >= MANY:
        w = x * x
    s = x[0]
    if w is not None:
        for v in w:
            s += v * v
        for i, v in enumerate(w):
            s += i * v
        for v, u in zip(w, x):  # noqa: B905 (Numba knows no strict=)
            s += v * u
    return s


@program
def indices_and_views(x, n):
    w = None
    if n >= MANY:
        w = x * x
    if w is None:
        return x[0]
    return w[np.array([0, 2, 0])].sum() + w[::-1][0] * w[1:][0] + w[None, :][0, 1] + w.flat[2]


@program
def of_the_iteration_before(x, n):
    previous = None
    s = x[0]
    for i in range(n):
        current = x * (i + 1.0)
        if previous is not None:
            s += (current * previous)[0] * previous[1]
        previous = current
    return s


@program
def computed_from_itself(x, n):
    w = None
    for _ in range(n):
        if w is None:
            w = x.copy()
        else:
            w = w * x
            w[0] = w[1] * 2.0
    return x[0] if w is None else w[0] * w[1] * w[2]


@program
def taken_away_again(x, n):
    w = x * x if n >= 0 else None
    s = x[0]
    for _ in range(n):
        if w is not None:
            s += w[0] * w[1]
            w = None
        else:
            w = x * s
    return s


@program
def the_best_so_far(x, n):
    best = None
    for i in range(n + 1):
        y = x * (1.0 - (i - 1.0) ** 2)
        if best is None or y.sum() > best.sum():
            best = y
    return best[0] * best[1]


@njit
def squared_or_none(x, n):
    if n >= MANY:
        return x * x
    return None


@njit
def weighted(w):
    s = 0.0
    for i in range(len(w)):
        s += w[i] * (i + 1.0)
    return s


@njit
def weighted_or(w, x):
    return x[0] if w is None else weighted(w) * w[0]


@program
def of_a_callee(x, n):
    w = squared_or_none(x, n)
    return x[0] if w is None else w[0] * weighted(w)


@njit
def none_or_squared(x, n):
    if n < MANY:
        return None
    return x * x


@program
def of_a_callee_that_returns_none_first(x, n):
    w = none_or_squared(x, n)
    return x[0] if w is None else w[0] * weighted(w)


@program
def given_to_a_callee(x, n):
    return weighted_or(squared_or_none(x, n), x)


@program
def a_default(x, n, w=None):
    if w is None:
        w = x * n
    return w[0] * w[1] + w.sum()


@program
def in_a_tuple(x, n):
    t = (x * x if n >= MANY else None), x
    return x[0] if t[0] is None else t[0][0] * t[1][1]


@pytest.mark.deep(
    but=[
        "elements",
        "chosen_by_an_expression",
        "in_a_tuple",
        "of_a_callee",
        "the_best_so_far",
        "a_default",
        "taken_away_again",
        "equality",
    ]
)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_program(f):
    for n in (MANY, MANY - 2):
        plain.check(f, X, n)
        compare.check(f, X, n)


@pytest.mark.deep
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_second_order(f):
    for n in (MANY, MANY - 2):
        compare.check(f, X, n, second=True)


@pytest.mark.deep
def test_powers_of_matrices_which_numba_takes_for_optional():
    def f(x, n):
        return weighted(np.linalg.matrix_power(np.outer(x, x), n)[1])

    x, n = X, 3  # (x x^T)^n x_1 = x |x|^(2 n - 2) x_1
    size = x @ x
    exact = 2 * (n - 1) * size ** (n - 2) * x * x[1] * (x @ [1.0, 2.0, 3.0])
    exact += size ** (n - 1) * x[1] * np.array([1.0, 2.0, 3.0])
    exact[1] += size ** (n - 1) * (x @ [1.0, 2.0, 3.0])
    for mode in "reverse", "forward":
        np.testing.assert_allclose(nd.grad(f, mode=mode)(x, n), exact, rtol=1e-13)


def product_of_what_is_not_there(x, n):
    w = None
    if n >= MANY:
        w = x * x
    return w[0] * x[1]


def sum_of_what_is_not_there(x, n):
    w = None
    if n >= MANY:
        w = x * x
    return w.sum() + np.dot(w, x)


@pytest.mark.parametrize("f", [product_of_what_is_not_there, sum_of_what_is_not_there])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_what_is_not_there_is_an_error_as_in_the_primal(f, mode):
    compiled = nd.grad(f, mode=mode)
    for _ in range(2):
        with pytest.raises(TypeError, match="got None"):
            compiled(X, MANY - 1)
        plain_numbers = nd.grad(f, mode="reverse")(X, MANY)
        np.testing.assert_allclose(compiled(X, MANY), plain_numbers, rtol=1e-14)


def test_a_default_that_is_none_does_not_change_in_several_passes():
    x = np.linspace(1.0, 2.0, 40)
    by_forward = nd.grad(a_default, mode="forward")(x, 3)
    np.testing.assert_allclose(by_forward, nd.grad(a_default, mode="reverse")(x, 3), rtol=1e-15)


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_lists_of_numba_may_be_none(mode):
    def product(x, n):
        found = None
        if n >= MANY:
            found = List([x, x * x])
        return x if found is None else found[0] * found[1]

    gradient = nd.grad(product, mode=mode)
    assert gradient(2.0, MANY) == pytest.approx(12.0)
    assert gradient(2.0, MANY - 1) == 1.0
