"""How time and memory of the gradients in reverse mode grow with the size of the problem.

The slopes of both in log-log: 1 is linear, 0 is flat. Time is measured in one process, gradient and
primal in turns; memory in a process for each size, beyond the arguments and the result. The slopes
are least-squares fits over the larger half of the sizes: what is small fits into caches, and its
branches are learnt by heart. Time may grow as the primal's does where that is more than linear. The
Jacobians of P3 are written into an array that is there already: touching 240 MB for the first time
takes longer than the arithmetic, by hand as well. A gradient that would record more than `TAPE_LIMIT`
is given up.
"""

import functools
import json
import math

import numpy as np

from . import imports, measure, peak_memory, problems

SIZES = {
    "P1": ("steps", (10**3, 10**4, 10**5, 10**6, 10**7)),
    "P1 snapshots": ("steps", (10**3, 10**4, 10**5, 10**6, 10**7)),
    "P2": ("points", (10**2, 10**3, 10**4, 10**5)),
    "P3": ("observations", (10**3, 10**4, 10**5, 10**6)),
    "P4": ("paths", (10**2, 10**3, 10**4, 10**5, 10**6)),
    "P5": ("cells", (16, 64, 256, 1024, 4096)),
    "P6": ("pairs", (10**3, 10**4, 10**5, 10**6, 10**7)),
}
BRUSSELATOR_STEPS = 200  # a tenth of those of P5, for the sake of 4096 cells
SNAPSHOTS = 150  # of P1's states, so that no step is run more than four times more
FLAT = (
    "P1 snapshots",
    "P2",
    "P3",
    "P4",
    "P6",
)  # iterations that only meet in sums, or are run again
TOLERANCE = 0.1
MEMORY_BARS = dict.fromkeys(SIZES, 1.0 + TOLERANCE) | dict.fromkeys(FLAT, TOLERANCE)
NOISE = 0.5  # MiB: what lies below counts as so much, since its growth says nothing
TAPE_LIMIT = 4 * 2**30  # bytes

SCRIPT = """
from asv_bench.benchmarks import growth
growth.report({problem!r}, {size})
"""


def source(problem):
    """The module of a problem."""
    return problems.module(problem.split()[0])


def gradient(problem):
    """The compiled gradient; with some states kept at a time where the name says so."""
    import numbad as nd

    if not problem.endswith("snapshots"):
        return problems.gradient(problem)
    kept = nd.checkpoint(source(problem).primal, snapshots=SNAPSHOTS)
    return nd.value_and_grad(kept, source(problem).ARGNUMS, mode="reverse")


def arguments(problem, size):
    """The arguments of the primal, drawn as those of the benchmarks are, for another size."""
    drawn = source(problem).draw(np.random.default_rng(problems.SEED), size)
    return (*drawn[:-1], BRUSSELATOR_STEPS) if problem == "P5" else drawn


def timed_gradient(problem):
    """The gradient as a function of the primal's arguments, with room for results that grow."""
    if problem != "P3":
        return gradient(problem)
    import numbad as nd

    own = nd.jacobian(source(problem).residual, source(problem).ARGNUMS, mode="reverse")
    into = source(problem).jacobians_into(own)
    room = functools.cache(lambda observations: np.zeros((observations, 2, 15)))
    return lambda *given: into(*given, room(len(given[2])))


def slope(problem, values):
    """The exponent of the growth of values by size; NaN for less than two."""
    sizes = SIZES[problem][1]
    middle = math.sqrt(sizes[0] * sizes[-1])
    large = {size: value for size, value in values.items() if size >= middle}
    if len(large) < 2:
        return math.nan
    return float(np.polyfit(np.log(list(large)), np.log(list(large.values())), 1)[0])


# -- time ------------------------------------------------------------------------------------


def timings(problem, sizes=None, samples=9):
    """The gradient's times beside the primal's, by size, as far as the tape's limit lets it go."""
    from numbad import TapeLimitError
    from numbad.reverse.memory import set_tape_limit

    set_tape_limit(TAPE_LIMIT)
    primal, own_gradient = source(problem).primal, timed_gradient(problem)
    found = {}
    for size in sizes or SIZES[problem][1]:
        given = arguments(problem, size)
        base, own = functools.partial(primal, *given), functools.partial(own_gradient, *given)
        try:
            found[size] = measure.beside(base, {"own": own}, samples=samples)["own"]
        except TapeLimitError:
            break
    return found


