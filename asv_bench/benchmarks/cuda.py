"""Ensembles on a GPU: milliseconds and ratios where there is one; registers and instructions in any case.

    python -m asv_bench.benchmarks.cuda          # some five minutes on a GPU, one without
    python -m asv_bench.benchmarks.cuda --quick  # a hundredth of the trajectories: whether all of it runs

The Lorenz ensemble of U. Utkarsh et al., CMAME 419 (2024), doi:10.1016/j.cma.2023.116591: t from 0 to 1, rho
from 0 to 21, the end alone; 1000 steps of RK4 ("fixed"), or Tsit5 at 1e-8 ("adaptive"). Robertson's problem
by Rosenbrock23. Geometric Brownian motion by Euler's method in 100 steps; Heston's model, with derivatives by
its seven numbers. Beside them stand a kernel written by hand and, where JAX has a GPU, two peers under
`jax.vmap`: a loop in JAX (RK4; DP5) and diffrax (Tsit5 for both, as in the paper). First of all results are
compared with those of the solvers on the CPU. A row that fails says why, the others go on. Without a GPU
nothing is timed but the compiler: the table then tells what the assembler says of the kernels.
"""

import argparse
import math
import re
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np

from .cuda_peers import by_diffrax, by_hand, by_jax, has_diffrax, has_jax_on_gpu
from .cuda_registers import (
    ROBERTSON,
    TARGET,
    assembled,
    kernels_of,
    lorenz,
    robertson,
    seconds_to_compile,
    stand_in,
)

TRAJECTORIES = 8_388_608
PATHS = 2**25
REPEATS, MOST = 5, 40
ENDS = (0.0, 1.0)
# Milliseconds for the trajectories above on an H100 or H200, and ratios: of issue 19.
BARS = {
    ("fixed", "float32"): 45.0,
    ("adaptive", "float32"): 20.0,
    ("fixed", "float64"): 90.0,
    ("adaptive", "float64"): 40.0,
    "fixed, 3 partials over the value": 5.5,
    "adaptive, 3 partials over the value": 4.5,
    "discrete adjoint, 6 derivatives over the value": 4.5,
    "over the kernel written by hand": 1.15,
    "vmap over ours": 40.0,
    "Heston, 7 derivatives over the price": 2.0,
}
NORMALS_A_SECOND = 1e11
SECONDS_TO_COMPILE = 8.0


def heston_drift(t, y, rate, kappa, theta, xi, rho):
    return rate * y[0], kappa * (theta - y[1])


def heston_diffusion(t, y, rate, kappa, theta, xi, rho):
    root = math.sqrt(max(y[1], 1e-8))
    return (root * y[0], 0.0), (rho * xi * root, math.sqrt(1.0 - rho**2) * xi * root)


def solvers():
    """What is integrated, by name."""
    import numbad as nd

    return {
        "fixed": nd.ode.solver(lorenz, method="RK4", first_step=0.001),
        "adaptive": nd.ode.solver(lorenz, rtol=1e-8, atol=1e-8),
        "stiff": nd.ode.solver(robertson, method="Rosenbrock23", rtol=1e-5, atol=1e-9),
        "GBM": nd.sde.solver(lambda t, y, r, v: r * y, lambda t, y, r, v: v * y, dt=0.01),
        "Heston": nd.sde.solver(heston_drift, heston_diffusion, noise="general", dt=0.01),
    }


def given(name, count, array=np.asarray):
    """Initial states, arguments and keys of an ensemble; `array` brings one to where it is wanted."""
    import numbad as nd

    if name == "GBM":
        return array(np.ones(count)), (0.05, 0.2), nd.random.key(1)
    if name == "Heston":
        args = 0.03, 2.0, 0.09, 0.3, -0.7
        return array(np.tile([100.0, 0.09], (count, 1))), args, nd.random.key(1)
    if name == "stiff":
        rate = array(np.linspace(0.03, 0.05, count))
        return array(np.array([[1.0, 0.0, 0.0]])), (rate, *ROBERTSON[1:]), None
    rho = array(np.linspace(0.0, 21.0, count))
    return array(np.array([[1.0, 0.0, 0.0]])), (10.0, rho, 8.0 / 3.0), None


