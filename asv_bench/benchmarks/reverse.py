"""Reverse mode: the gradients of seven problems over those by hand, and a call's cost from Python.

Of each problem: time over the adjoint by hand and over the primal, peak memory, compile time.
"""

import functools

import numpy as np

from . import compile_time, forward, measure, peak_memory, problems
from .problems import heston_in_blocks

HAND_BARS = {"P1": 1.1, "P2": 1.2, "P3": 1.2, "P4": 1.15, "P5": 1.5, "P6": 1.15, "P7": 1.3}
VECTOR_BARS = {"P2": 0.65, "P4": 0.33, "P6": 0.93}  # within `nd.vector_math()`
NAIVE_BAR = 1.6
MEMORY_BARS = {"P5": 8.0}  # MiB beyond the result
MEMORY_BAR = 1.0  # of the others
COMPILE_BAR = 3.0
OVERHEAD_BAR = 1.0  # microseconds
OVERHEAD_CASES = ("float", "six floats", "array of six", "three arrays")


def calls(problem):
    """Primal, gradient and derivative by hand as calls without arguments, by name."""
    arguments = problems.load()[problem]
    contenders = problems.contenders(problem)
    return {name: functools.partial(call, *arguments) for name, call in contenders.items()}


def timings(problem, samples=41):
    """Gradient and primal, each sample beside one of the derivative by hand."""
    contenders = calls(problem)
    hand = contenders.pop("hand")
    return measure.beside(hand, contenders, samples=samples)


def over_primal(timed):
    """Gradient over primal, both measured beside the derivative by hand."""
    return timed["gradient"].ratio / timed["primal"].ratio


def overhead_calls(case):
    """A cheap primal and its gradient, as calls without arguments."""
    import numbad as nd

    primal, _ = forward.overhead_calls(case)
    argnums = forward.OVERHEAD_ARGNUMS.get(case, 0)
    return primal, functools.partial(nd.grad(primal.func, argnums, mode="reverse"), *primal.args)


class Gradient:
    """Times of the gradient of each problem."""

    params = tuple(problems.NAMES)
    param_names = ("problem",)
    timeout = 300

    def setup(self, problem):
        measure.pin()
        self.gradient = calls(problem)["gradient"]
        self.gradient()

    def time_gradient(self, problem):
        self.gradient()

    def track_ratio_to_hand(self, problem):
        return timings(problem)["gradient"].ratio

    def track_ratio_to_primal(self, problem):
        return over_primal(timings(problem))

    track_ratio_to_hand.unit = track_ratio_to_primal.unit = "ratio"


class Costs:
    """What else a gradient of each problem costs."""

    params = tuple(problems.NAMES)
    param_names = ("problem",)
    timeout = 300

    def track_peak_memory(self, problem):
        return peak_memory.in_new_process(problem, "gradient")[0]

    def track_compile_seconds(self, problem):
        return compile_time.in_new_process(problem).median

    def track_compile_ratio(self, problem):
        return compile_time.in_new_process(problem).ratio

    track_peak_memory.unit = "MiB"
    track_compile_seconds.unit = "s"
    track_compile_ratio.unit = "ratio"


class Overhead:
    """Microseconds that a gradient's call from Python takes over the primal's."""

    params = OVERHEAD_CASES
    param_names = ("arguments",)

    def setup(self, case):
        measure.pin()
        self.primal, self.operator = overhead_calls(case)

    def track_excess(self, case):
        return measure.beside(self.primal, {"own": self.operator})["own"].excess * 1e6

    track_excess.unit = "us"


def time_rows(options):
    rows = []
    for problem, name in problems.NAMES.items():
        timed = timings(problem, options.samples)
        own, primal = timed["gradient"], timed["primal"]
        label = f"{problem} {name.replace('_', ' ')}"
        note = f"by hand {np.median(own.base) * 1e3:.4g} ms"
        rows.append(measure.ratio_row(f"{label} / hand", own, HAND_BARS.get(problem), note))
        best = own.best / primal.best
        note = f"primal {primal.median * 1e3:.4g} ms; hand / primal {1.0 / primal.ratio:.3g}"
        rows.append(measure.Row(f"{label} / primal", over_primal(timed), best=best, note=note))
    rows += [arrays_row(options), *vector_rows(options), *lanes_rows(options)]
    return [*rows, naive_row(options)]


def arrays_row(options):
    """P3 with arrays for an observation's camera, point and feature, and for what comes out."""
    import numbad as nd

    source, arguments = problems.module("P3"), problems.load()["P3"]
    jacobian = nd.jacobian(source.residual_of_arrays, source.ARGNUMS, mode="reverse")
    calls = {
        "own": functools.partial(source.jacobians_of_arrays(jacobian), *arguments),
        "hand": functools.partial(source.jacobian, *arguments),
    }
    timing = measure.beside(calls.pop("hand"), calls, samples=options.samples)["own"]
    return measure.ratio_row("P3 with arrays / hand", timing)