def time_slope(problem, timed):
    return slope(problem, {size: timing.best for size, timing in timed.items()})


def primal_slope(problem, timed):
    return slope(problem, {size: min(timing.base) for size, timing in timed.items()})


# -- memory ----------------------------------------------------------------------------------


def report(problem, size):
    """Print MiB at the peak of a gradient, and MiB of its result, for the process that asked."""
    from numbad import TapeLimitError
    from numbad.reverse.memory import set_tape_limit

    set_tape_limit(TAPE_LIMIT)
    try:
        found = peak_memory.of_call(source(problem), gradient(problem), arguments(problem, size))
    except TapeLimitError:
        found = None
    print(json.dumps(found))


def in_new_process(problem, size):
    """MiB that a gradient takes at its peak beyond arguments and result; None beyond the limit."""
    environment = imports.environment(imports.Path.home()) | peak_memory.ENVIRONMENT
    script = SCRIPT.format(problem=problem, size=size)
    found = json.loads(imports.run("-c", script, env=environment).splitlines()[-1])
    return None if found is None else max(found[0] - found[1], 0.0)


def memory(problem, sizes=None):
    """MiB by size, as far as the tape's limit lets the gradient go."""
    found = {}
    for size in sizes or SIZES[problem][1]:
        taken = in_new_process(problem, size)
        if taken is None:
            break
        found[size] = taken
    return found


def memory_slope(problem, taken):
    return slope(problem, {size: max(mebibytes, NOISE) for size, mebibytes in taken.items()})


# -- asv -------------------------------------------------------------------------------------


class Growth:
    """Slopes in log-log over the sizes of each problem."""

    params = tuple(SIZES)
    param_names = ("problem",)
    timeout = 900

    def track_time_slope(self, problem):
        measure.pin()
        return time_slope(problem, timings(problem))

    def track_memory_slope(self, problem):
        return memory_slope(problem, memory(problem))

    track_time_slope.unit = track_memory_slope.unit = "slope"


# -- tables ----------------------------------------------------------------------------------


def given_up(problem, found):
    """What a row says where the last sizes are missing."""
    left = [size for size in SIZES[problem][1] if size not in found]
    return f"; more than {TAPE_LIMIT / 2**30:g} GiB of tape for {left[0]:,}" if left else ""


def label(problem, size):
    return f"{problem} {size:,} {SIZES[problem][0]}"


def time_rows(problem, timed):
    rows = []
    for size, timing in timed.items():
        note = f"{timing.median * 1e9 / size:.4g} ns each; gradient / primal {timing.ratio:.3g}"
        best = timing.best * 1e3
        rows.append(
            measure.Row(label(problem, size), timing.median * 1e3, "ms", best=best, note=note)
        )
    primal = primal_slope(problem, timed)
    bar = max(1.0, primal) + TOLERANCE
    note = f"primal's slope {primal:.3g}{given_up(problem, timed)}"
    return [
        *rows,
        measure.Row(f"{problem} slope", time_slope(problem, timed), "slope", bar, note=note),
    ]


def memory_rows(problem, taken):
    rows = [
        measure.Row(label(problem, size), mebibytes, "MiB") for size, mebibytes in taken.items()
    ]
    found = memory_slope(problem, taken)
    note = given_up(problem, taken).removeprefix("; ")
    return [*rows, measure.Row(f"{problem} slope", found, "slope", MEMORY_BARS[problem], note=note)]


def main():
    options = measure.options(__doc__)
    samples = min(options.samples, 9)
    time = [row for p in SIZES for row in time_rows(p, timings(p, samples=samples))]
    met = [measure.print_table("Time of the gradient", time)]
    taken = [row for p in SIZES for row in memory_rows(p, memory(p))]
    met.append(measure.print_table("Peak memory of the gradient, beyond its result", taken))
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