# -- without a GPU ----------------------------------------------------------------------------------


def listing():
    """Print registers, spills and instructions of the kernels; 1 where one spills or is slow to compile."""
    print(f"kernels for compute capability {TARGET[0]}.{TARGET[1]}, no GPU needed")
    heads = (
        ("registers", 10),
        ("spilled", 9),
        ("fma", 6),
        ("mul", 6),
        ("add", 6),
        ("compiled in s", 15),
    )
    print(" " * 34 + "".join(f"{head:>{width}}" for head, width in heads))
    missed = 0
    for name, solve in solvers().items():
        for by in (None, "args"):
            for precision in ("float32", "float64"):
                kernel = kernels_of(solve, *given(name, 4), precision, by)[0]
                missed += told(f"{name}, {precision}{', derivatives' if by else ''}", kernel)
        if name in LOSSES:
            for precision in ("float32", "float64"):
                passes = kernels_of(
                    solve, *given(name, 4), precision, ("y0", "args"), loss=LOSSES[name]
                )
                for way, kernel in zip(("there", None, "back"), passes, strict=True):
                    missed += bool(way) and told(f"{name}, {precision}, adjoint {way}", kernel)
    return int(missed > 0)


def told(what, kernel):
    """Print the row of a kernel; whether it spills or is slow to compile."""
    ptx, seconds = seconds_to_compile(kernel)
    registers, spilled = assembled(ptx)
    counts = [
        len(re.findall(rf"\b{kind}[\w.]*\.f(?:32|64)\b", ptx))
        for kind in ("fma", "mul", "(?:add|sub)")
    ]
    numbers = "".join(f"{count:>6}" for count in counts)
    print(f"{what:34}{registers!s:>10}{spilled!s:>9}{numbers}{seconds:>15.1f}", flush=True)
    return bool(spilled) or seconds > SECONDS_TO_COMPILE


# -- on a GPU ---------------------------------------------------------------------------------------


def milliseconds(call):
    """The least time of a call whose result waits for the GPU: of five calls, or of forty that are short."""
    call()
    times = []
    while (
        (len(times) < REPEATS or sum(times) < 500.0) and len(times) < MOST and sum(times) < 2000.0
    ):
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return min(times)


def end_squared(ys):
    return ys[-1, 0] ** 2 + ys[-1, 1] ** 2 + ys[-1, 2] ** 2


def call_at_100(ys):
    return max(ys[-1, 0] - 100.0, 0.0)


LOSSES = {
    "fixed": end_squared,
    "adaptive": end_squared,
    "stiff": end_squared,
    "Heston": call_at_100,
}


def ensemble_call(name, precision, by=None, count=TRAJECTORIES, loss=None):
    """A call of an ensemble whose arrays stay on the GPU."""
    from numba import cuda

    import numbad as nd

    y0s, args, keys = given(name, count, lambda a: cuda.to_device(a.astype(precision)))
    solve = solvers()[name]
    return lambda: nd.cuda.ensemble(
        solve, y0s, ENDS, args, keys, derivatives=by, precision=precision, loss=loss
    )


