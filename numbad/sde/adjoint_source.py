"""The code of an adjoint that goes back along one path without having kept it.

The increments are drawn again, stretch by stretch; states are found by steps taken back. What such an adjoint
does in a step, a subclass of `Backward` says. Derivatives of derivatives are those of the steps, by the
discrete adjoint.
"""

from numba.core import types

from numbad.compilation.caching import jit
from numbad.errors import UnsupportedError
from numbad.forward.dual import duals_in, primal_type
from numbad.forward.dualize import dualized
from numbad.ode.compiling import generic
from numbad.operators.argument_structure import leaves, parse, render
from numbad.operators.runtime import add_into
from numbad.reverse import pullback
from numbad.sde.functions_called_twice import trial
from numbad.sde.grid import BY_TIMES
from numbad.sde.model_names import function_of
from numbad.sde.stretch_source import Stretches, core, core_with_end
from numbad.source import define

_TIMES, _KEY = 1, 3
BY_INCREMENTS = (
    "adjoint={!r} gives no derivatives by given increments. Way out: adjoint='discrete', with `checkpoints` "
    "where memory is scarce"
)
_BACK = "y0, ts, args, key, y0_shadow, shadows, seed, end"


def has_duals(*tys):
    """Whether there are dual numbers in the types of arguments."""
    return any(True for ty in tys for _ in duals_in(ty))


def plain(tys):
    """Types without dual numbers and literals."""
    return tuple(types.unliteral(primal_type(ty)) for ty in tys)


def recorded(problem, origin):
    """`recorded(y0, ts, args, key) -> (ys, end)`, `end` being what the last step leaves."""

    def choose(*given):
        if not has_duals(*given):
            lines, names = trial(problem, *plain(given))
            names["target"] = core_with_end(problem, *plain(given))
            if len(names) == 1:
                return names["target"].py_func
            lines = [*lines, "return target(y0, ts, args, key)"]
            return function_of("recorded(y0, ts, args, key)", lines, names)
        call = "def recorded(y0, ts, args, key):\n    return target(y0, ts, args, key), 0.0\n"
        return define(call, {"target": dualized(core(problem, *plain(given)))})

    text = "def recorded(y0, ts, args, key):\n    raise NotImplementedError(content)\n"
    content = "recorded", *problem.content
    return generic(define(text, {"content": content}), content, choose, origin)


def pull_back(problem, wrt, kind, origin, solved):
    """`pull(args, shadows, seed, end) -> (ys, adjoints)` by an adjoint of class `kind`.

    Where it is not `solved`, there is no `end`: it solves first.
    """
    if _TIMES in wrt:
        raise UnsupportedError(BY_TIMES)
    if _KEY in wrt:
        raise UnsupportedError(BY_INCREMENTS.format(problem.adjoint))
    parameters = "args, shadows, seed" + ", end" * solved
    content = "pull", solved, wrt, *problem.content

    def choose(*given):
        args = plain(given[0])
        if has_duals(*given):
            lines = ["return slow(args, shadows, seed)"]
            namespace = {"slow": pullback(core(problem, *args), wrt)}
        else:
            back = "back(y0, ts, args, key, shadows[0], shadows[2], seed, end)"
            first, namespace = ["ys = 0.0"], {}
            if not solved:
                first, namespace = trial(problem, *args)
                first.append("ys, end = solved(y0, ts, args, key)")
            lines = ["y0, ts, args, key = args", *first, f"return ys, {back}"]
            namespace["back"] = kind(problem, *args).compiled(wrt)
            namespace["solved"] = core_with_end(problem, *args)
        return function_of(f"pull({parameters})", lines, namespace)

    text = f"def pull({parameters}):\n    raise NotImplementedError(content)\n"
    return generic(define(text, {"content": content}), content, choose, origin)


