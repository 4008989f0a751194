"""The head of a listing: arguments, what the tape holds, where the reverse sweep finds its values."""

import os
import textwrap

from numba.core import types
from numba.core.registry import cpu_target

from ...compilation.caching import SWITCHED_OFF
from ...ir.leaves import HANDLES, leaves
from ..switches import off
from ..value_tape import layout_of
from .decisions import Decisions

WIDTH = 100


class Head:
    """Writes the lines above the sweeps."""

    def __init__(self, sweep, names, frames, source, argtypes):
        self.sweep, self.names, self.frames, self.argtypes = sweep, names, frames, argtypes
        self.source = source
        self.fn, self.plan = sweep.fn, sweep.plan

    def write(self):
        loc = self.fn.loc
        first = f"adjoint of {self.fn.name}, {os.path.basename(loc.filename)} line {loc.line}"
        parts = [[first], self._arguments(), self._loops(), self._tape(), self._values()]
        parts += [self._inactive(), self._switched_off()]
        return [line for part in parts for line in part]

    def _arguments(self):
        rows = []
        for k, (name, ty) in enumerate(zip(self.fn.parameters, self.argtypes, strict=True)):
            rows.append((self.names.show(name), _type_text(ty), self._role(k, name, ty)))
        result = str(self.fn.type_of(self.sweep.result))
        rows.append(("returns", result, "cotangent: seed" if leaves(self._result) else ""))
        return ["", "arguments", *_table(rows)]

    @property
    def _result(self):
        return self.fn.type_of(self.sweep.result)

    def _role(self, k, name, ty):
        if k not in self.sweep.wrt:
            return "constant"
        if any(leaf.kind in HANDLES for leaf in leaves(ty)):
            return f"adjoint: added into {name}_bar, an array of the caller's"
        return f"adjoint: {name}_bar, returned"

    def _loops(self):
        """How each loop is reversed."""
        decisions = Decisions(self.sweep, self.names)
        rows = [
            (f"{'  ' * decisions.depth(loop)}{self._where(loop)}", *decisions.texts(loop))
            for loop in sorted(decisions.loops(), key=self._order)
        ]
        rows += [
            (f"line {op.loc.line}", *decisions.texts_of_parallel(op)) for op in decisions.parallel()
        ]
        return ["", "loops", *_table(rows)] if rows else []

    def _where(self, loop):
        return self.source.line_of(self.fn, loop.header)

    def _switched_off(self):
        names = ", ".join(sorted(off()))
        return ["", f"switched off by {SWITCHED_OFF}", f"    {names}"] if names else []

    def _tape(self):
        rows = []
        for loop in sorted(self.sweep.control.loops.values(), key=self._order):
            names = tuple(var.name for var in self.sweep._frame(loop))
            size = bytes_of(self.frames[names]) if names in self.frames else 0
            depth = Decisions(self.sweep, self.names).depth(loop)
            where = f"{'  ' * depth}loop at {self._where(loop)}"
            held = ", ".join(map(self.names.show, names))
            rows.append((where, f"{size} bytes an iteration", held))
        return ["", "tape", *(_table(rows) or ["    nothing is recorded"])]

    def _order(self, loop):
        """Loops as in the source, outer ones first."""
        places = (*self.fn.sites.get(loop.header, ()), self.fn.blocks[loop.header].loc)
        return [place.line for place in places], -len(loop.body)

    def _values(self):
        """The values of the forward sweep that the reverse sweep reads, by how it finds them."""
        found = {"kept": [], "recorded": [], "recomputed": []}
        for label, name in dict.fromkeys(self.sweep.e.needs):
            if isinstance(name, tuple) or self.names.meaning(name) is None:
                continue
            kind = "recomputed"
            if self.plan.alive(label, name):
                kind = "kept"
            elif self.plan.recorded(label, name):
                kind = "recorded"
            text = self.names.show(name)
            if not any(text in others for others in found.values()):
                found[kind].append(text)
        rows = [(kind, ", ".join(sorted(texts))) for kind, texts in found.items() if texts]
        return ["", "values needed on the way back", *_table(rows)] if rows else []

    def _inactive(self):
        """The source's variables that carry no derivative."""
        active, others = set(), {}
        for name, ty in self.fn.types.items():
            text = self.names.in_source(name)
            if text is None or not self._is_value(name, ty):
                continue
            text = text.partition("#")[0].partition(".")[0]
            if any(self.sweep.activity.active((name, leaf.path)) for leaf in leaves(ty)):
                active.add(text)
            else:
                others[text] = None
        rest = [text for text in others if text not in active]
        return ["", "without derivative", *_table([("", ", ".join(rest))])] if rest else []

    def _is_value(self, name, ty):
        """Whether a name is a variable that is assigned a number, a tuple or an array."""
        plain = (types.Number, types.Boolean, types.BaseTuple, types.Array, types.List)
        known = name in self.fn.parameters or name in self.fn.definitions
        return known and isinstance(types.unliteral(ty), plain)


def _type_text(ty):
    if isinstance(ty, types.Dispatcher):
        return f"function {ty.dispatcher.__name__}"
    text = str(types.unliteral(ty))
    return text if len(text) <= 50 else f"{text[:47]}..."


def bytes_of(tys):
    """The size of a frame that holds values of these types."""
    return layout_of(cpu_target.target_context, [types.unliteral(ty) for ty in tys])[1]


def _table(rows):
    """Columns, the last one wrapped."""
    if not rows:
        return []
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        start = "    " + "".join(f"{cell:{w}}  " for cell, w in zip(row, widths, strict=False) if w)
        wrapped = textwrap.wrap(row[-1], max(WIDTH - len(start), 30)) or [""]
        lines.append((start + wrapped[0]).rstrip())
        lines += [" " * len(start) + more for more in wrapped[1:]]
    return lines
