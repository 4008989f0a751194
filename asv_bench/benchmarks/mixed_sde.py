"""Forward, discrete and mixed derivatives of one neural SDE: drift 2-32-32-2, 1,218 weights, 1000 steps.

`python -m asv_bench.benchmarks.mixed_sde` prints the table: the slopes of both components at 1 to 64 output
times by all weights, and the gradient of one number, each over the path alone; then the memory of a gradient.
"""

import functools

import numpy as np
from numba import njit

import numbad as nd

from . import imports, measure, neural_sde, peak_memory

WIDTH, STEPS, MANY_STEPS = 32, 1000, 100_000
OUTPUTS = 1, 4, 16, 64
WAYS = {
    "forward": ("auto", "forward"),
    "discrete": ("discrete", "reverse"),
    "mixed": ("mixed", "auto"),
}
SCRIPT = "from asv_bench.benchmarks import mixed_sde\nprint(*mixed_sde.memory({way!r}))"
BAR = 10.0


def weights():
    """Those of all layers, as they begin to be learnt."""
    rng = np.random.default_rng(2)
    shapes = (WIDTH, 2), (WIDTH, WIDTH), (2, WIDTH)
    pairs = [(rng.normal(size=s) / np.sqrt(s[1]), np.zeros(s[0])) for s in shapes]
    return tuple(x for pair in pairs for x in pair)


@functools.cache
def solver(adjoint):
    """The path, `STEPS` steps a unit of time."""
    functions = neural_sde._drift, neural_sde._diffusion
    return nd.sde.solver(
        *functions, method="Heun", noise="additive", dt=1.0 / STEPS, adjoint=adjoint
    )


def _given(outputs, steps=STEPS):
    ts = np.linspace(0.0, steps / STEPS, outputs + 1)
    return (0.5, -0.5), ts, weights(), neural_sde.KEY


@functools.cache
def slopes(way):
    """`slopes(y0, ts, args, key)` of every output."""
    adjoint, mode = WAYS[way]
    return nd.jacobian(solver(adjoint), 2, mode=mode)


@functools.cache
def gradient(way):
    """`gradient(y0, ts, args, key)` of one number of the path."""
    solve = solver(way)

    @njit
    def loss(y0, ts, args, key):
        ys = solve(y0, ts, args, key)
        return (ys[-1, 0] - 1.0) ** 2 + ys[-1, 1] ** 2

    return nd.grad(loss, 2, mode="reverse")


def timings(outputs, samples, ways=WAYS):
    """The timing of slopes each way, and of gradients (`outputs` None), beside the path's."""
    given = _given(outputs or 1)
    value = functools.partial(solver("auto"), *given)
    make = gradient if outputs is None else slopes
    calls = {way: functools.partial(make(way), *given) for way in ways}
    return measure.beside(value, calls, samples=samples)


class Slopes:
    """Time of the slopes of all outputs over that of the path, by mixed mode."""

    params = OUTPUTS
    param_names = ("outputs",)
    timeout = 600

    def setup(self, outputs):
        measure.pin()

    def track_ratio_to_path(self, outputs):
        return timings(outputs, 3, ["mixed"])["mixed"].ratio

    track_ratio_to_path.unit = "ratio"


class _Shorter:
    """What `peak_memory.of_call` compiles with."""

    @staticmethod
    def shorten(arguments):
        return _given(1)


def memory(way):
    """MiB that a gradient over `MANY_STEPS` steps takes, and those of the result."""
    return peak_memory.of_call(_Shorter, gradient(way), _given(1, MANY_STEPS))


def _memory_row(way):
    environment = imports.environment(imports.Path.home()) | peak_memory.ENVIRONMENT
    said = imports.run("-c", SCRIPT.format(way=way), env=environment)
    taken = float(said.splitlines()[-1].split()[0])
    return measure.Row(f"gradient, {MANY_STEPS:,} steps, {way}", taken, "MiB")


def rows(samples):
    """The rows of the table."""
    table = []
    for outputs in (*OUTPUTS, None):
        what = "gradient of one number" if outputs is None else f"slopes of {outputs} outputs"
        for way, timing in timings(outputs, samples).items():
            bar = BAR if way == "mixed" else None
            table.append(measure.ratio_row(f"{what}, {way}, over the path", timing, bar))
    return table + [_memory_row(way) for way in ("discrete", "mixed")]


def main():
    samples = measure.options(__doc__.splitlines()[0]).samples
    return 0 if measure.print_table("A neural SDE, 1000 steps", rows(samples)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
