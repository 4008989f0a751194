"""Takes parallel loops out of a function: their iterations become a function of its own.

    for i in prange(n):                 def part(first, last, a, x):
        total += a[i] * x       ->          total = 0.0
                                            for i in range(first, last):
    total += part(0, n, a, x)                   total += a[i] * x
                                            return total

Who runs `part` may then cut the range into pieces that run beside each other. Iterations may hand each
other nothing but sums, as Numba asks of a `prange`; loops that do more are left where they are.
"""

import operator
from dataclasses import dataclass

from numba import prange
from numba.core import ir, types
from numba.core.typing import signature

from .function import Function, duplicate, is_expr, is_phi, operands, read_by, successors
from .loops import Control
from .normalize import drop_unused

FIRST, LAST = "$first", "$last"

_ADDS = {operator.add, operator.iadd}
_SUBTRACTS = {operator.sub, operator.isub}
_ZEROS = {types.float64: 0.0, types.complex128: 0j, types.int64: 0}


@dataclass
class Outlined:
    """`function` of `(first, last, *arguments)` returns one sum, a tuple of sums, or None.

    `natural` says whether `first` is known not to be negative.
    """

    function: Function
    argtypes: tuple
    sums: int
    natural: bool


def outline(fn, make):
    """Put `make(outlined)(start, stop, *arguments)` in place of the parallel loops of a `Function`.

    `make` gets an `Outlined` and gives the dispatcher to call, or None for a loop that is to stay.
    """
    loops = sorted(Control(fn).loops.values(), key=lambda loop: len(loop.body), reverse=True)
    for header in [loop.header for loop in loops]:  # an outer one before those within it
        loop = Control(fn).loops.get(header)
        if loop is not None:
            found = LoopOutline(fn, loop)
            if found.can_be_taken_out():
                found.take_out(make)
    drop_unused(fn)
    return fn


def as_ranges(fn):
    """Make a `range` of every `prange` of a `Function`: for one thread they are the same."""
    for _, s in fn.statements():
        if isinstance(s, ir.Assign) and fn.constant(s.target) is prange:
            s.value = ir.Global("range", range, s.loc)
            fn.types[s.target.name] = None
    fn.changed()
    return fn


