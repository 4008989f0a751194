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
from ..ir.function import (
    is_expr,
    is_phi,
    map_vars,
    operands,
    read_by,
    successors,
    unary_function,
)
from .arrays import hold_lanes
from .branch_elements import HARMLESS, Bypass, element_of, is_accessed, masked_write
from .choice import choose_extrema, drop_conversions, made_call
from .lane_functions import FUNCTIONS
from .masked_loops import mask_loop
from .uniform import (
    SHAPES,
    WAY_OUT,
    find_varying,
    is_repeatable,
    refuse,
    refuse_what_counts,
    refuse_writes,
)
from .varying import anywhere, both, either, guarded, other, select

_LINEAR = {operator.add, operator.sub, operator.iadd, operator.isub, operator.neg, operator.pos}
_COMPARISONS = {
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
    *(operator.not_, operator.and_, operator.or_),
}
_COUNTING = _LINEAR | _COMPARISONS | {operator.mul, operator.imul}
_REALS = types.Float | types.Integer | types.Boolean
_DIVISIONS = {operator.truediv, operator.itruediv}
_POWERS = {operator.pow, operator.ipow}
_ARITHMETIC = _LINEAR | _COMPARISONS | _DIVISIONS | _POWERS | {operator.mul, operator.imul}

_MASKINGS = 4
"""How often a loop is masked at most: once by itself, and once for each branch around it."""

OF_LANES = FUNCTIONS | {anywhere, select, guarded, both, either, other}


def flatten(fn, parameters, lanes, fits):
    """Flatten the branches of a normalised `Function` that depend on lanes, in place.

    `parameters` are the names of those that differ from lane to lane, arrays of lanes included. Arrays
    that the function makes and writes such values to have elements of `lanes` numbers then. Of functions
    in loops that lanes leave at different times, `fits(function)` must hold.
    Raises UnsupportedError where lanes may not go through the code together.
    """
    choose_extrema(fn)
    drop_conversions(fn)
    left = _MASKINGS * len(compute_cfg_from_blocks(fn.blocks).loops())
    while True:
        varying = find_varying(fn, parameters)
        found = [
            label
            for label, block in fn.blocks.items()
            if isinstance(block.terminator, ir.Branch) and block.terminator.cond.name in varying
        ]
        if not found:
            for _, s in fn.statements():
                refuse_what_counts(fn, s, varying)
            refuse_writes(fn, parameters, varying)
            hold_lanes(fn, varying, lanes)
            return
        region, error = _smallest(fn, found)
        if region is not None:
            _Flattening(fn, varying, *region).run()
        elif left and mask_loop(fn, varying, fits):
            left -= 1
        else:
            raise error