class Table:
    """Rows that are printed as they come; `missed` counts those beyond their bar, or that failed."""

    def __init__(self):
        self.missed, self.times = 0, {}

    def row(self, what, measure, bar=None, at_least=False):
        """A number, beside the bar that it has to keep; where it cannot be had, why."""
        try:
            found = measure()
        except Exception as error:
            self.missed += 1
            why = " ".join(str(error).split())[:90]
            print(f"{what:52}    failed: {type(error).__name__}: {why}", flush=True)
            return None
        beyond = bar is not None and (found < bar if at_least else found > bar)
        self.missed += beyond
        told = "" if bar is None else f"   must be at {'least' if at_least else 'most'} {bar:g}"
        print(f"{what:52}{found:>12.4g}{told}{'   MISSED' if beyond else ''}", flush=True)
        return found

    def time(self, what, call, bar=None):
        """The milliseconds of what `call()` makes; kept for ratios."""
        self.times[what] = self.row(f"{what}, ms", lambda: milliseconds(call()), bar)

    def ratio(self, what, over, under, bar=None, at_least=False):
        """Of two times, where both could be had."""
        times = self.times.get(over), self.times.get(under)
        if None not in times:
            self.row(what, lambda: times[0] / times[1], bar, at_least)


def compare(table):
    """Print how far results are from those of the solvers on the CPU."""
    import numbad as nd

    def apart(name, precision):
        y0s, args, keys = given(name, 64)
        solve = solvers()[name]
        found = nd.cuda.ensemble(solve, y0s, ENDS, args, keys, precision=precision)
        rows = [np.broadcast_to(a, 64)[::9] for a in args]
        starts = np.broadcast_to(y0s, (64, *y0s.shape[1:]))[::9]
        numbers = range(0, 64, 9)
        exact = []
        for i, y, row in zip(numbers, starts, zip(*rows, strict=True), strict=True):
            path = [] if keys is None else [(keys, i)]
            start = tuple(map(float, y)) if np.ndim(y) else float(y)
            exact.append(solve(start, ENDS, tuple(map(float, row)), *path))
        return float(np.max(np.abs(found.ys[::9] - exact) / (1e-3 + np.abs(exact))))

    for name in solvers():
        for precision, bar in (("float64", 1e-6), ("float32", 1e-2)):
            what = f"{name}, {precision}: relative distance from the CPU"
            table.row(what, lambda n=name, p=precision: apart(n, p), bar)
            if name in ("fixed", "adaptive", "stiff"):
                what = f"{name}, {precision}: the adjoint's distance from it"
                table.row(what, lambda n=name, p=precision: adjoint_apart(n, p), bar)


def adjoint_apart(name, precision):
    """How far gradients by the discrete adjoint are from those in forward mode, in float64."""
    import numbad as nd

    y0s, args, _ = given(name, 64)
    call, by = (solvers()[name], y0s, ENDS, args), ("y0", "args")
    found = nd.cuda.ensemble(*call, derivatives=by, loss=end_squared, precision=precision)
    forward = nd.cuda.ensemble(*call, derivatives=by)
    exact = 2.0 * np.einsum("ic,icq->iq", forward.ys[:, 1], forward.derivatives[:, 1])
    return float(np.max(np.abs(found.gradients - exact) / np.abs(exact).max(axis=1)[:, None]))


def lorenz_rows(table, count):
    """The Lorenz ensemble, with derivatives and beside its peers."""
    rhos = np.linspace(0.0, 21.0, count)
    with_jax, word = has_jax_on_gpu()
    if not with_jax:
        print(f"no rows of JAX: {word}")
    for precision in ("float32", "float64"):
        for name in ("fixed", "adaptive"):
            what = f"{name}, {precision}"
            table.time(
                what,
                lambda n=name, p=precision: ensemble_call(n, p, None, count),
                BARS[name, precision],
            )
            slopes = f"{what}, 3 partials"
            table.time(slopes, lambda n=name, p=precision: ensemble_call(n, p, "args", count))
            ratio = f"{name}, 3 partials over the value"
            table.ratio(f"{ratio}, {precision}", slopes, what, BARS[ratio])
            adjoint, ratio = (
                f"discrete adjoint, {what}",
                "discrete adjoint, 6 derivatives over the value",
            )
            given = ("y0", "args"), count, end_squared
            table.time(
                f"{adjoint}, 6 derivatives",
                lambda n=name, p=precision, g=given: ensemble_call(n, p, *g),
            )
            table.ratio(
                f"{adjoint}, over the value", f"{adjoint}, 6 derivatives", what, BARS[ratio]
            )
            peers = {"JAX's loop": by_jax, "diffrax": by_diffrax} if with_jax else {}
            for by, make in peers.items():
                if by == "diffrax" and not has_diffrax():
                    continue
                peer = f"{by} under vmap, {what}"
                table.time(peer, lambda n=name, p=precision, m=make: m(n, p, rhos))
                table.ratio(f"{peer}, over ours", peer, what, BARS["vmap over ours"], True)
        hand, what = f"by hand, fixed, {precision}", "over the kernel written by hand"
        table.time(hand, lambda p=precision: by_hand(p, rhos))
        table.ratio(f"{what}, {precision}", f"fixed, {precision}", hand, BARS[what])


