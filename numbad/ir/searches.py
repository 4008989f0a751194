"""Loops that search by comparisons alone, as a bisection does: no derivative flows out of them.

The result of a bisection depends on the parameter `p` that it compares with, and yet no number of the result
is computed from `p`. The user is warned of a number with these properties:

* a loop carries it round, and it leaves the loop for the function's result;
* no differentiated value flows into it;
* a comparison of differentiated values within the loop chooses it, and reads it in turn: by a branch, as a
  factor (`low += (middle - low) * (f(middle) < p)`), or by a sign (`x -= np.sign(f(x) - p) * h`). The number
  may lie in a slot of an array (`bracket[int(f(middle) > p)] = middle`).

Counters, sorting, look-ups in tables and exits from loops are not meant: there the number that was chosen is
not compared again. Nor is a loop out of which a differentiated value flows as well, as where a step is
halved or a damping adapted: there the choice only says how the value is found.
"""

import linecache
import os
from collections import defaultdict

from numba.core import ir
from numba.core.ir_utils import compute_cfg_from_blocks

from ..compilation.notices import warn_once
from ..errors import RuleError
from ..rules.expression import Const
from ..rules.registry import CONSTANT, find
from .function import is_expr, is_phi, operands, read_by

ZERO = Const(0)
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def warn_of_searches(blocks, is_varied, is_float, holds_floats):
    """Warn once of each line that compares in such a loop; blocks in SSA form, with phis.

    is_varied, is_float, holds_floats: whether a name stands for something differentiated; for a number; for
    an array or a list of numbers
    """
    for name, loc in find_searches(blocks, is_varied, is_float, holds_floats):
        if not is_own(loc):
            warn_once(_message(name.split(".")[0], loc), loc)


def is_own(loc):
    """Whether code is numbad's, rather than the user's."""
    generated = loc.filename.startswith("<numbad ")
    return generated or os.path.abspath(loc.filename).startswith(_OWN)


def source_line(loc):
    return linecache.getline(loc.filename, loc.line).strip()


def _message(name, loc):
    return (
        f"the result depends on differentiated quantities through comparisons alone, so that its "
        f"derivative is 0 there: nothing differentiated flows into '{name}', which a loop carries round, "
        f"and this line chooses it by comparing:\n    {source_line(loc)}\n"
        "Way out: nd.root in place of a loop that searches for a root, nd.minimize_scalar of one that "
        "searches for a minimum; if 0 is meant, nd.stop_gradient around what is compared"
    )


def find_searches(blocks, is_varied, is_float, holds_floats):
    """`(name, place of the comparison)` for each loop that searches by comparisons alone."""
    flow = DataFlow(blocks)
    loops = flow.cfg.loops().values()
    if not loops:
        return []
    is_sensitive = flow.sensitive(is_varied).__contains__
    kinds = is_sensitive, is_float, holds_floats
    found = [_BracketSearch(flow, loop, *kinds).found() for loop in loops]
    return [one for one in found if one is not None]


def _is_constant(function):
    try:
        return function in CONSTANT
    except TypeError:  # without a hash, as functions of ctypes
        return False


