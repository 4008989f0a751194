"""Takes one iteration of a loop out of a function, where iterations meet in nothing but sums.

    for i in range(n):                 def iteration(first, last, before, p, x_i):
        total += f(x[i], p)     ->         return f(x_i, p)

    total = loop(0, n, total, p, x)

Who runs `loop` may take several iterations side by side. What an iteration reads at its own number,
`x[i]` or `z[i, j]`, is an argument of its own: an element, or what is left of the array without that
axis. An array from outside that each iteration fills before it reads it becomes one of the iteration. What
it writes at its own number, `r[i] = ...`, it writes to an argument of that kind.
"""

from dataclasses import dataclass

from numba.core import ir, types
from numba.core.typing import signature

from .function import duplicate, is_expr, is_phi, map_vars, read_by, successors
from .iteration_reads import NUMBER, IterationReads
from .loops import Control
from .outline import FIRST, LAST, LoopOutline, Outlined, is_plain, phi_of

_SHAPES = "shape", "size", "ndim"
_SMALL = 1000  # what a count may grow by in an iteration


@dataclass
class Iteration(Outlined):
    """`function` of `argtypes` is one iteration; the loop is called with `given`, types in the same order.

    `rows` has, for each argument, the `Row` that iterations have their own of, None for what they share;
    `whole` whether there must be one for each of them, `filled` whether each writes it before it reads it,
    `inner` whether loops of an iteration alone read it: perhaps it is an empty one, and they never do.
    `number` says whether one more argument follows: the number of the iteration.
    """

    given: tuple
    rows: tuple
    whole: tuple
    filled: tuple
    inner: tuple
    number: bool


def _is_in_sum(s, sums):
    """Whether a statement adds to one of some sums."""
    value = getattr(s, "value", None)
    return (
        isinstance(s, ir.Assign)
        and s.target.name in sums
        and is_expr(value, "binop", "inplace_binop")
    )


def _raising(fn, loop):
    """The blocks that an iteration may leave a loop for, and from which nothing is returned."""
    control = Control(fn)
    found, pending = set(), list(loop.body - {loop.header})
    while pending:
        for target in successors(fn.blocks[pending.pop()]):
            if target not in loop.body | found and target not in control.returning:
                found.add(target)
                pending.append(target)
    return found


