"""Puts masks and selections in place of the branches that lanes may take differently.

The blocks between such a branch and the place where its ways meet are run one after the other, each
under the mask of the lanes that would have come to it, and a phi becomes a choice by mask (Allen et
al., "Conversion of control dependence to data dependence", POPL 1983). What is computed for the
other lanes is discarded. So that it can do no harm, neither raise nor turn their adjoint into
NaN (zero times an infinite partial), these lanes compute with harmless values: whatever goes into
such a block is selected by the mask, too, and the adjoint of a selection is zero for the others.
"""

import operator

from numba.core import ir, types
from numba.core.ir_utils import compute_cfg_from_blocks

from ..errors import UnsupportedError
from ..ir.callee import callee_of
from ..ir.function import is_expr, is_phi, map_vars, operands, successors, unary_function
from .choice import choose_extrema, made_call
from .lane_functions import FUNCTIONS
from .uniform import WAY_OUT, find_varying, refuse, refuse_what_counts, refuse_writes
from .varying import both, either, guarded, other, select

_LINEAR = {operator.add, operator.sub, operator.iadd, operator.isub, operator.neg, operator.pos}
_COMPARISONS = {
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
    *(operator.not_, operator.and_, operator.or_),
}
_REALS = types.Float | types.Integer | types.Boolean
_DIVISIONS = {operator.truediv, operator.itruediv}
_POWERS = {operator.pow, operator.ipow}
_ARITHMETIC = _LINEAR | _COMPARISONS | _DIVISIONS | _POWERS | {operator.mul, operator.imul}

OF_LANES = FUNCTIONS | {select, guarded, both, either, other}

HARMLESS = 0.5
"""What the lanes compute with that do not come to a block."""


def flatten(fn, parameters):
    """Flatten the branches of a normalised `Function` that depend on lanes, in place.

    `parameters` are the names of those that differ from lane to lane, arrays of lanes included.
    Raises UnsupportedError where lanes may not go through the code together.
    """
    for _, s in fn.statements():
        refuse_what_counts(fn, s)
    choose_extrema(fn)
    while True:
        varying = find_varying(fn, parameters)
        found = [
            label
            for label, block in fn.blocks.items()
            if isinstance(block.terminator, ir.Branch) and block.terminator.cond.name in varying
        ]
        if not found:
            refuse_writes(fn, varying)
            return
        _Flattening(fn, *_smallest(fn, found)).run()


def _smallest(fn, heads):
    """The branch with the fewest blocks to flatten, where its ways meet, and these blocks in order.

    One whose blocks are entered from elsewhere, too (`x > 0 and y / x > 1`), has to wait for another.
    """
    cfg = compute_cfg_from_blocks(fn.blocks)
    regions, errors = [], []
    for head in heads:
        try:
            regions.append(_region(fn, cfg, head))
        except UnsupportedError as error:
            errors.append(error)
    if not regions:
        raise errors[0]
    return min(regions, key=lambda region: len(region[2]))


def _region(fn, cfg, head):
    loc = fn.blocks[head].terminator.loc
    after = cfg.post_dominators()[head] - {head}
    meeting = [label for label in after if after <= cfg.post_dominators()[label]]
    if not meeting:
        raise refuse("a branch that raises an exception in some lanes alone", loc, WAY_OUT)
    body, pending = set(), [s for s in successors(fn.blocks[head]) if s != meeting[0]]
    while pending:
        label = pending.pop()
        if label == head:
            raise refuse("a loop that some lanes may leave before others", loc)
        if label not in body:
            body.add(label)
            pending += [s for s in successors(fn.blocks[label]) if s != meeting[0]]
    return head, meeting[0], _in_order(cfg, head, body, loc)


