"""Self-recursion and mutual recursion in reverse mode."""

import numpy as np
import pytest
from numba import njit

from tests.forward.compare import Programs
from tests.reverse.plain import check

programs = Programs()
A = np.array([0.5, 1.5, 2.5, -0.75])
MATRIX = np.array([[2.0, 0.5, 1.0, 0.25], [1.5, 3.0, 0.5, 1.0], [0.25, 1.0, 2.5, 0.75]])
MATRIX = np.vstack([MATRIX, [[1.0, 0.5, 0.75, 4.0]]])
LEFT = np.array([1, 3, -1, -1, -1, 6, -1])
RIGHT = np.array([2, 4, 5, -1, -1, -1, -1])
WEIGHTS = np.linspace(0.25, 1.75, 7)


@njit
def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


@programs.on(0.5, 1.5, second=True)
def powers(x, y):
    return power(x, 5) * power(y, 3)


@njit
def quick_power(x, n):
    if n == 0:
        return 1.0
    if n % 2 == 1:
        return x * quick_power(x * x, n // 2)
    half = quick_power(x, n // 2)
    return half * half


@programs.on(1.25, 13)
def differentiated_itself(x, n):
    return quick_power(x, n)


@njit
def fibonacci(x, y, n):
    if n == 0:
        return x
    if n == 1:
        return y * y
    return fibonacci(x, y, n - 1) + 0.5 * fibonacci(x, y, n - 2) * x


@programs.on(0.5, 1.5, 6)
def two_calls_a_level(x, y, n):
    return fibonacci(x, y, n) * y


@njit
def determinant(m):
    n = m.shape[0]
    if n == 1:
        return m[0, 0]
    s, sign = 0.0, 1.0
    for k in range(n):
        minor = np.empty((n - 1, n - 1))
        for i in range(1, n):
            c = 0
            for j in range(n):
                if j != k:
                    minor[i - 1, c] = m[i, j]
                    c += 1
        s += sign * m[0, k] * determinant(minor)
        sign = -sign
    return s


@programs.on(MATRIX)
def determinant_by_minors(m):
    return determinant(m)


@njit
def tree_sum(left, right, weights, node, x):
    if node < 0:
        return 0.0
    below = tree_sum(left, right, weights, left[node], x * 0.5)
    below += tree_sum(left, right, weights, right[node], x * x)
    return weights[node] * x + weights[node] * below


@programs.on(LEFT, RIGHT, WEIGHTS, 0.75)
def sum_over_a_tree(left, right, weights, x):
    return tree_sum(left, right, weights, 0, x)


@njit
def fill(a, x, lo, hi):
    if hi - lo == 1:
        a[lo] = a[lo] * x
        return
    mid = (lo + hi) // 2
    fill(a, x * a[lo], lo, mid)
    fill(a, x + a[lo], mid, hi)


@programs.on(A, 0.5)
def recursive_writer(a, x):
    fill(a, x, 0, 4)
    return a[0] * a[1] + a[2] * a[3]


@njit
def even(x, n):
    if n == 0:
        return x
    return odd(x * x + 0.1, n - 1)


@njit
def odd(x, n):
    if n == 0:
        return -x
    return even(x * n, n - 1) + x


@programs.on(0.5)
def mutual(x):
    return even(x, 4) * odd(x, 3)


@njit
def simpson(lo, hi, p, depth):
    mid = 0.5 * (lo + hi)
    coarse = (hi - lo) * integrand(mid, p)
    quarter = 0.25 * (hi - lo)
    fine = 2.0 * quarter * (integrand(lo + quarter, p) + integrand(hi - quarter, p))
    if depth == 0 or abs(fine - coarse) < 1e-3:
        return fine + (fine - coarse) / 3.0
    return simpson(lo, mid, p, depth - 1) + simpson(mid, hi, p, depth - 1)


@njit
def integrand(t, p):
    return 1.0 / (1.0 + p * t * t)


@programs.on(0.1, 2.0, 1.5)
def adaptive_quadrature(lo, hi, p):
    return simpson(lo, hi, p, 6)


@njit
def pair_after(x, y, n):
    if n == 0:
        return x, y
    a, b = pair_after(y, x * y, n - 1)
    return a * 0.5, b + a


@programs.on(0.5, 1.5, 4)
def recursion_returns_a_tuple(x, y, n):
    a, b = pair_after(x, y, n)
    return a * b


@njit
def loop_inside(x, n):
    if n == 0:
        return x
    s = 0.0
    for i in range(n):
        s += loop_inside(x * (i + 1), n - 1) * x
    return s


@programs.on(0.5, 3)
def recursion_in_a_loop_in_a_recursion(x, n):
    s = 0.0
    for i in range(2):
        s += loop_inside(x + i, n)
    return s


@njit
def made_inside(x, n):
    a = np.full(2, x)
    a[1] = x * n
    if n > 0:
        a[0] *= made_inside(a[1], n - 1)
    return a[0] + a[1]


@programs.on(0.5, 4)
def arrays_of_every_level(x, n):
    return made_inside(x, n)


@pytest.mark.deep(but=["powers", "mutual", "recursive_writer", "two_calls_a_level"])
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)


def test_a_deep_recursion_is_exact():
    """x**1000 has the derivative 1000 x**999."""
    import numbad as nd

    gradient = nd.grad(power, 0, mode="reverse")
    assert gradient(1.001, 1000) == pytest.approx(1000 * 1.001**999, rel=1e-12)


def test_recursion_that_raises_leaves_nothing_behind():
    import numbad as nd

    @njit
    def descend(x, n):
        if n == 0:
            raise ValueError("too deep")
        if n == 10:
            return x
        return x * descend(x * x, n - 1)

    gradient = nd.grad(descend, 0, mode="reverse")
    for _ in range(50):
        with pytest.raises(ValueError, match="too deep"):
            gradient(1.5, 9)
    assert gradient(1.5, 11) == pytest.approx(3 * 1.5**2, rel=1e-15)
