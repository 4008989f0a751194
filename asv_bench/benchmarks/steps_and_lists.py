"""Time steps on a grid that read elements twice, and programs on lists: gradients over their functions.

The steps swap their two arrays, or assign one to the other; beside them an adjoint by hand that keeps
every state. On 256 x 256 cells a state fits in the cache, the history of 200 does not.
"""

import functools

import numpy as np
from numba import njit

from . import measure

STEPS, CELLS, LENGTH = 200, 256, 10_000


@njit
def step(u, new):
    """An explicit step of a reaction and diffusion equation."""
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            spread = u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4.0 * u[i, j]
            new[i, j] = u[i, j] + 0.1 * spread - 0.01 * u[i, j] * u[i, j]


def swapped(u0, steps):
    """The sum of squares at the end."""
    u, new = u0.copy(), u0.copy()
    for _ in range(steps):
        step(u, new)
        u, new = new, u
    return np.sum(u * u)


def assigned(u0, steps):
    """The same."""
    u, new = u0.copy(), u0.copy()
    for _ in range(steps):
        step(u, new)
        u[:] = new
    return np.sum(u * u)


@njit(fastmath={"contract"})
def by_hand(u0, steps):
    """Its gradient by the initial state."""
    rows, columns = u0.shape
    history = np.empty((steps, rows, columns))
    u, new = u0.copy(), u0.copy()
    for t in range(steps):
        history[t] = u
        step(u, new)
        u, new = new, u
    bar, before = 2.0 * u, np.zeros_like(u)
    for t in range(steps - 1, -1, -1):
        u = history[t]
        before[0], before[-1], before[:, 0], before[:, -1] = bar[0], bar[-1], bar[:, 0], bar[:, -1]
        before[1:-1, 1:-1] = 0.0
        for i in range(rows - 2, 0, -1):
            for j in range(columns - 2, 0, -1):
                g = bar[i, j]
                before[i, j] += g * (0.6 - 0.02 * u[i, j])
                before[i + 1, j] += 0.1 * g
                before[i - 1, j] += 0.1 * g
                before[i, j + 1] += 0.1 * g
                before[i, j - 1] += 0.1 * g
        bar, before = before, bar
    return bar


def squares_in_a_list(x, n):
    """A list that is filled, and summed."""
    values = [0.0] * n
    for i in range(n):
        values[i] = 0.01 * x * i
    total = 0.0
    for i in range(n):
        total += values[i] * values[i]
    return total


def eliminated(x, n):
    """The pivots of a matrix of three diagonals, in lists."""
    below, above, pivots = [1.0] * n, [1.0] * n, [0.0] * n
    for i in range(n):
        pivots[i] = 4.0 + x * i / n
    for i in range(1, n):
        pivots[i] = pivots[i] - below[i] / pivots[i - 1] * above[i - 1]
    total = 0.0
    for i in range(n):
        total += pivots[i]
    return total


def warped(x, n):
    """Dynamic time warping of two waves, in lists of lists."""
    costs = [[1e10] * (n + 1) for _ in range(n + 1)]
    costs[0][0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            apart = np.sin(0.1 * i) - np.sin(0.1 * x * j)
            costs[i][j] = apart * apart + min(costs[i - 1][j], costs[i][j - 1], costs[i - 1][j - 1])
    return costs[n][n]


def step_timings(samples):
    """Name -> `Timing` over the function, and over what is by hand."""
    import numbad as nd

    u0 = np.random.default_rng(0).random((CELLS, CELLS))
    forms = {"arrays swapped": swapped, "an array assigned": assigned}
    gradients = {
        name: functools.partial(nd.grad(f, mode="reverse"), u0, STEPS) for name, f in forms.items()
    }
    for gradient in gradients.values():
        np.testing.assert_allclose(gradient(), by_hand(u0, STEPS), rtol=1e-10)
    function = functools.partial(njit(swapped), u0, STEPS)
    hand = functools.partial(by_hand, u0, STEPS)
    over_function = measure.beside(function, {**gradients, "by hand": hand}, samples=samples)
    over_hand = measure.beside(hand, gradients, samples=samples)
    return over_function | {f"{name}, over by hand": t for name, t in over_hand.items()}


def list_timings(samples):
    """Name -> `Timing` of the gradient over the function."""
    import numbad as nd

    found = {}
    for f, n in ((squares_in_a_list, LENGTH), (eliminated, LENGTH), (warped, 200)):
        function = functools.partial(njit(f), 0.9, n)
        calls = {"own": functools.partial(nd.grad(f, mode="reverse"), 0.9, n)}
        timing = measure.beside(function, calls, samples=samples)["own"]
        found[f.__name__.replace("_", " ")] = timing
    return found


class StepsAndLists:
    """Ratios of gradients to functions."""

    timeout = 300

    def setup(self):
        measure.pin()

    def track_steps(self):
        return step_timings(9)["an array assigned"].ratio

    def track_list(self):
        return list_timings(9)["squares in a list"].ratio

    track_steps.unit = track_list.unit = "ratio"


def main():
    options = measure.options(__doc__)
    timed = step_timings(options.samples) | list_timings(options.samples)
    rows = [measure.ratio_row(name, timing) for name, timing in timed.items()]
    return 0 if measure.print_table("Steps and lists: gradient over function", rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