class LoopOutline:
    """A loop of a function over a `prange`, or over another range, whose iterations are taken out."""

    over = prange
    zeros = _ZEROS  # of the types that it may add up

    def __init__(self, fn, loop):
        self.fn, self.loop, self.head = fn, loop, fn.blocks[loop.header]
        self.phis = [s for s in self.head.body if is_phi(s)]
        self.within = loop.body  # the blocks of its iterations

    # -- whether it is one -------------------------------------------------------------------

    def can_be_taken_out(self):
        """Whether it runs over a `prange`, is left at its end alone, and hands on nothing but sums."""
        return (
            self.find_range()
            and self.is_left_at_header()
            and not any(isinstance(s, ir.Print) for s in self.inside())
            and all(map(self.is_sum, self.phis))
            and self.hands_on_sums_alone()
            and self.find_arguments()
        )

    def inside(self):
        return [s for label in self.loop.body for s in self.fn.blocks[label].body]

    def find_range(self):
        steps = [s for s in self.head.body if is_expr(getattr(s, "value", None), "iternext")]
        if len(steps) != 1:
            return False
        self.iterator = steps[0].value.value.name
        getiter = self.fn.definition(self.iterator)
        call = self.fn.definition(getiter.value) if is_expr(getiter, "getiter") else None
        if not is_expr(call, "call") or self.fn.constant(call.func) is not self.over:
            return False
        self.bounds = list(call.args)
        plain = all(types.unliteral(self.fn.type_of(v)) == types.int64 for v in self.bounds)
        return plain and len(self.bounds) in (1, 2) and not call.kws

    def is_left_at_header(self):
        branch = self.head.terminator
        if not isinstance(branch, ir.Branch) or branch.truebr not in self.loop.body:
            return False
        self.after = branch.falsebr
        return self.after not in self.loop.body and all(
            target in self.loop.body
            for label in self.loop.body - {self.loop.header}
            for target in successors(self.fn.blocks[label])
        )

    def is_sum(self, phi):
        """Whether a value that goes from one iteration to the next is only added to."""
        return self.partial_sums(phi) is not None

    def partial_sums(self, phi):
        """The names that such a value has in an iteration; None of any other."""
        if self.fn.type_of(phi.target) not in self.zeros:
            return None
        sums = {phi.target.name}
        while True:
            before = len(sums)
            for s in self.inside():
                if s is phi or not any(v.name in sums for v in read_by(s)):
                    continue
                if not isinstance(s, ir.Assign) or not self._adds_to(s.value, sums):
                    return None
                sums.add(s.target.name)
            if len(sums) == before:
                break
        phis = [s for s in self.inside() if self._is_in(s, sums)]
        return sums if all(self._comes_from(s, sums) for s in phis) else None

    @staticmethod
    def _is_in(s, sums):
        return is_phi(s) and s.target.name in sums

    def _comes_from(self, phi, sums):
        """Whether a sum is, by every way from within the loop, one of the partial sums."""
        pairs = zip(phi.value.incoming_blocks, phi.value.incoming_values, strict=True)
        return all(v.name in sums for label, v in pairs if label in self.loop.body)

    def _adds_to(self, value, sums):
        if is_expr(value, "phi"):
            return True
        if not is_expr(value, "binop", "inplace_binop"):
            return isinstance(value, ir.Var)
        left, right = value.lhs.name in sums, value.rhs.name in sums
        return (value.fn in _ADDS and left != right) or (
            value.fn in _SUBTRACTS and left and not right
        )

    def hands_on_sums_alone(self):
        made = {s.target.name for s in self.inside() if isinstance(s, ir.Assign)}
        self.made, sums = made, {phi.target.name for phi in self.phis}
        return not any(
            v.name in made - sums
            for label, block in self.fn.blocks.items()
            if label not in self.within
            for s in block.body
            for v in read_by(s)
        )

    # -- what it reads from outside ----------------------------------------------------------

    def find_arguments(self):
        """The variables that go in; constants are made anew in the function, and are in `copied`."""
        self.arguments, self.copied = [], []
        names = {}
        for s in self.inside():
            for v in self._read_from_outside(s):
                names[v.name] = v
        names.pop(self.iterator)
        for var in names.values():
            if self.is_constant(var):
                self.copy(var)
            elif is_plain(self.fn.type_of(var)):
                self.arguments.append(var)
            else:
                return False
        return True

    def _read_from_outside(self, s):
        if is_phi(s) and s in self.phis:  # what comes in from outside is added afterwards
            return []
        return [v for v in read_by(s) if v.name not in self.made]

    def is_constant(self, var):
        """Whether the code says what a variable is, None among others."""
        value = self.fn.definition(var)
        return self.fn.constant(var) is not None or isinstance(
            value, ir.Const | ir.Global | ir.FreeVar
        )

    def copy(self, var):
        value = self.fn.definition(var)
        for operand in operands(value):
            self.copy(operand)
        if var.name not in {s.target.name for s in self.copied}:
            self.copied.append(ir.Assign(value, var, var.loc))

    # -- the function that it becomes --------------------------------------------------------

    def take_out(self, make):
        """Replace the loop by a call of what `make` gives."""
        given = tuple(types.unliteral(self.fn.type_of(v)) for v in self.given())
        argtypes = types.int64, types.int64, *given
        dispatcher = make(self.outlined(argtypes))
        if dispatcher is not None:
            self._replace(dispatcher, argtypes)
        return dispatcher is not None

    def outlined(self, argtypes):
        """The function of some iterations, called with these types."""
        return Outlined(self._function(), argtypes, len(self.phis), self._starts_at_natural())

    def _starts_at_natural(self):
        start = 0 if len(self.bounds) == 1 else self.fn.constant(self.bounds[0])
        return isinstance(start, int) and start >= 0

    def _function(self):
        outer, end = self.fn, self.fn.new_label()
        part = duplicate(outer)
        part.blocks = {label: part.blocks[label] for label in self.loop.body}
        part.parameters = [FIRST, LAST, *(v.name for v in self.arguments)]
        part.types |= {FIRST: types.int64, LAST: types.int64}
        part.loc = self.head.loc
        part.blocks[end] = self.ending(part)
        part.blocks[self.loop.header] = self._own_header(part, end)
        part.blocks[outer.entry] = self._own_entry(part)
        part.changed()
        return part

    def _own_entry(self, part):
        """The constants, the range, and zeros for the sums."""
        loc, scope = self.head.loc, self.fn.scope
        block = ir.Block(scope, loc)
        block.body = list(self.copied)
        for phi in self.phis:
            zero = ir.Const(_ZEROS[part.type_of(phi.target)], loc)
            block.append(ir.Assign(zero, self._zero(part, phi), loc))
        func = part.fresh("$range", None, loc)
        over = part.fresh("$over", types.range_state64_type, loc)
        first, last = (ir.Var(scope, name, loc) for name in (FIRST, LAST))
        block.append(ir.Assign(ir.Global("range", range, loc), func, loc))
        call = ir.Expr.call(func, [first, last], (), loc)
        part.calls[call] = signature(types.range_state64_type, types.int64, types.int64)
        block.append(ir.Assign(call, over, loc))
        iterator = ir.Var(scope, self.iterator, loc)
        block.append(ir.Assign(ir.Expr.getiter(over, loc), iterator, loc))
        block.append(ir.Jump(self.loop.header, loc))
        return block

    def _zero(self, part, phi):
        name = f"$zero.{phi.target.name}"
        part.types[name] = part.type_of(phi.target)
        return ir.Var(self.fn.scope, name, phi.loc)

    def _own_header(self, part, end):
        """The header, whose sums begin with zero, and which leads to the end of the function."""
        block = ir.Block(self.fn.scope, self.head.loc)
        for s in self.head.body:
            if is_phi(s):
                pairs = self.incoming(s, inside=True)
                pairs.append((self.fn.entry, self._zero(part, s)))
                s = ir.Assign(phi_of(pairs, s.loc), s.target, s.loc)
            block.append(s)
        branch = self.head.terminator
        block.body[-1] = ir.Branch(branch.cond, branch.truebr, end, branch.loc)
        return block

    def incoming(self, phi, inside):
        pairs = zip(phi.value.incoming_blocks, phi.value.incoming_values, strict=True)
        return [(label, v) for label, v in pairs if (label in self.loop.body) is inside]

    def ending(self, part):
        """Returns the sums: one by itself, several as a tuple, or None."""
        loc = self.head.loc
        block = ir.Block(self.fn.scope, loc)
        sums = [phi.target for phi in self.phis]
        result = sums[0] if len(sums) == 1 else part.fresh("$sums", result_type_of(part, sums), loc)
        if len(sums) != 1:
            value = ir.Expr.build_tuple(sums, loc) if sums else ir.Const(None, loc)
            block.append(ir.Assign(value, result, loc))
        block.append(ir.Return(result, loc))
        return block

    # -- the call in its place ---------------------------------------------------------------

    def _replace(self, dispatcher, argtypes):
        """The header becomes a block that calls the function and adds what it returns."""
        fn, loc, header = self.fn, self.head.loc, self.loop.header
        block = ir.Block(fn.scope, loc)
        before = [
            ir.Assign(phi_of(self.incoming(phi, inside=False), loc), self.before(phi), loc)
            for phi in self.phis
        ]
        block.body = before
        result = self._call(block, dispatcher, argtypes)
        for k, phi in enumerate(self.phis):
            part = result
            if len(self.phis) > 1:
                part = fn.fresh("$sum", fn.type_of(phi.target), loc)
                block.append(ir.Assign(ir.Expr.static_getitem(result, k, None, loc), part, loc))
            block.append(ir.Assign(self.sum_after(phi, part), phi.target, loc))
        block.append(ir.Jump(self.after, loc))
        fn.blocks = {label: b for label, b in fn.blocks.items() if label not in self.loop.body}
        fn.blocks[header] = block
        fn.changed()

    def sum_after(self, phi, part):
        """The expression of a sum after the loop, of which `part` is what the function gives."""
        ty = self.fn.type_of(phi.target)
        added = ir.Expr.binop(operator.add, self.before(phi), part, self.head.loc)
        self.fn.calls[added] = signature(ty, ty, ty)
        return added

    def before(self, phi):
        """The variable that holds a sum before the loop."""
        name = f"$before.{phi.target.name}"
        self.fn.types[name] = self.fn.type_of(phi.target)
        return ir.Var(self.fn.scope, name, phi.loc)

    def given(self):
        """The variables that the function gets after the bounds."""
        return self.arguments

    def _call(self, block, dispatcher, argtypes):
        fn, loc = self.fn, self.head.loc
        bounds = self.bounds
        if len(bounds) == 1:
            start = fn.fresh("$start", types.int64, loc)
            block.append(ir.Assign(ir.Const(0, loc), start, loc))
            bounds = [start, *bounds]
        func = fn.fresh("$loop", types.Dispatcher(dispatcher), loc)
        block.append(ir.Assign(ir.Global("loop", dispatcher, loc), func, loc))
        call = ir.Expr.call(func, [*bounds, *self.given()], (), loc)
        ty = result_type_of(fn, [phi.target for phi in self.phis])
        fn.calls[call] = signature(ty, *argtypes)
        result = fn.fresh("$sums", ty, loc)
        block.append(ir.Assign(call, result, loc))
        return result


def result_type_of(fn, sums):
    tys = [fn.type_of(v) for v in sums]
    if not tys:
        return types.none
    return tys[0] if len(tys) == 1 else types.BaseTuple.from_types(tys)


def phi_of(pairs, loc):
    phi = ir.Expr.phi(loc)
    phi._kws["incoming_blocks"] = [label for label, _ in pairs]
    phi._kws["incoming_values"] = [v for _, v in pairs]
    return phi


def is_plain(ty):
    """Whether a value can be handed to other threads: numbers, arrays of them, tuples of these."""
    ty = types.unliteral(ty)
    if isinstance(ty, types.BaseTuple):
        return all(map(is_plain, ty.types))
    if isinstance(ty, types.Array):
        return ty.aligned and isinstance(ty.dtype, types.Number | types.Boolean)
    return isinstance(ty, types.Number | types.Boolean)
