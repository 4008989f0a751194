"""The stochastic adjoint: state and cotangent are solved backwards in time, on the same Brownian path.

Li, Wong, Chen & Duvenaud, AISTATS 2020, arXiv:2001.01328. In Stratonovich's calculus the rules of calculus
are the ordinary ones, so that the cotangent of the state along a path is that of an ordinary equation driven
by W. Both are solved by Heun's method, whatever the method of the path.
"""

from numbad.compilation.caching import jit
from numbad.sde.adjoint_source import Backward
from numbad.sde.methods.stochastic_heun import HEUN
from numbad.sde.model_names import function_of, model_names
from numbad.sde.steps import StepWriter
from numbad.sde.steps.writer import scaled


class StochasticBackward(Backward):
    """`x` and `k` are what Euler's step back would make of the state and of its cotangent."""

    def functions(self):
        """`change(t, h, w_0, ..., y_0, ..., args)`: drift times h and diffusion times increments."""
        form = self.form
        writer = StepWriter(form, HEUN, self.problem.calculus)
        parts = scaled(1.0, writer.drift("t", writer.y))
        noise = writer.noise(writer.diffusion("t", writer.y), writer.w)
        found = [f"{f} + {g}" for f, g in zip(parts, noise, strict=True)]
        lines = [*writer.lines, f"return {', '.join(found)}"]
        head = f"change({', '.join(['t', 'h', *writer.w, *writer.y, 'args'])})"
        change = jit(error_model="numpy")(function_of(head, lines, model_names(self.problem, form)))
        return {"change": (2 + len(writer.w), change)}

    def before(self, zero):
        """Nothing: the state is that of the end."""
        return []

    def _changes(self, time, state, cotangents):
        """Lines that evaluate the change; sources of it, component by component."""
        lines = self.pulled("change", [time, "h", *self.writer.w], state, cotangents)
        one = self.form.components == 1
        return lines, ["value"] if one else [f"value[{c}]" for c in range(self.form.components)]

    def step(self):
        """Back through one step, by half of the changes at both ends."""
        y, x, count = self.writer.y, self.form.names("x"), self.form.components
        a, k = self.form.names("l"), self.form.names("k")
        halves = [f"0.5 * {name}" for name in a]
        lines, changes = self._changes("t", y, halves)
        for c in range(count):
            lines += [
                f"{x[c]} = {y[c]} - {changes[c]}",
                f"{y[c]} = {y[c]} - 0.5 * {changes[c]}",
                f"{k[c]} = 0.5 * {a[c]} + by_{c}",
                f"{a[c]} = {a[c]} + by_{c}",
            ]
        more, changes = self._changes("t - h", x, k)
        lines += more
        for c in range(count):
            lines += [f"{y[c]} = {y[c]} - 0.5 * {changes[c]}", f"{a[c]} = {a[c]} + by_{c}"]
        return lines

    def after(self):
        """Nothing: the last step back ends at y0."""
        return []
