"""Stiff solvers: POLLU and the Brusselator (O3), Robertson (O4), beside Rodas5P written by hand.

Gradients in reverse mode of the square of the end by the start and all parameters, 45 and 150 numbers, over
the solution itself and over a discrete adjoint by hand.
"""

import time

import numpy as np
from numba import njit
from scipy.integrate import solve_ivp

import numbad as nd

from . import imports, measure, peak_memory
from .problems import stiff as problems
from .reference import rodas5p

GAUSS_BAR = 12.0
IMPLICIT_BARS = {"RadauIIA5": 5.0, "KenCarp4": 2.5}
HAND_BAR, GRADIENT_BAR, GRADIENT_HAND_BAR = 1.5, 2.5, 2.0
WITH_GRADIENTS = ("pollu", "brusselator")
GRADIENTS_ON_A_LINE = ("Rodas5P", "RadauIIA5", "BDF")
CELLS = (16, 64, 256, 1024, 4096)
PROBLEMS = ("robertson", "pollu", "brusselator")


def in_place(rhs):
    def fun(t, y, dy, p):
        rhs(y, p, dy)

    return fun


def _robertson_in_tuples(t, y, slow, fast, middle):
    a, b, c = y
    first, second, third = slow * a, fast * b * b, middle * b * c
    return third - first, first - third - second, second


def problem(name):
    """Right-hand side and Jacobian by hand, start, parameters, end and tolerances of a problem."""
    if name == "robertson":
        pair, start, p, end = (
            (problems.robertson, problems.robertson_jacobian),
            np.array([1.0, 0.0, 0.0]),
            np.array([0.04, 3e7, 1e4]),
            1e5,
        )
    elif name == "pollu":
        pair, start, p, end = problems.pollu(), problems.POLLU_START, problems.RATES, 60.0
    else:
        pair = problems.brusselator, problems.brusselator_jacobian
        start, p, end = problems.brusselator_start(), problems.BRUSSELATOR, 1.0
    return pair, start, p, end, (1e-6, 1e-8) if name == "robertson" else (1e-8, 1e-10)


def contenders(name):
    """`(by hand, by numbad)` for a problem, each a call that gives the state at the end."""
    pair, start, p, end, (rtol, atol) = problem(name)
    by_hand = rodas5p.build(*pair, len(start))
    options = dict(method="Rodas5P", rtol=rtol, atol=atol)
    times = (0.0, end)
    if name == "robertson":
        solve = nd.ode.solver(_robertson_in_tuples, **options)
        given = tuple(start.tolist()), times, tuple(p.tolist())
    else:
        solve = nd.ode.solver(in_place(pair[0]), inplace=True, **options)
        given = start, times, (p,)
    return lambda: by_hand(start, p, 0.0, end, rtol, atol)[0], lambda: solve(*given)[-1]


def solution_and_gradient(name, adjoint="auto", method="Rodas5P"):
    """`(solution, gradient)` of a problem, calls both; the gradient is a pair, by start and parameters."""
    (rhs, _), start, p, end, (rtol, atol) = problem(name)
    solve = nd.ode.solver(
        in_place(rhs), method=method, inplace=True, rtol=rtol, atol=atol, adjoint=adjoint
    )

    def loss(y0, p):
        y = solve(y0, (0.0, end), (p,))[-1]
        return (y * y).sum()

    gradient = nd.grad(loss, argnums=(0, 1), mode="reverse")
    return lambda: solve(start, (0.0, end), (p,)), lambda: gradient(start, p)


def gradient_by_hand(name):
    """The same gradient by hand."""
    pair, start, p, end, (rtol, atol) = problem(name)
    pulls = problems.brusselator_pull, problems.brusselator_pull_moved
    if name == "pollu":
        pulls = problems.pollu_pulls()
    n = len(start)
    solve, record = rodas5p.build(*pair, n, keeps=True), rodas5p.new_record(n)
    adjoint = rodas5p.build_adjoint(pair[1], *pulls, n)

    def gradient():
        y, steps, _ = solve(start, p, 0.0, end, rtol, atol, record)
        by_p = np.zeros(len(p))
        return adjoint(p, 2.0 * y, steps, record, by_p), by_p

    return gradient


def ten_million_steps():
    """Time of a gradient through so many steps of "Tsit5" over the solution, and the MiB that it takes."""
    given = "from asv_bench.benchmarks import stiff; print(*stiff.of_ten_million_steps())"
    last = imports.run("-c", given, env=imports.environment(imports.Path.home())).splitlines()[-1]
    return tuple(map(float, last.split()))