class IterationOutline(LoopOutline):
    """A loop over a `range`; `private` has the statements that make arrays which each iteration fills first.

    `written` are the names of other arrays from outside that iterations write to.
    `always(label)` tells whether every iteration comes by a block, or by the loop within it that the
    block lies in; `natural(variable)` whether a number is known not to be negative.
    """

    over, zeros = range, {types.float64: 0.0, types.int64: 0}

    def __init__(self, fn, loop, private, written, always, natural):
        super().__init__(fn, loop)
        self.within = loop.body | _raising(fn, loop)
        self.private, self.written, self.always, self.natural = private, written, always, natural

    def inside(self):
        """The statements of an iteration, the header's own but for the sums left out."""
        own = [s for s in self.head.body if is_phi(s)]
        return [*own, *(s for k in self._labels() for s in self.fn.blocks[k].body)]

    def _labels(self):
        """The blocks of an iteration: those of the loop but for its header, and where it raises."""
        return sorted(self.within - {self.loop.header})

    def is_left_at_header(self):
        """The same, errors apart."""
        branch = self.head.terminator
        if not isinstance(branch, ir.Branch) or branch.truebr not in self.loop.body:
            return False
        self.after = branch.falsebr
        return self.after not in self.within and all(
            target in self.within
            for k in self._labels()
            for target in successors(self.fn.blocks[k])
        )

    def can_be_taken_out(self):
        """Whether iterations meet in sums alone, and use their number for what is theirs alone."""
        floats = any(self.fn.type_of(phi.target) == types.float64 for phi in self.phis)
        hands_on = floats or bool(self.written)
        return hands_on and super().can_be_taken_out() and self._has_natural_indices()

    def _has_natural_indices(self):
        """Whether no index counts from the end."""
        least = min((row.offset for row in self.reads.rows if not row.by), default=0)
        if len(self.bounds) > 1 and self.reads.steps:
            return False
        start = 0 if len(self.bounds) == 1 else self.fn.constant(self.bounds[0])
        if isinstance(start, int):
            return start + least >= 0
        return least >= 0 and self.natural(self.bounds[0])

    # -- what it reads from outside ----------------------------------------------------------

    def find_arguments(self):
        """As of a parallel loop; what is the iteration's own, by its number, is in `reads`."""
        own = [s for s in self.head.body if is_expr(getattr(s, "value", None), "pair_first")]
        if len(own) != 1:
            return False
        self.arguments, self.copied = [], []
        index, outside = own[0].target.name, self._is_outside
        self.reads = IterationReads(self.fn, self._labels(), index, outside, self.written)
        if not self.reads.are_known() or not all(map(self._leaves_integers, self.inside())):
            return False
        self._take_indices()
        return all(map(self._take, self._outside().values()))

    def _take_indices(self):
        """Have the arrays of integers that tell of rows, constants too: the loop reads them."""
        names = {row.by.array: None for row in self.reads.rows if row.by}
        terms = [row.term for row in self.reads.rows if row.term]
        names |= {row.array: None for term in terms for row in term.rows}
        self.arguments += map(self._var, names)

    def _leaves_integers(self, s):
        """Whether a statement only reads arrays of integers: of those it is not known who writes."""
        held = [v for v in read_by(s) if self._holds_integers(v)]
        value = getattr(s, "value", None)
        if not held:
            return True
        if is_expr(value, "getattr"):
            return value.attr in _SHAPES
        if is_expr(value, "call"):
            return self.fn.constant(value.func) is len
        return is_expr(value, "getitem", "static_getitem")

    def _holds_integers(self, var):
        ty = self.fn.type_of(var)
        return isinstance(ty, types.Array) and not isinstance(ty.dtype, types.Float)

    def _is_outside(self, name):
        return name not in self.made and name not in self.private and name not in self.written

    def _is_always_read(self, row):
        """Whether every iteration reads a row: an array may be shorter where it is read under a condition."""
        return any(map(self.always, self.reads.labels_of(row)))

    def _is_read_in_loops(self, row):
        return not any(map(self._is_straight, self.reads.labels_of(row)))

    def _is_straight(self, label):
        """Whether a block lies in no loop within the loop."""
        loop = Control(self.fn).innermost(label)
        return loop is None or loop.header == self.loop.header

    def _is_filled(self, row):
        """Whether every iteration writes an element before it reads it."""
        accesses = [(k, n, s) for k in self._labels() for n, s in self._numbered(k, row)]
        control = Control(self.fn)
        return row.is_written and any(
            isinstance(s, ir.SetItem)
            and self.reads.is_single(row)
            and self.always(label)
            and self._is_straight(label)  # a loop within it may be run not once
            and all(
                number <= n if k == label else control.dominates(label, k) for k, n, _ in accesses
            )
            for label, number, s in accesses
        )

    def _numbered(self, label, row):
        """The statements of a block that read or write a row, with their numbers."""
        body = self.fn.blocks[label].body
        return [(n, s) for n, s in enumerate(body) if self.reads.row_of(s) == row]

    def _outside(self):
        """The variables from outside that the iteration and its indices read, but for the rows."""
        names, own = {}, self.reads.dropped()
        for s in self.inside():
            found = self._read_from_outside(s)
            if self.reads.row_of(s):
                found = [v for v in self.reads.rest_of(s) if v.name not in self.made]
            names |= {v.name: v for v in found if v.name not in own}
        return names

    def _take(self, var):
        """Have a variable in the function; whether that can be done."""
        if any(v.name == var.name for v in self.arguments):
            return True
        if var.name in self.private:
            return self._make(self.private[var.name])
        if self.is_constant(var):
            self.copy(var)
        elif is_plain(self.fn.type_of(var)):
            self.arguments.append(var)
        else:
            return False
        return True

    def _make(self, statement):
        """Have an array made in each iteration."""
        if any(s.target.name == statement.target.name for s in self.copied):
            return True
        for v in read_by(statement):
            shape = self.fn.definition(v)
            if is_expr(shape, "build_tuple"):
                if not all(map(self._take, shape.items)):
                    return False
                self.copied.append(ir.Assign(shape, v, v.loc))
            elif not self._take(v):
                return False
        self.copied.append(ir.Assign(statement.value, statement.target, statement.loc))
        return True

    # -- the function that it becomes --------------------------------------------------------

    def given(self):
        arrays = [self._var(row.array) for row in self.reads.rows]
        return [*map(self.before, self.phis), *self.arguments, *arrays]

    def _var(self, name):
        return ir.Var(self.fn.scope, name, self.head.loc)

    def outlined(self, argtypes):
        reads, shared = self.reads, len(argtypes) - len(self.reads.rows)
        numbers = [types.float64] if reads.number else []
        own = *argtypes[:shared], *map(reads.row_type, reads.rows), *numbers
        rows = *[None] * shared, *reads.rows
        whole = *[True] * shared, *map(self._is_always_read, reads.rows)
        filled = *[False] * shared, *map(self._is_filled, reads.rows)
        inner = *[False] * shared, *map(self._is_read_in_loops, reads.rows)
        more = argtypes, rows, whole, filled, inner, reads.number
        return Iteration(self._function(), own, len(self.phis), True, *more)

    def _function(self):
        outer, end = self.fn, self.fn.new_label()
        part = duplicate(outer)
        part.loc = self.head.loc
        befores = [self.before(phi).name for phi in self.phis]
        part.parameters = [FIRST, LAST, *befores, *(v.name for v in self.arguments)]
        part.parameters += [*self.reads.rows.values(), *([NUMBER] if self.reads.number else [])]
        part.types |= {FIRST: types.int64, LAST: types.int64, NUMBER: types.float64}
        part.types |= {name: self.reads.row_type(row) for row, name in self.reads.rows.items()}
        part.blocks = {k: part.blocks[k] for k in self._labels()}
        for block in part.blocks.values():
            self._rewrite(part, block, end)
        self._count_by_floats(part)
        part.blocks[end] = self._end(part)
        part.blocks[outer.entry] = self._entry(part)
        part.changed()
        return part

    def partial_sums(self, phi):
        """The same; of integers, counts by constants alone, which a float holds exactly."""
        sums = super().partial_sums(phi)
        if sums is None or self.fn.type_of(phi.target) == types.float64:
            return sums
        added = {v.name for s in self.inside() for v in read_by(s) if _is_in_sum(s, sums)} - sums
        return sums if all(self._is_small(name) for name in added) else None

    def _is_small(self, name):
        number = self.fn.constant(name)
        return type(number) is int and abs(number) < _SMALL

    def _count_by_floats(self, part):
        """What differs from lane to lane is floats: sums of integers, too."""
        for phi in self.phis:
            if self.fn.type_of(phi.target) == types.int64:
                part.types |= dict.fromkeys(self.partial_sums(phi), types.float64)
        for _, s in part.statements():
            value = getattr(s, "value", None)
            if is_expr(value, "binop", "inplace_binop"):
                before, now = self.fn.type_of(s.target), part.type_of(s.target)
                if before == types.int64 and now == types.float64:
                    part.calls[value] = signature(*[types.float64] * 3)

    def _entry(self, part):
        """The constants, the iteration's own arrays, and zeros for the sums."""
        block = ir.Block(self.fn.scope, self.head.loc)
        block.body = [map_vars(s, lambda var: var) for s in self.copied]
        for s, own in zip(self.copied, block.body, strict=True):
            if s.value in self.fn.calls:
                part.calls[own.value] = self.fn.calls[s.value]
        for phi in self.phis:
            block.append(ir.Assign(ir.Const(0.0, phi.loc), phi.target, phi.loc))
        block.append(ir.Jump(self.head.terminator.truebr, self.head.loc))
        return block

    def _end(self, part):
        """Where ways back to the header lead: the sums are returned."""
        block = self.ending(part)
        sums = {}
        for phi in self.phis:
            pairs = self.incoming(phi, inside=True)
            sums[phi.target.name] = found = part.fresh("$added", types.float64, phi.loc)
            value = pairs[0][1] if len(pairs) == 1 else phi_of(pairs, phi.loc)
            block.body.insert(len(sums) - 1, ir.Assign(value, found, phi.loc))
        rest = block.body[len(sums) :]
        renamed = [map_vars(s, lambda var: sums.get(getattr(var, "name", None), var)) for s in rest]
        block.body[len(sums) :] = renamed
        return block

    def _rewrite(self, part, block, end):
        block.body = [new for s in block.body for new in self.reads.rewritten(part, s)]
        last = block.body[-1]
        if isinstance(last, ir.Jump) and last.target == self.loop.header:
            block.body[-1] = ir.Jump(end, last.loc)
        elif isinstance(last, ir.Branch):
            ways = [end if k == self.loop.header else k for k in (last.truebr, last.falsebr)]
            block.body[-1] = ir.Branch(last.cond, *ways, last.loc)

    # -- the call in its place ---------------------------------------------------------------

    def sum_after(self, phi, part):
        """What is returned: the loop begins with the sum before it."""
        return part