def vector_rows(options):
    """P2, P4 and P6 as they stand, within `nd.vector_math()`, where their loops over points go in lanes."""
    import numbad as nd

    rows = []
    for problem, bar in VECTOR_BARS.items():
        source, arguments = problems.module(problem), problems.load()[problem]
        with nd.vector_math():
            gradient = nd.value_and_grad(source.primal, source.ARGNUMS, mode="reverse")
        calls = {"own": functools.partial(gradient, *arguments)}
        hand = functools.partial(source.adjoint, *arguments)
        timing = measure.beside(hand, calls, samples=options.samples)["own"]
        rows.append(measure.ratio_row(f"{problem} with vector_math / hand", timing, bar))
    return rows


def lanes_rows(options):
    """P2, P4 and P6 in the lanes of vectors, by `nd.batch`; P4 by hand in blocks of paths as well."""
    import numbad as nd

    mixture, points = problems.module("P2"), problems.load()["P2"]
    likelihood = mixture.batched()
    gradient = nd.value_and_grad(likelihood, mixture.ARGNUMS, mode="reverse")
    calls = {"nd.batch / hand": gradient, "nd.batch, function / hand": likelihood}
    rows = _beside_hand(
        "P2", mixture, points, {name: (f, points) for name, f in calls.items()}, options
    )
    source, arguments = problems.module("P4"), problems.load()["P4"]
    *others, z1, z2 = arguments
    turned = *others, np.ascontiguousarray(z1.T), np.ascontiguousarray(z2.T)
    price = source.batched()
    calls = {
        "nd.batch / hand": (nd.value_and_grad(price, source.ARGNUMS, mode="reverse"), arguments),
        "nd.batch of the gradient / hand": (source.gradients(), arguments),
        "nd.batch, function / hand": (price, arguments),
        "blocks by hand / hand": (heston_in_blocks.adjoint, turned),
    }
    rows += _beside_hand("P4", source, arguments, calls, options)
    for problem in ("P2", "P6"):
        source, arguments = problems.module(problem), problems.load()[problem]
        with nd.vector_math():
            function = source.batched()
            gradient = nd.value_and_grad(function, source.ARGNUMS, mode="reverse")
        calls = {
            "nd.batch with vector_math / hand": (gradient, arguments),
            "the same, function / hand": (function, arguments),
        }
        if problem == "P6":
            calls["nd.batch of the gradient, the same / hand"] = source.gradients(), arguments
        rows += _beside_hand(problem, source, arguments, calls, options)
    return rows


def _beside_hand(problem, source, arguments, calls, options):
    calls = {name: functools.partial(f, *given) for name, (f, given) in calls.items()}
    hand = functools.partial(source.adjoint, *arguments)
    timed = measure.beside(hand, calls, samples=options.samples)
    return [measure.ratio_row(f"{problem} {name}", timing) for name, timing in timed.items()]


def naive_row(options):
    """P5 as most users would write it, over what its adjoint by hand would cost: as much over the
    function as that of the function as it stands."""
    import numbad as nd

    source, arguments = problems.module("P5"), problems.load()["P5"]
    gradient = nd.value_and_grad(source.naive_primal, source.ARGNUMS, mode="reverse")
    functions = {"own": gradient, "naive": source.naive_primal, "primal": source.primal}
    calls = {name: functools.partial(f, *arguments) for name, f in functions.items()}
    hand = functools.partial(source.adjoint, *arguments)
    timed = measure.beside(hand, calls, samples=options.samples)
    scale = timed["naive"].ratio / timed["primal"].ratio
    best = timed["own"].best / min(timed["own"].base) * timed["primal"].best / timed["naive"].best
    note = f"naive primal / primal {scale:.3g}"
    ratio = timed["own"].ratio / scale
    return measure.Row("P5 naive / hand, estimated", ratio, bar=NAIVE_BAR, best=best, note=note)


def memory_rows():
    rows = []
    for problem in problems.NAMES:
        taken, result = peak_memory.in_new_process(problem, "gradient")
        by_hand, _ = peak_memory.in_new_process(problem, "hand")
        note = f"result {result:.3g}, by hand {by_hand:.3g} MiB"
        bar = MEMORY_BARS.get(problem, MEMORY_BAR) + result
        rows.append(measure.Row(problem, taken, "MiB", bar, note=note))
    return rows


def compile_rows():
    rows = []
    for problem in problems.NAMES:
        timing = compile_time.in_new_process(problem)
        note = f"{np.median(timing.base):.3g} s -> {timing.median:.3g} s"
        row = measure.Row(problem, timing.ratio, bar=COMPILE_BAR, best=timing.best_ratio, note=note)
        rows.append(row)
    return rows


def overhead_rows(options):
    rows = []
    for case in OVERHEAD_CASES:
        primal, operator = overhead_calls(case)
        timing = measure.beside(primal, {"own": operator}, samples=options.samples)["own"]
        excess, best = timing.excess * 1e6, (timing.best - min(timing.base)) * 1e6
        note = f"primal {np.median(timing.base) * 1e6:.3g} us"
        rows.append(measure.Row(case, excess, "us", OVERHEAD_BAR, best=best, note=note))
    return rows


def main():
    options = measure.options(__doc__)
    met = [
        measure.print_table("Gradient in reverse mode", time_rows(options)),
        measure.print_table("Peak memory of the first call, its result included", memory_rows()),
        measure.print_table("Compile time, over the primal's", compile_rows()),
        measure.print_table(
            "A call of grad from Python, over the primal's", overhead_rows(options)
        ),
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