def of_ten_million_steps(end=410_000.0):
    """The same, in a process of its own."""
    solve = nd.ode.solver(_spring, rtol=1e-9, atol=1e-12, max_steps=10**8, checkpoints=64)

    def loss(rate, end):
        return solve((1.0, 0.5), (0.0, end), rate)[-1, 0]

    gradient = nd.grad(loss, argnums=0, mode="reverse")
    gradient(1.1, 1.0), loss(1.1, 1.0)
    start = time.perf_counter()
    loss(1.1, end)
    alone = time.perf_counter() - start
    taken = peak_memory.of_call(_Shorter, gradient, (1.1, end))[0]
    start = time.perf_counter()
    gradient(1.1, end)
    return (time.perf_counter() - start) / alone, taken


class _Shorter:
    @staticmethod
    def shorten(arguments):
        return arguments[0], 1.0


def _spring(t, y, rate):
    return y[1], -rate * rate * y[0]


class Gradient:
    """The adjoint of Rodas5P, over the solution."""

    params = WITH_GRADIENTS
    param_names = ("problem",)
    timeout = 300

    def setup(self, name):
        measure.pin()
        self.solution, self.gradient = solution_and_gradient(name)
        self.hand = gradient_by_hand(name)
        self.solution(), self.gradient(), self.hand()

    def time_gradient(self, name):
        self.gradient()

    def track_ratio_to_solution(self, name):
        return measure.beside(self.solution, {"own": self.gradient})["own"].ratio

    track_ratio_to_solution.unit = "ratio"

    def track_ratio_to_hand(self, name):
        return measure.beside(self.hand, {"own": self.gradient})["own"].ratio

    track_ratio_to_hand.unit = "ratio"


class Solve:
    """Rodas5P on each problem, over the same by hand."""

    params = PROBLEMS
    param_names = ("problem",)
    timeout = 300

    def setup(self, name):
        measure.pin()
        self.hand, self.own = contenders(name)
        self.own()

    def time_solve(self, name):
        self.own()

    def track_ratio_to_hand(self, name):
        return measure.beside(self.hand, {"own": self.own})["own"].ratio

    track_ratio_to_hand.unit = "ratio"


def rows(options):
    """Every problem: the ratio to the solver by hand, and how far their ends lie apart."""
    found = []
    for name in PROBLEMS:
        hand, own = contenders(name)
        timing = measure.beside(hand, {"own": own}, samples=options.samples)["own"]
        found.append(measure.ratio_row(f"{name} / hand", timing, HAND_BAR))
        apart = np.max(np.abs(hand() - own()) / (1e-6 + np.abs(hand())))
        found.append(measure.Row(f"{name}: the ends apart", apart, "rel", bar=1e-3))
    for name in WITH_GRADIENTS:
        solution, gradient = solution_and_gradient(name)
        timing = measure.beside(solution, {"own": gradient}, samples=options.samples)["own"]
        found.append(measure.ratio_row(f"{name}: gradient / solution", timing, GRADIENT_BAR))
        hand = gradient_by_hand(name)
        timing = measure.beside(hand, {"own": gradient}, samples=options.samples)["own"]
        found.append(measure.ratio_row(f"{name}: gradient / hand", timing, GRADIENT_HAND_BAR))
        pairs = zip(gradient(), hand(), strict=True)
        apart = max(np.max(np.abs(a - b)) / np.max(np.abs(b)) for a, b in pairs)
        found.append(measure.Row(f"{name}: the gradients apart", apart, "rel", bar=1e-6))
    for method, bar in IMPLICIT_BARS.items():
        solution, gradient = solution_and_gradient("pollu", method=method)
        timing = measure.beside(solution, {"own": gradient}, samples=options.samples)["own"]
        found.append(measure.ratio_row(f"pollu, {method}: gradient / solution", timing, bar))
    solution, gradient = solution_and_gradient("pollu", "gauss")
    timing = measure.beside(solution, {"own": gradient}, samples=options.samples)["own"]
    found.append(measure.ratio_row("pollu: gradient by 'gauss' / solution", timing, GAUSS_BAR))
    ratio, taken = ten_million_steps()
    found.append(
        measure.Row("10^7 steps, 64 checkpoints: gradient / solution", ratio, "ratio", bar=5.0)
    )
    found.append(measure.Row("10^7 steps, 64 checkpoints: memory", taken, "MiB", bar=100.0))
    error = np.max(np.abs(own_pollu() - problems.POLLU_END))
    found.append(measure.Row("pollu: error at the end", error, "abs", bar=1e-8))
    found.append(plane_row(options.samples))
    return [*found, growth_row(5), *(gradient_growth_row(m, 3) for m in GRADIENTS_ON_A_LINE)]


def _line(t, y, dy, p):
    """The Brusselator in one dimension, species interleaved (Hairer & Wanner, II, IV.10)."""
    n = len(y) // 2
    spread = p[2] * (n + 1) ** 2
    for i in range(n):
        u, v = y[2 * i], y[2 * i + 1]
        left_u, left_v = (1.0, 3.0) if i == 0 else (y[2 * i - 2], y[2 * i - 1])
        right_u, right_v = (1.0, 3.0) if i == n - 1 else (y[2 * i + 2], y[2 * i + 3])
        dy[2 * i] = p[0] + u * u * v - (p[1] + 1.0) * u + spread * (left_u - 2.0 * u + right_u)
        dy[2 * i + 1] = p[1] * u - u * u * v + spread * (left_v - 2.0 * v + right_v)