def _smallest(fn, heads):
    """The branch with the fewest blocks to flatten, where its ways meet, and these blocks in order.

    And the error that tells why another cannot be; None for each that there is not. One whose blocks are
    entered from elsewhere, too (`x > 0 and y / x > 1`), has to wait for another.
    """
    cfg = compute_cfg_from_blocks(fn.blocks)
    regions, errors = [], []
    for head in heads:
        try:
            regions.append(_region(fn, cfg, head))
        except UnsupportedError as error:
            errors.append(error)
    smallest = min(regions, key=lambda region: len(region[2]), default=None)
    return smallest, errors[0] if errors else None


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

    def __init__(self, fn, varying, head, end, order):
        self.fn, self.varying = fn, varying
        self.head, self.end, self.order = head, end, order
        above = compute_cfg_from_blocks(fn.blocks).dominators()[head]
        self.sure = [fn.blocks[label] for label in above]  # that run if any of this does
        self.block, self.label = fn.blocks[head], head
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
            if all(map(self._is_there, body)) or self._has_come(mask):
                self._copy(label, body, mask, nonlinear)
            else:
                self._copy_apart(label, body, mask, nonlinear)
        self._meet()
        self.block.append(ir.Jump(self.end, self.branch.loc))
        for label in self.order:
            del self.fn.blocks[label]
        self.fn.changed()

    def _copy(self, label, body, mask, nonlinear):
        for s in body[:-1]:
            self.loc = s.loc
            self._statement(label, s, mask, nonlinear)
        self._leave(label, body[-1], mask)

    # -- elements of arrays ------------------------------------------------------------------------

    def _is_there(self, s):
        """Whether a statement may run where no lane comes: it accesses no element that may not exist."""
        if self._is_shared_call(getattr(s, "value", None)):
            return False
        return element_of(self.fn, s) is None or is_accessed(self.fn, s, self.sure)

    def _is_shared_call(self, value):
        """Whether a call is of a compiled function of numbers that lanes share; arrays it may write to."""
        if not is_expr(value, "call") or callee_of(self.fn, value).kind != "dispatcher":
            return False
        given = [*value.args, *(v for _, v in value.kws)]
        shared = self._of_numbers(given) and not any(v.name in self.varying for v in given)
        return shared and is_repeatable(self.fn, value)

    def _copy_apart(self, label, body, mask, nonlinear):
        """Copy statements to a block of their own, which the code passes by where no lane comes to it."""
        kept, inside = [], set()
        for s in body:
            if self._is_outer(s) and not any(v.name in inside for v in read_by(s)):
                self.block.append(s)
            else:
                kept.append(s)
                inside |= {s.target.name} if isinstance(s, ir.Assign) else set()
        around = Bypass(self.fn, self.label, mask, body[0].loc)
        known, self.block = {*self.edges}, self.fn.blocks[around.inside]
        self._copy(label, kept, mask, nonlinear)
        made = {s.target.name for s in self.block.body if isinstance(s, ir.Assign)}
        masks = {self.edges[edge].name for edge in self.edges if edge not in known}
        self.label = around.join(made & (masks | self._read_elsewhere(label)))
        self.block = self.fn.blocks[self.label]
        self.sure.append(self.block)

    def _read_elsewhere(self, label):
        """The names that blocks read, but for one that is copied, and its copy."""
        others = [b for k, b in self.fn.blocks.items() if k != label and b is not self.block]
        return {v.name for block in others for s in block.body for v in read_by(s)}

    def _has_come(self, mask):
        """Whether the code is known to be here since a mask holds in some lane."""
        for block in self.sure:
            branch = block.body[-1] if block.body else None
            test = self.fn.definition(branch.cond) if isinstance(branch, ir.Branch) else None
            asked = is_expr(test, "call") and self.fn.constant(test.func) is anywhere
            if asked and test.args[0].name == mask.name and self._follows(branch.truebr):
                return True
        return False

    def _follows(self, label):
        return any(self.fn.blocks.get(label) is block for block in self.sure)

    def _read(self, s, mask):
        """What is read is guarded as well: its adjoint is a product with numbers that no lane asked for."""
        ty = types.unliteral(self.fn.type_of(s.target))
        found = self.fn.fresh("$element", ty, s.loc)
        self.block.append(ir.Assign(s.value, found, s.loc))
        call = self._call(guarded, ty, mask, found, self._const(HARMLESS))
        self.block.append(ir.Assign(call, s.target, s.loc))
        self.fn.changed()

    def _is_outer(self, s):
        """Whether a statement does no harm outside: it names a constant, a function, a module, an index."""
        value = getattr(s, "value", None)
        of_module = is_expr(value, "getattr") and isinstance(
            self.fn.type_of(value.value), types.Module
        )
        named = isinstance(value, ir.Const | ir.Global | ir.FreeVar) or self._is_of_range(value)
        counts = is_expr(value, "binop", "inplace_binop") and unary_function(value) in _COUNTING
        of_ints = counts and all(
            isinstance(self.fn.type_of(v), types.Integer) for v in operands(value)
        )
        return named or of_module or of_ints or is_expr(value, "build_tuple")

    def _is_of_range(self, value):
        """Whether a right-hand side is a range, or begins to go through one."""
        if is_expr(value, "getiter"):
            return isinstance(self.fn.type_of(value.value), types.RangeType)
        return is_expr(value, "call") and self.fn.constant(value.func) is range

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
        if isinstance(s, ir.SetItem | ir.StaticSetItem) and element_of(self.fn, s):
            self.block.body += masked_write(self.fn, s, mask)
            self.fn.changed()
            return
        self._check(s)
        if nonlinear and element_of(self.fn, s) and self._is_float(s.target):
            self._read(s, mask)
            return
        value = s.value
        if is_expr(value, "call") and self.fn.constant(value.func) is anywhere:
            within = self._call(both, types.boolean, mask, value.args[0])
            s.value = self._call(anywhere, types.boolean, within)
            self.block.append(s)
            return
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
        known = isinstance(s, ir.Assign) and (self._may_run(s.value) or element_of(self.fn, s))
        if not known:
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
            of_shape = value.attr in SHAPES and isinstance(
                self.fn.type_of(value.value), types.Array
            )
            return of_shape or isinstance(self.fn.type_of(value.value), types.Module)
        if value.op in ("static_getitem", "exhaust_iter"):  # as in `low, high = 0.0, 4.0`
            return isinstance(self.fn.type_of(value.value), types.BaseTuple)
        if value.op == "getiter":
            return isinstance(self.fn.type_of(value.value), types.RangeType)
        return value.op in ("cast", "build_tuple")

    def _can_guard(self, divisor):
        """Whether there is no division by zero where no lane comes: integers have no guard."""
        return divisor is None or self._is_float(divisor) or bool(self.fn.constant(divisor))

    def _may_call(self, call):
        if self._is_shared_call(call):
            return True
        if self.fn.constant(call.func) is range:
            return not any(v.name in self.varying for v in call.args)
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
                others.append((self.label, self._choose(self.end, s, mine)))
            s.value._kws["incoming_blocks"] = [block for block, _ in others]
            s.value._kws["incoming_values"] = [var for _, var in others]


def _divisor(value):
    """The operand that must not be zero: what is divided by, the base of a power."""
    if not is_expr(value, "binop", "inplace_binop"):
        return None
    if value.fn in _DIVISIONS:
        return value.rhs
    return value.lhs if value.fn in _POWERS else None
