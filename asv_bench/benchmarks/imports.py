"""Start-up: import time over Numba's, first calls, and `numbad fit` cold and warm.

Everything runs in fresh interpreters. "Cold" has empty caches of compiled code, "warm" those that
the cold run has left.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from . import measure

IMPORT_BAR = 1.25
FIT_COLD_BAR = 60.0
FIT_WARM_BAR = 4.0
OWN_CACHES = ("NUMBAD_", "NUMBA_CACHE")
ROOT = Path(__file__).resolve().parents[2]

IMPORT = """
import time
start = time.perf_counter()
import {package}
print(time.perf_counter() - start)
"""

FIRST_CALLS = """
import json, time
from asv_bench.benchmarks import forward, lorenz, lynx_hare, predator_prey, problems

seconds = {}

def first(name, call):
    start = time.perf_counter()
    call()
    seconds[name] = time.perf_counter() - start

for problem in ("P1", "P5"):
    arguments, gradient = problems.load()[problem], problems.gradient(problem)
    first(f"gradient of {problem} in reverse mode", lambda: gradient(*arguments))
primal, gradient = forward.float_calls(6)
first("primal, Lotka-Volterra RK4", primal)
first("gradient by 6", gradient)
primal, jacobian = forward.array_calls(32)
first("jacobian by 32", jacobian)
solve = lorenz.numbad()
first("solver, Lorenz", lambda: solve(lorenz.TS, lorenz.TOLERANCE))
first("gradient of an ODE misfit", predator_prey.numbad_gradient(1e-6))
first("lynx-hare fit", lynx_hare.numbad())
print(json.dumps(seconds))
"""


def environment(home):
    """The environment of a machine on which nothing has been compiled: all caches below `home`."""
    places = {"HOME": home, "XDG_CACHE_HOME": home, "MPLCONFIGDIR": home, "LOCALAPPDATA": home}
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {"PYTHONPATH": os.pathsep.join(paths)}
    kept = {name: os.environ[name] for name in os.environ if not name.startswith(OWN_CACHES)}
    return kept | {name: str(place) for name, place in places.items()} | own


def run(*arguments, env=None):
    """Standard output of a fresh interpreter."""
    command = [sys.executable, *arguments]
    result = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{command} failed:\n{result.stdout}\n{result.stderr}")
    return result.stdout


def import_seconds(package):
    return float(run("-c", IMPORT.format(package=package), env=environment(Path.home())))


def import_timing(samples=9):
    """Import times of numbad, and of Numba right before each; the first of both is not counted."""
    import_seconds("numba"), import_seconds("numbad")
    timing = measure.Timing()
    for _ in range(samples):
        timing.base.append(import_seconds("numba"))
        timing.own.append(import_seconds("numbad"))
    return timing


def first_call_seconds(home):
    """Seconds of first calls by name, with the caches below `home`."""
    return json.loads(run("-c", FIRST_CALLS, env=environment(home)).splitlines()[-1])


def fit_seconds(home):
    """Seconds of `numbad fit` as a whole process, import included."""
    with tempfile.TemporaryDirectory() as out:
        start = time.perf_counter()
        run("-m", "numbad", "fit", "--out", out, env=environment(home))
        return time.perf_counter() - start


def cold_and_warm(measured, warm_samples=3):
    """`measured(home)` on a fresh home, then on what that left (a list)."""
    with tempfile.TemporaryDirectory() as home:
        cold = measured(Path(home))
        return cold, [measured(Path(home)) for _ in range(warm_samples)]


class Import:
    """`import numbad` over `import numba`."""

    timeout = 120

    def track_ratio(self):
        return import_timing().ratio

    track_ratio.unit = "ratio"


class CommandLineFit:
    """`numbad fit` on a fresh machine and again."""

    timeout = 300

    def track_cold(self):
        return cold_and_warm(fit_seconds, 0)[0]

    def track_warm(self):
        return float(np.median(cold_and_warm(fit_seconds)[1]))

    track_cold.unit = track_warm.unit = "s"


class FirstCalls:
    """First calls, all in one process: the sum of their seconds."""

    timeout = 300

    def track_cold(self):
        return sum(cold_and_warm(first_call_seconds, 0)[0].values())

    def track_warm(self):
        return sum(cold_and_warm(first_call_seconds, 1)[1][0].values())

    track_cold.unit = track_warm.unit = "s"


def import_rows():
    timing = import_timing()
    return [measure.ratio_row("import numbad / import numba", timing, IMPORT_BAR)]


def first_call_rows():
    cold, (warm,) = cold_and_warm(first_call_seconds, 1)
    return [
        measure.Row(f"{name}, {when}", seconds[name], "s")
        for name in cold
        for when, seconds in (("cold", cold), ("warm", warm))
    ]


def fit_rows():
    cold, warm = cold_and_warm(fit_seconds)
    warm_row = measure.Row(
        "numbad fit, again", float(np.median(warm)), "s", FIT_WARM_BAR, best=min(warm)
    )
    return [measure.Row("numbad fit, cold", cold, "s", FIT_COLD_BAR), warm_row]


def main():
    measure.options(__doc__)
    met = [
        measure.print_table("Import", import_rows()),
        measure.print_table("numbad fit, whole process", fit_rows()),
        measure.print_table("First calls", first_call_rows()),
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