def line(cells, method="Rodas5P", differentiated=False):
    """A call that solves it for so many cells, with a sparse Jacobian, or that gives a gradient."""
    y, p = np.full(2 * cells, 3.0), np.array([1.0, 3.0, 0.02])
    y[::2] = 1.0 + np.sin(2.0 * np.pi * np.linspace(0.0, 1.0, cells + 2)[1:-1])
    pattern = nd.sparsity(_line, 1, out=2)(0.0, y, np.empty_like(y), p)
    solve = nd.ode.solver(_line, method=method, inplace=True, jac_sparsity=pattern)
    if not differentiated:
        return lambda: solve(y, (0.0, 10.0), (p,))[-1]

    def loss(y0, p):
        end = solve(y0, (0.0, 10.0), (p,))[-1]
        return (end * end).sum()

    gradient = nd.grad(loss, argnums=(0, 1), mode="reverse")
    return lambda: gradient(y, p)


def _plane(t, y, dy, p):
    """The Brusselator on a periodic square of n by n points, species interleaved."""
    n = int(np.sqrt(len(y) // 2))
    spread = p[2] * n * n
    for i in range(n):
        for j in range(n):
            k, west, east = 2 * (i * n + j), 2 * (i * n + (j - 1) % n), 2 * (i * n + (j + 1) % n)
            north, south = 2 * ((i - 1) % n * n + j), 2 * ((i + 1) % n * n + j)
            u, v = y[k], y[k + 1]
            around_u = y[west] + y[east] + y[north] + y[south] - 4.0 * u
            around_v = y[west + 1] + y[east + 1] + y[north + 1] + y[south + 1] - 4.0 * v
            dy[k] = p[1] + u * u * v - (p[0] + 1.0) * u + spread * around_u
            dy[k + 1] = p[0] * u - u * u * v + spread * around_v


def plane(points):
    """Solutions by BDF on so many points in each direction, the same pattern given: SciPy's and ours."""
    along, across = np.meshgrid(np.arange(points) / points, np.arange(points) / points)
    y = np.stack([22.0 * across * (1.0 - across) ** 1.5, 27.0 * along * (1.0 - along) ** 1.5], -1)
    y, p, options = y.ravel(), np.array([3.4, 1.0, 0.1]), dict(rtol=1e-6, atol=1e-8)
    pattern = nd.sparsity(_plane, 1, out=2)(0.0, y, np.empty_like(y), p)
    solve = nd.ode.solver(_plane, method="BDF", inplace=True, jac_sparsity=pattern, **options)
    slope = njit(_plane)

    def fun(t, y):
        dy = np.empty_like(y)
        slope(t, y, dy, p)
        return dy

    def by_scipy():
        given = dict(method="BDF", jac_sparsity=pattern, **options)
        return solve_ivp(fun, (0.0, 2.0), y, **given).y[:, -1]

    return by_scipy, lambda: solve(y, (0.0, 2.0), (p,))[-1]


def plane_row(samples):
    by_scipy, own = plane(48)
    np.testing.assert_allclose(own(), by_scipy(), rtol=1e-4)
    timing = measure.beside(by_scipy, {"own": own}, samples=samples)["own"]
    name = "brusselator, 48 x 48 cells, BDF with a sparse Jacobian: / SciPy's"
    return measure.ratio_row(name, timing, 0.7)


class Cells:
    """Time with a sparse Jacobian, by the number of cells."""

    params = CELLS
    param_names = ("cells",)
    timeout = 300

    def setup(self, cells):
        measure.pin()
        self.solve = line(cells)
        self.solve()

    def time_solve(self, cells):
        self.solve()


def growth(make, sizes, samples):
    """The slope of the time in log-log over the number of cells: 1 is linear."""
    seconds = []
    for cells in sizes:
        call = make(cells)
        call()
        seconds.append(min(measure.sample(call, 1) for _ in range(samples)))
    return np.polyfit(np.log(sizes), np.log(seconds), 1)[0]


def growth_row(samples):
    slope = growth(line, CELLS[1:], samples)
    return measure.Row("brusselator, 64 to 4096 cells: growth of time", slope, "exponent", bar=1.1)


def gradient_growth_row(method, samples):
    slope = growth(lambda cells: line(cells, method, True), (64, 512, 4096), samples)
    name = f"{method}, 64 to 4096 cells: growth of the gradient's time"
    return measure.Row(name, slope, "exponent", bar=1.1)


def own_pollu():
    return contenders("pollu")[1]()


def main():
    options = measure.options(__doc__)
    return 0 if measure.print_table("Rodas5P, over the same by hand", rows(options)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
