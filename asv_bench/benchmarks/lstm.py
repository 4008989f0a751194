"""Compile time of a stacked LSTM, two layers of 24 arrays in all, and of its gradient by each of them.

The cells are functions of arrays that return arrays, as users write them: each gate with arrays of its
own. Beside them the same with the gates of a layer in one array, three arrays a layer. Sepp Hochreiter and
Juergen Schmidhuber, "Long short-term memory", Neural Computation 9 (1997), 1735-1780.
"""

import json

import numba
import numpy as np

from . import compile_time, imports, measure

BAR = 3.0
FEATURES, UNITS, LENGTH = 3, 4, 5
GATES, LAYERS = 4, 2

SCRIPT = """
from asv_bench.benchmarks import lstm
lstm.report({form!r}, {samples}, {processor_time})
"""


def _tools():
    """Fresh functions: nothing of them is compiled."""

    @numba.njit
    def sigmoid(x):
        return 1.0 / (1.0 + np.exp(-x))

    @numba.njit
    def cell(x, h, c, wi, ui, bi, wf, uf, bf, wg, ug, bg, wo, uo, bo):
        i, f = sigmoid(wi @ x + ui @ h + bi), sigmoid(wf @ x + uf @ h + bf)
        g, o = np.tanh(wg @ x + ug @ h + bg), sigmoid(wo @ x + uo @ h + bo)
        c = f * c + i * g
        return o * np.tanh(c), c

    @numba.njit
    def packed_cell(x, h, c, w, u, b):
        n = h.shape[0]
        z = w @ x + u @ h + b
        c = sigmoid(z[n : 2 * n]) * c + sigmoid(z[:n]) * np.tanh(z[2 * n : 3 * n])
        return sigmoid(z[3 * n :]) * np.tanh(c), c

    return cell, packed_cell


def function_of(form):
    """The loss, compiled by nothing yet; its arguments; and by how many of them it is differentiated."""
    cell, packed_cell = _tools()

    def by_gates(
        wi, ui, bi, wf, uf, bf, wg, ug, bg, wo, uo, bo,
        vi, ri, ai, vf, rf, af, vg, rg, ag, vo, ro, ao, xs,
    ):  # fmt: skip
        h, c, k, d = np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4)
        for t in range(xs.shape[0]):
            h, c = cell(xs[t], h, c, wi, ui, bi, wf, uf, bf, wg, ug, bg, wo, uo, bo)
            k, d = cell(h, k, d, vi, ri, ai, vf, rf, af, vg, rg, ag, vo, ro, ao)
        return np.sum(k * k)

    def packed(w, u, b, v, r, a, xs):
        h, c, k, d = np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4)
        for t in range(xs.shape[0]):
            h, c = packed_cell(xs[t], h, c, w, u, b)
            k, d = packed_cell(h, k, d, v, r, a)
        return np.sum(k * k)

    rng, one = np.random.default_rng(0), 1 if form == "gates" else GATES
    parameters = []
    for entering in (FEATURES, UNITS)[:LAYERS]:
        for _ in range(GATES // one):
            shapes = (one * UNITS, entering), (one * UNITS, UNITS), (one * UNITS,)
            parameters += [0.3 * rng.normal(size=shape) for shape in shapes]
    loss = by_gates if form == "gates" else packed
    return loss, (*parameters, rng.normal(size=(LENGTH, FEATURES))), len(parameters)


def timing(form, samples):
    """The gradient's compile times, and the function's right before each; the first is not counted."""
    import numbad as nd

    result = measure.Timing()
    for turn in range(samples + 1):
        loss, arguments, count = function_of(form)
        base = compile_time.seconds(numba.njit(loss), arguments)
        loss, arguments, count = function_of(form)
        gradient = nd.grad(loss, argnums=tuple(range(count)), mode="reverse")
        own = compile_time.seconds(gradient, arguments)
        if turn:
            result.base.append(base)
            result.own.append(own)
    return result


def report(form, samples, processor_time):
    """Print the timing as JSON, for the process that started this one."""
    measure.pin()
    if processor_time:
        measure.Clock.use_processor_time()
    print(json.dumps(vars(timing(form, samples))))


def in_new_process(form, samples=3):
    processor_time = measure.Clock.now is measure.time.process_time
    script = SCRIPT.format(form=form, samples=samples, processor_time=processor_time)
    environment = imports.environment(imports.Path.home()) | {"NUMBAD_CACHE_DIR": "off"}
    return measure.Timing(**json.loads(imports.run("-c", script, env=environment).splitlines()[-1]))


class CompileLSTM:
    """Compile time of the gradient over the function's."""

    params = "gates", "packed"
    param_names = ("form",)
    timeout = 600

    def track_ratio(self, form):
        return in_new_process(form).ratio

    track_ratio.unit = "ratio"


def main():
    measure.options(__doc__)
    rows = []
    for form in CompileLSTM.params:
        found = in_new_process(form)
        note = f"{np.median(found.base):.3g} s -> {found.median:.3g} s"
        rows.append(measure.Row(form, found.ratio, bar=BAR, best=found.best_ratio, note=note))
    return 0 if measure.print_table("Compile time of an LSTM's gradient", rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
