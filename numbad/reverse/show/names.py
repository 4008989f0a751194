"""Names that a reader knows for the variables of both sweeps.

A variable is called as in the source; where it is assigned more than once, its later values are
`x.1`, `x.2`. The adjoint of `x.1` is `x_bar.1`. What has no name in the source is `%1`, `%2`.
"""

import re

from ...ir.leaves import leaves
from ..emit import bar_name, choice, counter, shadow_name

_VERSION = re.compile(r"[.#@]\d.*$")


class Names:
    """Text for the names of the variables that a `Sweep` has emitted."""

    def __init__(self, fn, control, notes):
        self.fn, self.notes = fn, notes
        self._shown, self._count = {}, {}
        self.adjoints = {}  # name of an adjoint variable -> the leaf
        for name, ty in fn.types.items():
            for leaf in leaves(ty):
                self.adjoints[bar_name((name, leaf.path))] = name, leaf.path
                self.adjoints[shadow_name((name, leaf.path))] = name, leaf.path
        self._own = self._of_control(control)
        for name in fn.parameters:
            self.show(name)

    def _of_control(self, control):
        """Counters of loops, and the numbers of the ways that lead to a block."""
        found = {}
        for label in control.order:
            line = self.fn.blocks[label].loc.line
            if label in control.loops:
                found[counter(label)] = f"count@{line}"
                found[f"{choice(label)}e"] = f"entry@{line}"
            found[choice(label)] = f"way@{line}"
        return found

    def in_source(self, name):
        """The name that a variable of the primal has in the source, or None."""
        name = self.fn.names.get(name, name)
        return None if name.startswith("$") else name

    def is_plain(self, name):
        """Whether a variable stands for nothing that the source names."""
        return not (name in self._own or name in self.adjoints or self._meaning(name))

    def is_adjoint(self, name):
        return name in self.adjoints

    def recomputed(self, name):
        """Whether a variable holds a value of the primal once more."""
        return any(kind == "value" for kind, _ in self.notes.get(name, ()))

    def show(self, name):
        """The text for a variable."""
        if name not in self._shown:
            self._shown[name] = self._make(name)
        return self._shown[name]

    def _make(self, name):
        if name in self._own:
            return self._unique(self._own[name])
        if name in self.adjoints:
            return self._adjoint(self.adjoints[name])
        meaning = self._meaning(name)
        if meaning is None:
            return self._unique("%")
        kind, what = meaning
        if kind == "value":
            return self._unique(_VERSION.sub("", self.in_source(what))) if what == name else self.show(what)
        return self._adjoint(what)

    def _meaning(self, name):
        """What a variable stands for that the source names: a kind, and a name or a leaf."""
        if name in self.fn.types:
            return ("value", name) if self.in_source(name) else None
        for kind, what in self.notes.get(name, ()):
            if self.in_source(what if kind == "value" else what[0]):
                return kind, what
        return None

    def _adjoint(self, leaf):
        name, path = leaf
        base, dot, version = self.show(name).partition(".")
        mark = "" if base.startswith("%") else "_"
        return f"{base}{mark}_bar{dot}{version}".replace("__bar", "_bar") + "".join(f"[{k}]" for k in path)

    def _unique(self, base):
        count = self._count[base] = self._count.get(base, -1) + 1
        if base == "%":
            return f"%{count + 1}"
        return f"{base}.{count}" if count else base