def other_rows(table, count, paths):
    """The stiff ensemble and the SDEs."""
    for precision in ("float32", "float64"):
        what = f"stiff, {precision}"
        table.time(what, lambda p=precision: ensemble_call("stiff", p, None, count // 8))
        table.time(
            f"{what}, 3 partials", lambda p=precision: ensemble_call("stiff", p, "args", count // 8)
        )
    table.time("GBM, float32", lambda: ensemble_call("GBM", "float32", None, paths))
    if table.times["GBM, float32"]:
        rate = 1e3 * paths * 100 / table.times["GBM, float32"]
        table.row("GBM, float32, normal numbers a second", lambda: rate, NORMALS_A_SECOND, True)
    by = "y0", "args"
    table.time("Heston, float32", lambda: ensemble_call("Heston", "float32", None, paths // 16))
    table.time(
        "Heston, float32, 7 derivatives",
        lambda: ensemble_call("Heston", "float32", by, paths // 16),
    )
    what = "Heston, 7 derivatives over the price"
    table.ratio(f"{what}, float32", "Heston, float32, 7 derivatives", "Heston, float32", BARS[what])
    table.time(
        "Heston, float32, adjoint by 7",
        lambda: ensemble_call("Heston", "float32", by, paths // 16, LOSSES["Heston"]),
    )
    what = "Heston, adjoint by 7 over the price, float32"
    table.ratio(what, "Heston, float32, adjoint by 7", "Heston, float32")


def timings(quick=False):
    """Print the table on the GPU that is there; 1 where a bar is missed on what the bars are for."""
    from numba import cuda

    device = cuda.get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
    count, paths = (TRAJECTORIES // 100, PATHS // 100) if quick else (TRAJECTORIES, PATHS)
    capability = ".".join(map(str, device.compute_capability))
    print(f"{name}, compute capability {capability}, {count:,} trajectories, {paths:,} paths")
    table = Table()
    compare(table)
    lorenz_rows(table, count)
    other_rows(table, count, paths)
    if quick or not any(known in name for known in ("H100", "H200")):
        print(
            "the bars are for all trajectories on an H100 or H200: this run is not judged by them"
        )
        return 0
    return int(table.missed > 0)


def main(arguments=None):
    """Run what can be run here."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a hundredth of the trajectories")
    parser.add_argument("--kernels", action="store_true", help="registers and instructions alone")
    options = parser.parse_args(arguments)
    try:
        import numbad.cuda  # noqa: F401
    except ImportError as error:
        print(f"no CUDA benchmarks: {error}")
        return 0
    from numba import cuda

    if options.kernels or not cuda.is_available():
        stand_in()
        return listing()
    missed = timings(options.quick)  # first what needs the GPU, which may be lent for minutes
    with suppress(KeyboardInterrupt):  # in a process that has compiled none of the kernels yet
        command = [sys.executable, "-m", "asv_bench.benchmarks.cuda", "--kernels"]
        return max(missed, subprocess.run(command, check=False).returncode)
    return missed


if __name__ == "__main__":
    raise SystemExit(main())
