"""Loops that search by comparisons alone, as a bisection does: no derivative flows out of them.

What such a loop results in depends on what it compares, and yet nothing of it is computed with that. Told
is of a number that a loop carries round and that leaves it for the function's result; that nothing
differentiated flows into; and that a differentiated comparison within the loop chooses, which looks at the
number in turn: by a branch, or as a factor (`low += (middle - low) * (f(middle) < p)`). Counters, sorting,
tables looked up, and exits from loops are no such thing: nothing that is chosen there is compared again.
Neither is a loop out of which something differentiated flows as well, as with a step that is halved or a
damping that is adapted: there the choice only says how.
"""

import linecache
import os

from numba.core import ir
from numba.core.ir_utils import compute_cfg_from_blocks

from ..notices import warn_once
from .function import is_expr, is_phi, operands, read_by

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def warn_of_searches(blocks, is_varied, is_float):
    """Warn once of each line that compares in such a loop; blocks in SSA form, with phis.

    is_varied, is_float: whether a name stands for something differentiated; for a number
    """
    for name, loc in find_searches(blocks, is_varied, is_float):
        if not os.path.abspath(loc.filename).startswith(_OWN):
            warn_once(_message(name.split(".")[0], loc), loc)


def _message(name, loc):
    line = linecache.getline(loc.filename, loc.line).strip()
    return (
        f"the result depends on differentiated quantities through comparisons alone, so that its "
        f"derivative is 0 there: nothing differentiated flows into '{name}', which a loop carries round, "
        f"and this line chooses it by comparing:\n    {line}\nWay out: nd.root in place of a loop that "
        "searches for a root, nd.minimize_scalar of one that searches for a minimum; if 0 is meant, "
        "nd.stop_gradient around what is compared"
    )


def find_searches(blocks, is_varied, is_float):
    """`(name, place of the comparison)` for each loop that searches by comparisons alone."""
    cfg = compute_cfg_from_blocks(blocks)
    if not cfg.loops():
        return []
    flow = _Flow(blocks, cfg)
    found = [_Search(flow, loop, is_varied, is_float).found() for loop in cfg.loops().values()]
    return [one for one in found if one is not None]


class _Flow:
    """What is computed from what, through data alone."""

    def __init__(self, blocks, cfg):
        self.blocks, self.dominators = blocks, cfg.dominators()
        self.predecessors = {label: [p for p, _ in cfg.predecessors(label)] for label in blocks}
        self.made = {}  # name -> (label, right-hand side)
        results = []
        for label, block in blocks.items():
            for s in block.body:
                if isinstance(s, ir.Assign):
                    self.made[s.target.name] = label, s.value
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


class _Search:
    """One loop."""

    def __init__(self, flow, loop, is_varied, is_float):
        self.flow, self.header, self.body = flow, loop.header, loop.body
        self.is_varied, self.is_float = is_varied, is_float

    def found(self):
        carried = [
            s.target.name
            for s in self.flow.blocks[self.header].body
            if is_phi(s) and self.is_float(s.target.name) and not self.is_varied(s.target.name)
        ]
        leaving = self._leaving() if carried else set()
        if not leaving or any(map(self.is_varied, leaving)) or self._stores():
            return None
        kept = self.flow.behind(leaving, self.body)
        for name in carried:
            loc = self._choice(name) if name in kept else None
            if loc is not None:
                return name, loc
        return None

    def _leaving(self):
        """What is made in the loop and used outside of it for the result."""
        used = {
            v.name
            for label, block in self.flow.blocks.items()
            if label not in self.body
            for s in block.body
            for v in read_by(s)
            if isinstance(v, ir.Var)
        }
        made = self.flow.made
        return {n for n in used & self.flow.useful if n in made and made[n][0] in self.body}

    def _stores(self):
        """Whether something differentiated is put into an array in the loop."""
        return any(
            self.is_varied(s.value.name)
            for label in self.body
            for s in self.flow.blocks[label].body
            if isinstance(s, ir.SetItem | ir.StaticSetItem)
        )

    def _choice(self, name):
        """The place of a comparison that chooses the next value of a number and looks at the last one."""
        phi = self.flow.made[name][1]
        pairs = zip(phi.incoming_blocks, phi.incoming_values, strict=True)
        after = [v.name for p, v in pairs if p in self.body and isinstance(v, ir.Var)]
        for other in {*self.flow.behind(after, self.body), name}:
            label, value = self.flow.made.get(other, (None, None))
            if (
                label in self.body
                and is_expr(value, "phi")
                and (label != self.header or other == name)
            ):
                for branch in self._branches(label):
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

    def _branches(self, label):
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