def _in_order(cfg, head, body, loc):
    """The blocks that follow `head`, each after all that come before it."""
    done, order = {head}, []
    while len(order) < len(body):
        ready = [
            label
            for label in sorted(body - done)
            if all(p in done for p, _ in cfg.predecessors(label))
        ]
        if not ready:
            raise refuse("a loop inside a branch that some lanes may not take", loc, WAY_OUT)
        done.update(ready)
        order += ready
    return order


class _Flattening:
    """One branch, at the end of block `head`, whose ways meet in block `end`; `order` lies between."""

    def __init__(self, fn, head, end, order):
        self.fn, self.head, self.end, self.order = fn, head, end, order
        self.block = fn.blocks[head]
        self.branch = self.block.body.pop()
        self.loc = self.branch.loc
        self.edges = {}  # (source, target) -> mask; None: all lanes
        self.inside, self.guards = set(), {}  # of the block that is copied

    def run(self):
        self._leave(self.head, self.branch, None)
        for label in self.order:
            mask, body = self._mask(label), self.fn.blocks[label].body
            self.inside, self.guards = {s.target.name for s in body if isinstance(s, ir.Assign)}, {}
            nonlinear = any(map(self._is_nonlinear, body))
            for s in body[:-1]:
                self.loc = s.loc
                self._statement(label, s, mask, nonlinear)
            self._leave(label, self.fn.blocks[label].terminator, mask)
        self._meet()
        self.block.append(ir.Jump(self.end, self.branch.loc))
        for label in self.order:
            del self.fn.blocks[label]
        self.fn.changed()

    # -- statements that are made ------------------------------------------------------------------

    def _call(self, function, result, *arguments):
        """Append a call of one of the functions of masks."""
        target = made_call(self.fn, self.block.body, function, result, arguments, self.loc)
        self.fn.changed()
        return target

    def _const(self, value):
        target = self.fn.fresh("$harmless", types.float64, self.loc)
        self.block.append(ir.Assign(ir.Const(value, self.loc), target, self.loc))
        return target

    # -- masks -------------------------------------------------------------------------------------

    def _leave(self, source, terminator, mask):
        """The masks of the edges by which a block is left."""
        if isinstance(terminator, ir.Jump) or terminator.truebr == terminator.falsebr:
            self.edges[source, terminator.get_targets()[0]] = mask
            return
        self.loc = terminator.loc
        taken = terminator.cond
        not_taken = self._call(other, types.boolean, taken)
        for target, condition in ((terminator.truebr, taken), (terminator.falsebr, not_taken)):
            within = mask and self._call(both, types.boolean, mask, condition)
            self.edges[source, target] = within or condition

    def _mask(self, label):
        """The mask of the lanes that come to a block."""
        ways = [mask for (_, target), mask in self.edges.items() if target == label]
        found = ways[0]
        for mask in ways[1:]:
            found = self._call(either, types.boolean, found, mask)
        return found

    # -- the code of a block -----------------------------------------------------------------------

    def _statement(self, label, s, mask, nonlinear):
        if is_phi(s):
            self._choose(label, s)
            return
        self._check(s)
        value = s.value
        guards = {}
        if isinstance(value, ir.Expr) and value.op in ("binop", "inplace_binop", "unary", "call"):
            guards = self._guards(value, mask, nonlinear)
        copy = map_vars(s, lambda var: guards.get(getattr(var, "name", None), var))
        copy.target = s.target
        if isinstance(value, ir.Expr) and value in self.fn.calls:
            self.fn.calls[copy.value] = self.fn.calls[value]
        self.block.append(copy)
        self.fn.changed()

    def _guards(self, value, mask, nonlinear):
        """name -> what stands for it in the code of a block."""
        found = {}
        for var in operands(value):
            if self._is_float(var) and nonlinear and var.name not in self.inside:
                found[var.name] = self._guard(var, mask, HARMLESS)
        divisor = _divisor(value)
        if divisor is not None and self._is_float(divisor):
            found[divisor.name] = self._guard(divisor, mask, 1.0)
        return found

    def _guard(self, var, mask, harmless):
        if isinstance(self.fn.definition(var), ir.Const):
            return var
        key = var.name, harmless
        if key not in self.guards:
            ty = types.unliteral(self.fn.type_of(var))
            self.guards[key] = self._call(guarded, ty, mask, var, self._const(harmless))
        return self.guards[key]

    def _is_float(self, var):
        return isinstance(self.fn.type_of(var), types.Float)

    def _is_nonlinear(self, s):
        value = getattr(s, "value", None)
        if is_expr(value, "binop", "inplace_binop", "unary"):
            return unary_function(value) not in _LINEAR | _COMPARISONS
        return is_expr(value, "call") and self.fn.constant(value.func) is not bool

    def _check(self, s):
        """Raise UnsupportedError for what must not run in lanes that do not come to it."""
        if not isinstance(s, ir.Assign) or not self._may_run(s.value):
            raise refuse(
                "this statement inside a branch that some lanes may not take", s.loc, WAY_OUT
            )

    def _may_run(self, value):
        if not isinstance(value, ir.Expr):
            return True
        if value.op in ("binop", "inplace_binop", "unary"):
            known = unary_function(value) in _ARITHMETIC and self._of_numbers(operands(value))
            return known and self._can_guard(_divisor(value))
        if value.op == "call":
            return self._may_call(value)
        if value.op == "getattr":
            return isinstance(self.fn.type_of(value.value), types.Module)
        if value.op == "static_getitem":
            return isinstance(self.fn.type_of(value.value), types.BaseTuple)
        return value.op in ("cast", "build_tuple")

    def _can_guard(self, divisor):
        """Whether there is no division by zero where no lane comes: integers have no guard."""
        return divisor is None or self._is_float(divisor) or bool(self.fn.constant(divisor))

    def _may_call(self, call):
        callee = callee_of(self.fn, call)
        known = callee.kind == "function" and callee.key in OF_LANES
        return known and not call.kws and self._of_numbers(call.args)

    def _of_numbers(self, variables):
        return all(isinstance(types.unliteral(self.fn.type_of(v)), _REALS) for v in variables)

    # -- phis --------------------------------------------------------------------------------------

    def _choose(self, label, phi, ways=None):
        """Assign to the target of a phi what it is on each way in; with `ways`, return it."""
        pairs = zip(phi.value.incoming_blocks, phi.value.incoming_values, strict=True)
        incoming = [
            (self.edges[source, label], var)
            for source, var in pairs
            if (source, label) in self.edges and var is not ir.UNDEFINED
        ]
        ty = types.unliteral(self.fn.type_of(phi.target))
        found = incoming[-1][1]
        for mask, var in reversed(incoming[:-1]):
            if var.name != found.name:
                found = self._call(select, ty, mask, var, found)
        if ways is not None:
            return found
        self.block.append(ir.Assign(found, phi.target, phi.loc))
        self.fn.changed()
        return None

    def _meet(self):
        """The phis where the ways meet have one way in, for all of these."""
        mine = {source for source, target in self.edges if target == self.end}
        for s in self.fn.blocks[self.end].body:
            if not is_phi(s):
                continue
            self.loc = s.loc
            pairs = zip(s.value.incoming_blocks, s.value.incoming_values, strict=True)
            others = [(block, var) for block, var in pairs if block not in mine]
            here = any(block in mine for block in s.value.incoming_blocks)
            if here:
                others.append((self.head, self._choose(self.end, s, mine)))
            s.value._kws["incoming_blocks"] = [block for block, _ in others]
            s.value._kws["incoming_values"] = [var for _, var in others]


def _divisor(value):
    """The operand that must not be zero: what is divided by, the base of a power."""
    if not is_expr(value, "binop", "inplace_binop"):
        return None
    if value.fn in _DIVISIONS:
        return value.rhs
    return value.lhs if value.fn in _POWERS else None
