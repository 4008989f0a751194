"""The exact adjoint of reversible Heun: steps taken back give the states, without storage.

Kidger, Foster, Li & Lyons, NeurIPS 2021, arXiv:2105.13493, algorithm 2. What a step back needs of the one
before it waits for that one, so that there is one evaluation with its product at each time.
"""

from numbad.compilation.caching import jit
from numbad.sde.adjoint_source import Backward
from numbad.sde.model_names import function_of, model_names
from numbad.sde.steps import StepWriter
from numbad.sde.steps.reversible import carried_names


class ReversibleBackward(Backward):
    """`z` is the second state, `m` the part of its cotangent that is known, `p` and `q` those of slopes.

    `v` and `r` are the increments and the size of the step after, of which y still lacks what the slopes here
    add to it.
    """

    def functions(self):
        """`slopes(t, y_0, ..., args)`: drift, and diffusion entry by entry."""
        form = self.form
        writer = StepWriter(form, self.problem.scheme, self.problem.calculus)
        drift, diffusion = writer.drift("t", writer.y), writer.diffusion("t", writer.y)
        found = [*drift, *self._entries_of(diffusion)]
        # A sum makes floats of whole numbers, and a copy of an array that may be written to again.
        lines = [*writer.lines, f"return {', '.join(f'{source} + 0.0' for source in found)}"]
        head = f"slopes({', '.join(['t', *writer.y, 'args'])})"
        slopes = jit(error_model="numpy")(function_of(head, lines, model_names(self.problem, form)))
        return {"slopes": (1, slopes)}

    @property
    def _rows(self):
        """How many numbers a row of the diffusion has; None where there is one for each component."""
        return self.form.channels if self.form.is_matrix and not self.form.is_array else None

    def _entries_of(self, rows):
        if self._rows is None:
            return rows
        return [f"{row}[{j}]" for row in rows for j in range(self._rows)]

    def _products(self, left, factor, weights):
        """Sources of a cotangent of the state times increments, entry by entry of the diffusion."""
        form = self.form
        if form.is_matrix and form.is_array:
            return [f"np.outer({factor} * {left[0]}, {weights[0]})"]
        if form.is_matrix:
            return [f"{factor} * {name} * {w}" for name in left for w in weights]
        weights = weights * form.components if len(weights) == 1 else weights
        return [f"{factor} * {name} * {w}" for name, w in zip(left, weights, strict=True)]

    @property
    def _q(self):
        count = self.form.components * (self._rows or 1)
        return [f"q_{k}" for k in range(count)]

    def before(self, zero):
        """Nothing waits."""
        form = self.form
        self._z, self._f, self._g = carried_names(self.writer)
        self._p, self._m = form.names("p"), form.names("m")
        self._v = form.channel_names("v")
        matrix = form.is_matrix and form.is_array
        lines = [f"{name} = {zero}" for name in (*self._p, *self._m)]
        lines += [f"{name} = {'0.0 * g_0' if matrix else zero}" for name in self._q]
        channels = "np.zeros(channels)" if form.is_array and form.channels is None else "0.0"
        return [*lines, "r = 0.0", *(f"{name} = {channels}" for name in self._v)]

    def _evaluated(self, drift, diffusion):
        """Lines that evaluate at z, with the cotangents of the slopes there."""
        lines = self.pulled("slopes", ["t"], self._z, [*drift, *diffusion])
        count, rows = self.form.components, self._rows
        lines += [f"{name} = value[{c}]" for c, name in enumerate(self._f)]
        for c, name in enumerate(self._g):
            entries = [f"value[{count + c * (rows or 1) + j}]" for j in range(rows or 1)]
            lines.append(
                f"{name} = {entries[0] if rows is None else '(' + ', '.join(entries) + ',)'}"
            )
        return lines

    def step(self):
        """Back through one step."""
        y, z, w, by_end = self.writer.y, self._z, self.writer.w, self.form.names("l")
        drift = [f"{p} + 0.5 * h * {a}" for p, a in zip(self._p, by_end, strict=True)]
        products = self._products(by_end, "0.5", w)
        diffusion = [f"{q} + {s}" for q, s in zip(self._q, products, strict=True)]
        lines = self._evaluated(drift, diffusion)
        noise, later = self.writer.noise(self._g, w), self.writer.noise(self._g, self._v)
        rows = zip(y, z, self._f, noise, later, strict=True)
        for c, (yc, zc, f, n, rest) in enumerate(rows):
            lines += [
                f"b_{c} = m_{c} + by_{c}",
                f"moved_{c} = h * {f} + {n}",
                f"{yc} = {yc} - 0.5 * (r * {f} + {rest})",
                f"{zc} = 2.0 * {yc} - {zc} - moved_{c}",
                f"{yc} = {yc} - 0.5 * moved_{c}",
                f"c_{c} = 0.5 * l_{c} + b_{c}",
                f"p_{c} = h * c_{c}",
                f"l_{c} = l_{c} + 2.0 * b_{c}",
                f"m_{c} = -b_{c}",
            ]
        waiting = self._products(self.form.names("c"), "1.0", w)
        lines += [f"{q} = {source}" for q, source in zip(self._q, waiting, strict=True)]
        return [*lines, "r = h", *(f"{v} = {x}" for v, x in zip(self._v, w, strict=True))]

    def after(self):
        """What waits of the first step; both states begin as y0."""
        lines = self._evaluated(self._p, self._q)
        lines += [f"l_{c} = l_{c} + m_{c} + by_{c}" for c in range(self.form.components)]
        return ["if ends[-1] > 0:", *("    " + line for line in lines)]