class DataFlow:
    """Which names are computed from which, through data alone: branches do not count."""

    def __init__(self, blocks):
        self.blocks, self.cfg = blocks, compute_cfg_from_blocks(blocks)
        cfg, self.dominators = self.cfg, self.cfg.dominators()
        self.predecessors = {label: [p for p, _ in cfg.predecessors(label)] for label in blocks}
        self.made = {}  # name -> (label, right-hand side)
        self.made_in = defaultdict(list)  # label -> names
        self.readers = defaultdict(set)  # name -> labels
        self.results = results = []
        for label, block in blocks.items():
            for s in block.body:
                for v in read_by(s):
                    if isinstance(v, ir.Var):
                        self.readers[v.name].add(label)
                if isinstance(s, ir.Assign):
                    self.made[s.target.name] = label, s.value
                    self.made_in[label].append(s.target.name)
                elif isinstance(s, ir.Return):
                    results.append(s.value.name)
        self.useful = self.behind(results, blocks)

    def behind(self, names, labels):
        """The names and what they are computed from, as far as that is done in some blocks."""
        seen, pending = set(), list(names)
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                label, value = self.made.get(name, (None, None))
                if label in labels:
                    pending += [v.name for v in operands(value) if isinstance(v, ir.Var)]
        return seen

    def sensitive(self, is_varied):
        """Of what is differentiated, that into which it flows otherwise than by a sign alone."""
        varied = set(filter(is_varied, self.behind(self.made, self.blocks)))
        through = {name: self._passed_on(self.made.get(name, (None, None))[1]) for name in varied}
        through |= dict.fromkeys(varied & self._written())
        readers = defaultdict(list)
        for name, given in through.items():
            for source in given or ():
                readers[source].append(name)
        found, pending = set(), [name for name, given in through.items() if given is None]
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += readers[name]
        return found

    def _written(self):
        """The arrays and lists into which something is stored, as far as these statements name them."""
        stores = ir.SetItem, ir.StaticSetItem
        bodies = (block.body for block in self.blocks.values())
        return {s.target.name for body in bodies for s in body if isinstance(s, stores)}

    def _passed_on(self, value):
        """The names whose changes change a value; None where that is not told."""
        if isinstance(value, ir.Var):
            return [value.name]
        if is_expr(value, "getitem", "static_getitem", "getattr", "exhaust_iter"):
            return [value.value.name]
        if not is_expr(value, "phi", "binop", "inplace_binop", "unary", "cast", "call"):
            return None
        if value.op != "call":
            return [v.name for v in operands(value) if isinstance(v, ir.Var)]
        func = self.made.get(value.func.name, (None, None))[1]
        if isinstance(func, ir.Global) and func.name == "operator":  # by `forward.dualize`
            return [v.name for v in value.args]
        called = self.function(value.func)
        if _is_constant(called):
            return []
        if value.vararg is not None:
            return None
        rule = find(called)
        if rule is None or value.kws:
            of_method = [func.value] if called is None and is_expr(func, "getattr") else []
            return [v.name for v in (*of_method, *value.args, *(v for _, v in value.kws))]
        try:
            partials = rule.trace(len(value.args))
        except RuleError:  # as with an array for the result among the arguments
            return None
        given = zip(value.args, partials, strict=True)
        return [v.name for v, partial in given if partial is not ZERO]  # interned

    def function(self, var):
        """The function that is called, where it is a global or a module's; else None."""
        value = self.made.get(var.name, (None, None))[1]
        if is_expr(value, "getattr"):
            return getattr(self.function(value.value), value.attr, None)
        return value.value if isinstance(value, ir.Global | ir.FreeVar) else None


class LoopSearch:
    """One loop, and the branches in it."""

    def __init__(self, flow, loop, is_varied):
        self.flow, self.header, self.body = flow, loop.header, loop.body
        self.is_varied = is_varied
        self.carried = [s.target.name for s in flow.blocks[loop.header].body if is_phi(s)]

    def next_values(self, name):
        """What a number that the loop carries becomes at the end of an iteration."""
        phi = self.flow.made[name][1]
        pairs = zip(phi.incoming_blocks, phi.incoming_values, strict=True)
        return [v.name for p, v in pairs if p in self.body and isinstance(v, ir.Var)]

    def behind_next(self, name):
        """The same, with all that it is computed from in the loop."""
        return {*self.flow.behind(self.next_values(name), self.body), name}

    def branches(self, label):
        """The branches within an iteration that decide on which of its ways a block is reached."""
        ways = [p for p in self.flow.predecessors[label] if p in self.body]
        if len(ways) < 2:
            return
        common = set.intersection(*(self.flow.dominators[p] for p in ways)) & set(self.body)
        is_header = any(
            label in self.flow.dominators[p] for p in ways
        )  # as of a loop that continues
        first = max(common, key=lambda b: len(self.flow.dominators[b]))
        for b in self.body:
            last = self.flow.blocks[b].terminator
            inside = isinstance(last, ir.Branch) and set(last.get_targets()) <= set(self.body)
            before = is_header or label not in self.flow.dominators[b]
            if inside and before and first in self.flow.dominators[b]:
                yield last


