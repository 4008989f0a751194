"""Seconds of the first solve of a new right-hand side, and what its gradient takes to compile beside it.

`python -m asv_bench.benchmarks.solver_compile` counts processor time in a process of its own for each row,
which has solved another problem by the same method before; nothing is kept on disk.
"""

import json
import time
from functools import partial
from pathlib import Path

import numba
import numpy as np

from . import imports, measure

SCRIPT = """
from asv_bench.benchmarks import solver_compile
solver_compile.report({row!r}, {samples})
"""
EXPLICIT, STIFF, GRADIENT, WRITTEN_OUT = 1.0, 2.0, 3.0, 3.0  # bars: seconds, seconds, ratios
EQUATIONS = 500


def volterra(k):
    """A right-hand side for each number, on tuples: closures over another constant are compiled anew."""

    def fun(t, y, a, b):
        return a * y[0] - k * y[0] * y[1], y[0] * y[1] - b * y[1]

    return fun


def volterra_in_arrays(k):
    def fun(t, y, dy, a, b):
        dy[0] = a * y[0] - k * y[0] * y[1]
        dy[1] = y[0] * y[1] - b * y[1]

    return fun


def written_out(k):
    """Neighbours that exchange what they have, an equation a line: as generators of code write networks."""
    last = EQUATIONS - 1
    lines = [
        f"    dy[{i}] = rate * y[{max(i - 1, 0)}] * y[{i}] - {k + i} * y[{i}] + y[{min(i + 1, last)}]"
        for i in range(EQUATIONS)
    ]
    names = {}
    exec("def fun(t, y, dy, rate):\n" + "\n".join(lines), names)
    return names["fun"]


def seconds(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def solving(method, form, k):
    """The first solve of a new problem."""
    import numbad as nd

    inplace = form == "arrays"
    fun = (volterra_in_arrays if inplace else volterra)(float(k))
    y0 = np.array([1.0, 0.5]) if inplace else (1.0, 0.5)
    solve = nd.ode.solver(numba.njit(fun), method=method, inplace=inplace)
    return partial(solve, y0, (0.0, 1.0), (1.0, 0.5))


def first_solve(method, form, k):
    return seconds(solving(method, form, k)), 1.0


def gradient(method, form, k):
    """Compiling a gradient of a loss through a solve, and a loss of its own right before."""
    import numbad as nd

    def loss_of(k):
        solve, y0, ts, _ = (call := solving(method, form, k)).func, *call.args

        def loss(rates):
            return solve(y0, ts, (rates[0], rates[1]))[-1, 0]

        return loss

    rates = np.array([1.0, 0.5])
    base = seconds(partial(numba.njit(loss_of(k)), rates))
    return seconds(partial(nd.grad(loss_of(k + 0.5), mode="reverse"), rates)), base


def five_hundred(method, form, k):
    """Its sparse Jacobian by colours and a first stiff solve, beside the function's own compilation."""
    import numbad as nd

    y0 = np.linspace(1.0, 2.0, EQUATIONS)
    types = tuple(map(numba.typeof, (0.0, y0, y0, 0.1)))
    base = seconds(partial(numba.njit(written_out(k)).compile, types))
    fun = numba.njit(written_out(k + 0.5))

    def solve():
        pattern = nd.sparsity(fun, 1, out=2)(0.0, y0, np.empty_like(y0), 0.1)
        nd.ode.solver(fun, method=method, inplace=True, jac_sparsity=pattern)(
            y0, (0.0, 1e-3), (0.1,)
        )

    return seconds(solve), base


def market(k):
    """A drift and a diffusion for each number, of a state in a tuple."""

    def drift(t, y, rate, vol):
        return rate * y[0], k * (0.04 - y[1])

    def diffusion(t, y, rate, vol):
        return vol * y[0], k * y[1]

    return numba.njit(drift), numba.njit(diffusion)


def first_path(method, form, k):
    """The first path of a new model; `form` is how: "even", "adaptive", an "ensemble" or its "slopes"."""
    import numbad as nd

    steps = {"rtol": 1e-3} if form == "adaptive" else {"dt": 0.01}
    solve = nd.sde.solver(*market(float(k)), method=method, **steps)
    given = (1.0, 0.04), (0.0, 1.0), (0.05, 0.2), nd.random.key(1)
    if form == "ensemble":
        return seconds(partial(nd.sde.ensemble, solve, *given, 256, reduce="mean")), 1.0
    if form == "slopes":

        def end(rate):
            return solve(given[0], given[1], (rate, 0.2), given[3])[-1, 0]

        return seconds(partial(nd.grad(end, mode="reverse"), 0.05)), 1.0
    return seconds(partial(solve, *given)), 1.0


ROWS = {
    f"{name}, {form}": (first_solve, method, form, bar, "s")
    for name, method, bar in (
        ("Tsit5", "Tsit5", EXPLICIT),
        ("Rodas5P", "Rodas5P", STIFF),
        ("BDF", "BDF", STIFF),
    )
    for form in ("tuples", "arrays")
} | {
    "gradient / loss, Tsit5": (gradient, "Tsit5", "tuples", GRADIENT, "ratio"),
    "gradient / loss, Rodas5P": (gradient, "Rodas5P", "tuples", GRADIENT, "ratio"),
    "500 equations, Rodas5P / function": (five_hundred, "Rodas5P", "arrays", WRITTEN_OUT, "ratio"),
    "SDE, Milstein": (first_path, "Milstein", "even", EXPLICIT, "s"),
    "SDE, SOSRI, adaptive": (first_path, "SOSRI", "adaptive", EXPLICIT, "s"),
    "SDE, Milstein, ensemble": (first_path, "Milstein", "ensemble", EXPLICIT, "s"),
    "SDE, Milstein, gradient": (first_path, "Milstein", "slopes", EXPLICIT, "s"),
}


def report(row, samples):
    """Print the timing as JSON, for the process that started this one; the first round is not counted."""
    measure.pin()
    measured, method, form, *_ = ROWS[row]
    result = measure.Timing()
    for k in range(samples + 1):
        own, base = measured(method, form, k + 1)
        if k:
            result.own.append(own)
            result.base.append(base)
    print(json.dumps(vars(result)))


def in_new_process(row, samples=3):
    script = SCRIPT.format(row=row, samples=samples)
    environment = imports.environment(Path.home()) | {"NUMBAD_CACHE_DIR": "off"}
    return measure.Timing(**json.loads(imports.run("-c", script, env=environment).splitlines()[-1]))


class CompileSolver:
    """Seconds of the first solve; of the gradient and of 500 equations, the ratio."""

    params = tuple(ROWS)
    param_names = ("row",)
    timeout = 900

    def track_first(self, row):
        return in_new_process(row, 1).ratio

    track_first.unit = "s or ratio"


def main():
    samples = min(measure.options(__doc__).samples, 3)
    rows = []
    for name, (*_, bar, unit) in ROWS.items():
        found = in_new_process(name, samples)
        note = "" if unit == "s" else f"{np.median(found.base):.3g} s -> {found.median:.3g} s"
        rows.append(measure.Row(name, found.ratio, unit, bar, best=found.best_ratio, note=note))
    return 0 if measure.print_table("First solves, and compiling through them", rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
