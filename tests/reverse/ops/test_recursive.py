"""Self-recursion and mutual recursion in reverse mode."""

from collections import namedtuple

import numpy as np
import pytest
from numba import njit

import numbad as nd
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


@njit
def transform(x):
    n = len(x)
    out = np.zeros(n, np.complex128)
    if n == 1:
        out[0] = x[0]
        return out
    even_part, odd_part = transform(x[::2]), transform(x[1::2])
    for k in range(n // 2):
        odd_part[k] *= np.exp(-2j * np.pi * k / n)
        out[k], out[k + n // 2] = even_part[k] + odd_part[k], even_part[k] - odd_part[k]
    return out


@programs.on(A)
def fourier_transform(a):
    z = transform(a + 0.3j * a * a)
    return z[1].real * z[2].imag + abs(z[3]) + z[0].real


@njit
def merge_sorted(a):
    n = len(a)
    if n < 2:
        return a.copy()
    low, high = merge_sorted(a[: n // 2]), merge_sorted(a[n // 2 :])
    out = np.empty(n)
    i, j = 0, 0
    for k in range(n):
        if j == len(high) or (i < len(low) and low[i] <= high[j]):
            out[k] = low[i]
            i += 1
        else:
            out[k] = high[j]
            j += 1
    return out


@programs.on(A, second=True)
def merge_sort(a):
    b = merge_sorted(a * a)
    b[1] = b[0] * b[2]
    return b[1] * b[3] + merge_sorted(b)[2] * a[0]


Ends = namedtuple("Ends", "first last rest")


@njit
def narrowed(a, n):
    if n == 0:
        return Ends(a[0] * a[1], a[-1], a * a)
    ends = narrowed(0.5 * a, n - 1)
    ends.rest[0] = ends.first
    return Ends(ends.first * ends.last, a[1], ends.rest * a)


@programs.on(A, 2)
def recursion_returns_namedtuples(a, n):
    ends = narrowed(a, n)
    return ends.first * ends.rest[0] + ends.rest[2] * ends.last


@njit
def halves(a, n):
    if n == 0:
        return a * a, a[0], a + 1.0
    b, x, c = halves(0.5 * a, n - 1)
    b[1] = c[0] * x
    d, y, _ = halves(b * c, n - 1)
    return b * c, d[1] * y, b


@programs.on(A, 2)
def recursion_returns_arrays_and_numbers(a, n):
    b, x, c = halves(a, n)
    for k in range(3):
        c[k] = b[k + 1] * x
        b = halves(c, k)[2]
    return b[1] * c[2] + x


@pytest.mark.deep(but=["powers", "mutual", "recursive_writer", "two_calls_a_level", "merge_sort"])
@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)


def test_a_deep_recursion_is_exact():
    """x**1000 has the derivative 1000 x**999."""
    gradient = nd.grad(power, 0, mode="reverse")
    assert gradient(1.001, 1000) == pytest.approx(1000 * 1.001**999, rel=1e-12)


def test_fourier_transform_has_its_own_adjoint():
    """Its matrix is symmetric: the cotangent is the transform of the seed."""
    x, seed = np.linspace(-1.0, 2.0, 16), np.linspace(0.5, 1.5, 16) * np.exp(0.4j * np.arange(16))
    value, (found,) = nd.vjp(transform)((x + 0j,), seed)
    assert value == pytest.approx(np.fft.fft(x), rel=1e-13)
    assert found == pytest.approx(np.fft.fft(seed), rel=1e-13)


@pytest.mark.dear
def test_recursion_of_arrays_in_the_debug_mode():
    def f(a):
        return merge_sorted(a * a)[1] * a[0]

    with nd.debug():
        found = nd.grad(f, mode="reverse")(A)
        with pytest.raises(nd.NonFiniteError, match="infinite|nan|inf"):
            nd.grad(lambda a: merge_sorted(1.0 / a)[1], mode="reverse")(0.0 * A)
    assert found == pytest.approx(nd.grad(f, mode="forward")(A), rel=1e-14)


@njit
def its_own_argument(a, n):
    if n == 0:
        return a
    return its_own_argument(2.0 * a, n - 1)


def test_a_recursion_that_returns_its_argument_is_refused():
    def f(a):
        return its_own_argument(a, 2)[1]

    with pytest.raises(nd.UnsupportedError, match=r"returns one of its arguments(?s:.)*copy"):
        nd.grad(f, mode="reverse")(A)
    assert nd.grad(f, mode="forward")(A) == pytest.approx([0.0, 4.0, 0.0, 0.0])


def test_a_recursion_that_returns_a_list_is_refused():
    @njit
    def powers_of(x, n):
        if n == 0:
            return [x]
        found = powers_of(x * x, n - 1)
        found.append(x)
        return found

    with pytest.raises(nd.UnsupportedError, match="a recursive call that returns a list"):
        nd.grad(lambda x: powers_of(x, 2)[1], mode="reverse")(1.5)


def test_recursion_that_raises_leaves_nothing_behind():
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


class TestStatementsThatKeepWhatTheirRulesSay:
    """What a rule keeps is in the frames of the recursion, whose types are known before they are inferred."""

    B, C, N = np.array([1.0, -2.0, 0.5]), np.array([0.3, 1.0, 2.0]), 3

    def gradient(self, A):
        """Of c^T A^-n b: the sum of -(A^-T)^(j + 1) c (A^-(n - j) b)^T."""
        inverse = np.linalg.inv(A)
        left = [np.linalg.matrix_power(inverse.T, j + 1) @ self.C for j in range(self.N)]
        right = [np.linalg.matrix_power(inverse, self.N - j) @ self.B for j in range(self.N)]
        return -sum(map(np.outer, left, right))

    def product(self):
        B, C, N = self.B, self.C, self.N

        @njit
        def divided(A, b, n):
            if n == 0:
                return b * 1.0
            return divided(A, np.linalg.solve(A, b), n - 1)

        return lambda A: (C * divided(A, B, N)).sum()

    def test_linear_equations(self):
        A = MATRIX[:3, :3].copy()
        found = nd.grad(self.product(), mode="reverse")(A)
        np.testing.assert_allclose(found, self.gradient(A), rtol=1e-12)

    @pytest.mark.dear
    def test_second_derivatives_of_linear_equations(self):
        A, step = MATRIX[:3, :3].copy(), np.zeros((3, 3), complex)
        step[1, 2] = 1e-30j
        gradient = nd.grad(self.product(), mode="reverse")
        found = nd.jvp(gradient)((A,), (step.imag / 1e-30,))[1]
        by_one = self.gradient(A + step).imag / 1e-30
        np.testing.assert_allclose(found, by_one, rtol=1e-11)

    @pytest.mark.dear
    def test_solutions_of_differential_equations(self):
        solve = nd.ode.solver(lambda t, y, a: (-a * y[0],), rtol=1e-10, atol=1e-12)

        @njit
        def total(a, n):
            if n == 0:
                return a * 1.0
            end = solve((1.0,), (0.0, 1.0), (a,))[-1, 0]
            return end + total(0.7 * end, n - 1)

        def exact(a, n):
            return a if n == 0 else np.exp(-a) + exact(0.7 * np.exp(-a), n - 1)

        gradient = nd.grad(total, mode="reverse")
        assert gradient(0.8, 3) == pytest.approx(exact(0.8 + 1e-30j, 3).imag / 1e-30, rel=1e-8)
        first = (exact(0.8 + x + 1e-30j, 3).imag / 1e-30 for x in (1e-5, -1e-5))
        by_differences = (next(first) - next(first)) / 2e-5
        assert nd.derivative(gradient)(0.8, 3) == pytest.approx(by_differences, rel=1e-7)
