"""The pullback of `jacobian`: that of `jvp`, column by column.

The cotangent of a Jacobian holds, for every number of the arguments, that of the derivative of the
result by it: a cotangent of the result's own structure, which is pulled back along that number.
"""

from numba.core import types

from . import runtime
from .argument_structure import leaves, mapped_type, parse, render
from .dualpull import DualPull
from .generated_names import indented
from .operator_dispatcher import starred
from .results import scalar_of

_NOPYTHON = {
    name: getattr(runtime, name)
    for name in ("column_into", "element", "fill_zero", "set_to", "unit_at")
}


def write_columns(pullback, typingctx, args, seed, argtypes):
    """The pullback of `jacobian` and `value_and_jacobian`."""
    return Columns(pullback, typingctx, args, seed, argtypes).write()


class Columns:
    """The loop over the numbers of the arguments."""

    def __init__(self, pullback, typingctx, args, seed, argtypes):
        self.pullback, self.inner, self.args, self.seed = pullback, pullback.inner, args, seed
        arguments = [(f"args[{k}]", ty) for k, ty in enumerate(args)]
        self.pull = DualPull(pullback, typingctx, self.inner.f, arguments, argtypes, pullback.bare)
        self.before, self.body = [], []
        self.inputs = []  # (leaf, what reads its part of a derivative, source of its first column)
        for j, k in enumerate(self.inner.argnums):
            self._direct(j, k)
        self.before.append(f"total = {self._next()}")
        self.pull.prepare({*pullback.wrt, *self.inner.argnums})
        self.source = self.pull.source
        self.source.namespace.update(_NOPYTHON, jacobian=pullback.f)

    def _next(self):
        """Source of the first column after those numbered so far."""
        if not self.inputs:
            return "0"
        leaf, _, first = self.inputs[-1]
        return f"{first} + {_size(leaf)}"

    def _direct(self, j, k):
        """Number the columns of argument `k`, and let its direction be the unit of the column."""
        tree, units = parse(self.args[k], f"args[{k}]"), {}
        for leaf in leaves(tree):
            if leaf.kind != "constant":
                units[id(leaf)] = self._unit(leaf, j, f"args[{k}]")
        source = render(tree, lambda leaf: units.get(id(leaf), "None"), self.pull.pairs.namespace)
        self.pull.direct(k, source, mapped_type(tree, _unit_type))

    def _unit(self, leaf, j, whole):
        first, name = f"first{len(self.inputs)}", f"unit{len(self.inputs)}"
        self.before.append(f"{first} = {self._next()}")
        part = "" if self.inner.single else f"[{j}]"
        self.inputs.append((leaf, part + leaf.source.removeprefix(whole), first))
        if leaf.kind == "scalar":
            return f"(1.0 if column == {first} else 0.0)"
        self.before.append(f"{name} = np.zeros({leaf.source}.shape)")
        self.body.append(f"fill_zero({name})")
        self.body.append(f"unit_at({name}.reshape({name}.size), column - {first})")
        return name

    # -- the cotangent of a column -----------------------------------------------------------

    def _cotangent(self, o, out):
        """Lines that make `c{o}`, the cotangent of leaf `out` of the result."""
        scalar = self.source.scalar(scalar_of(out)).scalar
        whole = (
            f"{'seed[1]' if self.inner.with_value else 'seed'}{out.source.removeprefix('value')}"
        )
        if out.kind == "scalar":
            self.body.append(f"c{o} = {self.source.zero(scalar)}")
        else:
            _, part, _ = self.inputs[0]
            shape = f"{whole}{part}.shape[:{out.type.ndim}]"
            self.body.append(f"c{o} = np.zeros({shape}, {self.source.dtype(scalar)})")
        for leaf, part, first in self.inputs:
            column = f"column - {first}"
            line = self._column(f"c{o}", out, leaf, whole + part, column, scalar)
            self.body.append(f"if 0 <= {column} < {_size(leaf)}:\n    {line}")

    def _column(self, name, out, leaf, given, column, scalar):
        if out.kind == "scalar":
            entry = f"element({given}, {column})" if leaf.kind == "array" else given
            return f"{name} = {self.source.cast(entry, scalar)}"
        if leaf.kind == "array":
            return f"column_into({name}, {given}, {column}, {leaf.source}.size)"
        return f"set_to({name}, {given})"

    def _direction(self, o, out, given):
        """Lines that make `d{o}`, the cotangent of the value, which counts once."""
        scalar = self.source.scalar(scalar_of(out)).scalar
        if out.kind == "scalar":
            value = (
                f"{self.source.cast(given, scalar)} if column == 0 else {self.source.zero(scalar)}"
            )
            self.body.append(f"d{o} = {value}")
        else:
            self.body.append(f"d{o} = np.zeros({given}.shape, {self.source.dtype(scalar)})")
            self.body.append(f"if column == 0:\n    set_to(d{o}, {given})")

    # -- all together ------------------------------------------------------------------------

    def _call(self):
        outs = self.pull.result_leaves()
        cotangents, directions = {}, {}
        values = self.pull.matched("seed[0]", self.seed[0]) if self.inner.with_value else {}
        for o, out in enumerate(outs):
            self._cotangent(o, out)
            cotangents[id(out)] = f"c{o}"
            if self.inner.with_value:
                self._direction(o, out, values[id(out)])
                directions[id(out)] = f"d{o}"
        self.pull.call(cotangents, directions)

    def _collect(self, k):
        """Lines that add up the adjoint of argument `k`; its source."""
        tree, found = parse(self.args[k], f"shadows[{k}]"), {}
        for i, (leaf, entry) in enumerate(zip(leaves(tree), self.pull.tangents(k), strict=True)):
            if leaf.kind == "array":
                self.pull.lines.append(self.pull.added(leaf.source, entry))
            elif leaf.kind == "scalar":
                name = found[id(leaf)] = f"sum{k}_{i}"
                self.before.append(f"{name} = {self.source.zero(leaf.type)}")
                self.pull.lines.append(f"{name} += {self.source.cast(entry, leaf.type)}")
        return render(tree, lambda leaf: found.get(id(leaf), "None"), self.source.namespace)

    def write(self):
        self._call()
        adjoints = {k: self._collect(k) for k in self.pullback.wrt}
        body = [indented(line) for line in (*self.body, *self.pull.lines)]
        self.pull.lines = [*self.before, "for column in range(max(total, 1)):", *body]
        star = starred(self.inner.f.py_func)
        given = [f"{'*' if k == star else ''}args[{k}]" for k in range(len(self.args))]
        value = "None" if self.pullback.bare else f"jacobian({', '.join(given)})"
        return self.pull.write(value, adjoints, len(self.args))


def _size(leaf):
    return f"{leaf.source}.size" if leaf.kind == "array" else "1"


def _unit_type(leaf):
    if leaf.kind == "scalar":
        return types.float64
    return types.Array(types.float64, leaf.type.ndim, "C") if leaf.kind == "array" else types.none