class Backward(Stretches):
    """The source of such an adjoint, without dual numbers.

    In the lines of a step `y_0`, ... is the state at its end, `l_0`, ... its cotangent, `t` and `h` the time
    there and the size, `w_0`, ... the increments. A subclass gives lines before the first step back
    (`before`), of a step (`step`) and after the last one (`after`), and the functions of `t` and the state
    whose products with cotangents it needs (`functions`).
    """

    def __init__(self, problem, y0, ts, args, key):
        super().__init__(problem, y0, args, key)
        self.y0_type, self.args_type, self.by_args = y0, args, False

    def compiled(self, wrt):
        """`back(y0, ts, args, key, y0_shadow, shadows, seed, end)`: the adjoints of the four arguments."""
        self.by_args = 2 in wrt
        lines = self.lines(0 in wrt)
        namespace = {**self.namespace(), **self.more_names, "add_into": add_into}
        for name, (leading, function) in self.functions().items():
            namespace[f"pull_{name}"] = pullback(function, self._inner_wrt(leading))
        return jit(error_model="numpy", nogil=True)(function_of(f"back({_BACK})", lines, namespace))

    def _inner_wrt(self, leading):
        count = self.form.components
        return (*range(leading, leading + count), *([leading + count] if self.by_args else []))

    def lines(self, by_start):
        """The lines of `back`."""
        zero = "np.zeros(y_0.size)" if self.form.is_array else "0.0"
        numbers = range(len(self._numbers()))
        return [
            *self.beginning(),
            *(f"{name} = end[{k}]" for k, name in enumerate(self.carried)),
            *(f"{name} = {zero}" for name in self.form.names("l")),
            *(f"total_{k} = 0.0" for k in numbers),
            *self.before(zero),
            "for i in range(outputs.size - 1, 0, -1):",
            *("    " + line for line in self._seeded("i")),
            "    last, before = ends[i] - ends[i - 1], ends[i - 1]",
            "    while last > 0:",
            "        first = max(0, last - length)",
            *("        " + line for line in self.drawing()),
            "        for k in range(last - first - 1, -1, -1):",
            "            t, h = starts[k] + sizes[k], sizes[k]",
            *("            " + line for line in self.reading()),
            *("            " + line for line in self.step()),
            "        last = first",
            "t = outputs[0]",
            *self.after(),
            *self._seeded("0"),
            f"return ({self._of_start(by_start)}, None, {self._of_args()}, None)",
        ]

    def pulled(self, name, leading, state, seeds):
        """Lines that call the pullback of a function: its `value`, and `by_0`, ... by the state."""
        form, first = self.form, len(leading)
        shadows = ["None"] * first + (["by_0"] if form.is_array else ["None"] * form.count)
        shadows.append("shadows" if self.by_args else "None")
        seed = seeds[0] if len(seeds) == 1 else f"({', '.join(seeds)})"
        given = f"({', '.join([*leading, *state, 'args'])}), ({', '.join(shadows)}), {seed}"
        lines = ["by_0 = np.zeros(y_0.size)"] if form.is_array else []
        lines.append(f"value, back = pull_{name}({given})")
        if not form.is_array:
            lines += [f"{by} = back[{first + c}]" for c, by in enumerate(form.names("by"))]
        for k, source in enumerate(self._numbers() if self.by_args else ()):
            lines.append(f"total_{k} += back[{first + form.components}]{source}")
        return lines

    def _numbers(self):
        """Sources, within the further arguments, of the floats among them."""
        return [leaf.source for leaf in leaves(parse(self.args_type, "")) if leaf.kind == "scalar"]

    def _seeded(self, row):
        """Lines that add the cotangents of an output."""
        if self.form.is_array:
            return [f"l_0 = l_0 + seed[{row}]"]
        return [f"{name} += seed[{row}, {c}]" for c, name in enumerate(self.form.names("l"))]

    def _of_start(self, wanted):
        """Source of the adjoint of y0; that of an array is added to its shadow."""
        if not wanted:
            return "None"
        if self.form.is_array:
            return "add_into(y0_shadow, l_0)"  # which returns None
        return self._rendered(self.y0_type, self.form.names("l"))

    def _of_args(self):
        if not self.by_args:
            return "None"
        return self._rendered(self.args_type, [f"total_{k}" for k in range(len(self._numbers()))])

    def _rendered(self, ty, sources):
        """Source of a structure of numbers, None where there is none."""
        tree, found = parse(ty, ""), list(sources)
        named = {}
        for leaf in leaves(tree):
            if leaf.kind == "scalar":
                named[id(leaf)] = found.pop(0)
        return render(tree, lambda leaf: named.get(id(leaf), "None"), self.more_names)