class _BracketSearch(LoopSearch):
    """A loop that may search by comparing."""

    def __init__(self, flow, loop, is_varied, is_float, holds_floats):
        super().__init__(flow, loop, is_varied)
        self.is_float, self.holds_floats = is_float, holds_floats

    def found(self):
        carried = [n for n in self.carried if self.is_float(n) and not self.is_varied(n)]
        leaving, slots = self._leaving(), self._slots()
        if any(map(self.is_varied, leaving)) or any(self.is_varied(s.value.name) for _, s in slots):
            return None
        kept = self.flow.behind(leaving, self.body)
        for name in carried:
            loc = self._choice(name) if name in kept else None
            if loc is not None:
                return name, loc
        for label, s in slots:
            array = s.target.name
            if array in self.flow.useful and self.holds_floats(array) and not self.is_varied(array):
                loc = self._choice_of_slot(label, s)
                if loc is not None:
                    return array, loc
        return None

    def _leaving(self):
        """What is made in the loop and used outside of it for the result."""
        flow = self.flow
        made = (name for label in self.body for name in flow.made_in[label])
        return {n for n in made if n in flow.useful and not flow.readers[n] <= self.body}

    def _slots(self):
        """The statements that put something into an array in the loop, each with its block."""
        return [
            (label, s)
            for label in self.body
            for s in self.flow.blocks[label].body
            if isinstance(s, ir.SetItem | ir.StaticSetItem)
        ]

    def _choice_of_slot(self, label, s):
        """The place of a comparison that chooses a slot, or whether one is set, and looks at the array."""
        index = s.index if isinstance(s, ir.SetItem) else s.index_var
        asked = [(index.name, s.loc)] if index is not None else []
        asked += [(branch.cond.name, branch.loc) for branch in self._branches_before(label)]
        for name, loc in asked:
            behind = self.flow.behind([name], self.body)
            if s.target.name in behind and any(map(self.is_varied, behind)):
                return loc
        return None

    def _branches_before(self, label):
        """The branches within an iteration that decide whether a block is reached."""
        above, predecessors = self.flow.dominators[label], self.flow.predecessors
        for b in above & set(self.body) - {label}:
            if any(b in self.flow.dominators[p] for p in predecessors[b]):
                continue  # the head of a loop, which ends sooner or later
            last = self.flow.blocks[b].terminator
            ways = set(last.get_targets()) if isinstance(last, ir.Branch) else set()
            if ways and ways <= set(self.body) and len(above & ways) == 1:
                yield last

    def _choice(self, name):
        """The place of a comparison that chooses the next value of a number and looks at the last one."""
        for other in self.behind_next(name):
            label, value = self.flow.made.get(other, (None, None))
            if (
                label in self.body
                and is_expr(value, "phi")
                and (label != self.header or other == name)
            ):
                for branch in self.branches(label):
                    asked = self.flow.behind([branch.cond.name], self.body)
                    if name in asked and any(map(self.is_varied, asked)):
                        return branch.loc
            elif label in self.body and not self.is_varied(other) and self._is_factor(name, value):
                return value.loc
        return None

    def _is_factor(self, name, value):
        """Whether a constant that is computed with is read off what is differentiated and the number."""
        if not is_expr(value, "binop", "unary", "call"):
            return False
        asked = [v.name for v in operands(value)]
        return any(map(self.is_varied, asked)) and name in self.flow.behind(asked, self.body)
