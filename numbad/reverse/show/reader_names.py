"""Names that a reader knows for the variables of both sweeps.

A variable is called as in the source; further values of it that are needed at the same time are
`x.1`, `x.2`. The adjoint of `x` is `x_bar`. What has no name in the source is `%1`, `%2`. No two
variables have the same name.
"""

import re

from ...ir.leaves import HANDLES, leaves
from ..loops.iterations import NEXT, seed_name
from ..names import bar_name, choice, counter, last, shadow_name

_NESTED = re.compile(r".*__locals__\w+?_v\d+_")  # Numba's names for those of inner functions


class Names:
    """Text for the names of the variables that a `Sweep` has emitted.

    The notes of its emitter say what temporaries stand for: name -> ("bar", leaf) or ("value", name
    of the primal).
    """

    def __init__(self, sweep):
        self.fn, self.notes = sweep.fn, sweep.e.notes
        fn = self.fn
        self._shown, self._taken = {}, set()
        self._stems = {}  # name -> whether it is followed by a place, as that of a member is
        self.merged = {}
        self.adjoints = {}  # name of an adjoint variable -> its leaf
        for name, ty in fn.types.items():
            for leaf in leaves(ty):
                own = shadow_name if leaf.kind in HANDLES else bar_name
                self.adjoints[own((name, leaf.path))] = name, leaf.path
        self.loops = {}  # name of an adjoint that a loop's iterations add to -> "@" and its line
        for part in sweep.parts():
            self._adjoints_apart(sweep, part)
        self._own = {"$seed": "seed", **_of_control(sweep)}
        for selected in sweep.selected.values():
            self._own |= self._kept(sweep, selected)
        for name in fn.parameters:
            self.show(name)

    def _adjoints_apart(self, sweep, part):
        """The adjoints of the iterations of a loop by what comes from outside."""
        line = at_line(sweep, part.header)
        for leaf in part.outer:
            for own in (shadow_name, bar_name):
                name = own(leaf) + part.own_mark
                self.adjoints[name], self.loops[name] = leaf, line

    def _kept(self, sweep, selected):
        """Whether an iteration chose; and the values of the one that is reversed, kept under other names
        than the values of those that follow it."""
        line = at_line(sweep, selected.loop.header)
        return dict.fromkeys(map(selected.new, selected.told), f"new{line}") | {
            selected.kept(k): f"{self.plain(name)}{line}"
            for k, name in enumerate(selected.frame)
            if self.in_source(name) is not None
        }

    def give(self, name, text):
        """A name for a variable that the source does not name."""
        if self.in_source(name) is None:
            self.fn.names[name] = text

    def merge(self, merged):
        """Let variables stand for others."""
        self.merged = merged

    # -- what a variable is ------------------------------------------------------------------

    def in_source(self, name):
        """The name that a variable of the primal has in the source, with its version, or None."""
        name = self.fn.names.get(name, name)
        nested = _NESTED.match(name)
        if nested:
            name = name[nested.end() :]
        return None if name.startswith(("$", "_v")) else name

    def meaning(self, name):
        """What a variable stands for that the source names: a kind, and a name or a leaf; or None."""
        if name in self.adjoints:
            leaf = self.adjoints[name]
            return ("bar", leaf) if self.in_source(leaf[0]) else None
        if name.startswith(NEXT):
            name = name.removeprefix(NEXT)
        if name in self.fn.types:
            return ("value", name) if self.in_source(name) else None
        for kind, what in self.notes.get(name, ()):
            if self.in_source(what if kind == "value" else what[0]):
                return kind, what
        return None

    def variable(self, name):
        """What tells the values of one source variable, or its adjoints, from others; or None."""
        meaning = self.meaning(name)
        if meaning is None or name in self._own:
            return None
        kind, what = meaning
        return (
            self._source_variable(what)
            if kind == "value"
            else (self._source_variable(what[0]), what[1], self.loops.get(name))
        )

    def plain(self, name):
        """What the source calls a variable of the primal, or "a value"."""
        return "a value" if self.in_source(name) is None else _base(self.in_source(name))

    def _source_variable(self, name):
        """The source's variable, of this copy of a function that is called several times."""
        base, mark, copy = self.in_source(name).partition("#")
        return _without_version(base) + mark + copy

    def doubles(self):
        """`(variable, variable of the primal)` for values that are computed once more."""
        for name in self.notes:
            meaning = self.meaning(name)
            if self.is_recomputed(name) and meaning is not None:
                yield name, meaning[1]

    def is_recomputed(self, name):
        if name in self.fn.types or name in self._own:
            return False
        return any(kind == "value" for kind, _ in self.notes.get(name, ()))

    def is_plain(self, name):
        """Whether a variable stands for nothing that a reader knows."""
        return name not in self._own and name not in self.adjoints and self.meaning(name) is None

    def is_hideable(self, name):
        """Whether an assignment that nobody reads need not be shown."""
        if name in self.adjoints or name not in self.fn.types or name.startswith("$"):
            return True
        return self.in_source(name) is None

    def is_adjoint(self, name):
        return name in self.adjoints

    # -- text --------------------------------------------------------------------------------

    def show(self, name):
        """The text for a variable."""
        name = self.merged.get(name, name)
        if name not in self._shown:
            self._shown[name] = self._make(name)
        return self._shown[name]

    def _make(self, name):
        if name in self._own:
            return self._claim(self._own[name])
        meaning = self.meaning(name)
        if meaning is not None and meaning[0] == "value":
            return self._claim(_base(self.in_source(meaning[1])))
        leaf = self.adjoints.get(name) if meaning is None else meaning[1]
        if leaf is None:
            return self._number("%")
        return self._adjoint(leaf, self.loops.get(name, ""))

    def _adjoint(self, leaf, loop):
        owner, path = leaf
        place = "".join(f"[{k}]" for k in path)
        if self.in_source(owner) is None:
            return self._number("%bar") + loop + place
        shown = self._shown.get(self.merged.get(owner, owner), "")
        version = shown.partition(".")[1:]
        base = f"{_base(self.in_source(owner))}_bar{loop}"
        return self._claim(base, "".join(version), place)

    def _claim(self, base, version="", place=""):
        """A text that no other variable has; a name is that of a variable or of members, not both."""
        stem, count = base + version, 0
        while stem + place in self._taken or self._stems.get(stem, bool(place)) != bool(place):
            count += 1
            stem = f"{base}.{count}"
        self._stems[stem] = bool(place)
        self._taken.add(stem + place)
        return stem + place

    def _number(self, base):
        count = 1
        while f"{base}{count}" in self._taken:
            count += 1
        self._taken.add(f"{base}{count}")
        return f"{base}{count}"


def at_line(sweep, label):
    """What is put behind names that belong to a block: `count@12`."""
    return f"@{sweep.fn.blocks[label].loc.line}"


def _of_control(sweep):
    """Counters of loops, the numbers of the ways that lead to a block, seeds of loops."""
    control, found = sweep.control, {}
    for label in control.order:
        line = at_line(sweep, label)
        if label in control.loops or label in sweep.iterations:
            found[counter(label)] = f"count{line}"
            found[last(label)] = f"last{line}"
            found[f"{choice(label)}e"] = f"entry{line}"
            found[seed_name(label)] = f"seed{line}"
        found[choice(label)] = f"way{line}"
    return found


def _without_version(name):
    return re.sub(r"(\.\d+)+$", "", name)


def _base(name):
    """The name in the source without version and without the number of the callee's copy."""
    return _without_version(name.partition("#")[0].partition("@")[0])
