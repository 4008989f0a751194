"""What an iteration does with its own number: `x[i]`, `z[i - 1, j]`, `p[group[i]]`, `i * dt`, `if i > 3`.

Elements and rows that are read at the number, or at one that is a constant more, are the iteration's own,
and so is what it writes there, `r[i] = ...`, where nothing else of that array is touched.
What differs from one iteration to the next must be a float. The number itself, and integers that are read
at it, become floats where that makes no difference: beside floats, and in comparisons with small constants.
"""

import operator
from typing import NamedTuple

import numpy as np
from numba.core import ir, types
from numba.core.typing import signature

from ..rules.arrays.broadcasting import broadcast_step
from .function import is_expr, map_vars, read_by
from .integer_rows import Term, term_of

NUMBER = "$number"
"""The number of the iteration, as a float."""

_COMPARISONS = {
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
}
_DIVISIONS = {operator.truediv, operator.itruediv}
_FEW = 8  # elements of a row that have names of their own
_EXACT = 2**53  # up to which a float has every integer
_ROWS = types.float64, types.float32, types.boolean


class Row(NamedTuple):
    """What is left of an array without an axis, where the index is the number of the iteration and `offset`.

    With `fixed`, the numbers along the other axes, it is one element. `step` is the name of what the number
    is multiplied by, 0 for an array of one element that is broadcast, else 1; or None. Where integers and
    `offset` are the index, `by` is the row that these integers are. What `is_written` is an array, of one
    element where the axis is the only one. A `term` of such rows is an integer that the iteration computes:
    `array` is one of those that it reads for it, `offset` the least.
    """

    array: str
    axis: int
    offset: int
    step: str | None
    fixed: tuple | None
    by: "Row | None" = None
    is_written: bool = False
    term: Term | None = None

    @property
    def place(self):
        """The row that the element lies in."""
        return self._replace(fixed=None)


class IterationReads:
    """Finds these reads in the blocks `labels` of a function; `index` is the number of the iteration.

    `is_outside(name)` says whether an array is there before the loop and is not written to in it, `written`
    has the names of those that are. `rows` has a name for each `Row`; `number` says whether the number itself
    is used as a float.
    """

    def __init__(self, fn, labels, index, is_outside, written):
        self.fn, self.index, self.is_outside, self.written = fn, index, is_outside, written
        self.places = [(k, s) for k in labels for s in fn.blocks[k].body]
        self.offsets = {index: 0}  # name -> how much more it is than the number
        self.steps = {}  # name -> the name of what the number is multiplied by there
        self.tuples, self.elements, self.indices = {}, set(), set()
        self.shifts = {}  # name -> the name of an integer read at the number, how much more it is
        self.rows, self.number, self.floats = {}, False, set()
        self.read = {}  # key of a statement that reads or writes -> (row, rest of the index)

    def are_known(self):
        """Whether nothing else is done with the number."""
        self._find_offsets()
        if not all(self._find(s) for _, s in self.places):
            return False
        if not all(self._is_known_use(s) for _, s in self.places) or not self._are_written_alone():
            return False
        self._drop_indices()
        self._name_rows()
        return True

    # -- what is found -----------------------------------------------------------------------

    def _find_offsets(self):
        before = 0
        while before < len(self.offsets):
            before = len(self.offsets)
            for _, s in self.places:
                offset = self._offset(s)
                if offset is not None:
                    self.offsets[s.target.name] = offset
        for _, s in self.places:
            step = self._step(s)
            if step is not None:
                self.steps[s.target.name] = step

    def _offset(self, s):
        """How much more than the number of the iteration an integer is, if that is a constant."""
        found = self._more(s, self.offsets)
        return found and self.offsets[found[0]] + found[1]

    def _more(self, s, names):
        """The one of some integers that another is a constant more than, and that constant; or None."""
        value = getattr(s, "value", None)
        if not is_expr(value, "binop") or value.fn not in (operator.add, operator.sub):
            return None
        if not isinstance(self.fn.type_of(s.target), types.Integer):
            return None
        first, second = value.lhs, value.rhs
        if value.fn is operator.add and second.name in names:
            first, second = second, first
        step = self.fn.constant(second)
        if first.name not in names or type(step) is not int:
            return None
        return first.name, step if value.fn is operator.add else -step

    def _step(self, s):
        """The name of what the number of the iteration is multiplied by where an array may be broadcast."""
        value = getattr(s, "value", None)
        if not is_expr(value, "binop") or value.fn is not operator.mul:
            return None
        called = self.fn.definition(value.rhs)
        of_axis = is_expr(called, "call") and self.fn.constant(called.func) is broadcast_step
        return value.rhs.name if of_axis and value.lhs.name == self.index else None

    def _find(self, s):
        """Note a statement that makes an index of the number, or reads at one; whether it can stay so."""
        value = getattr(s, "value", None)
        self._find_term(s)
        shift = self._more(s, self._integers())
        if shift is not None:
            self.shifts[s.target.name] = shift
        if is_expr(value, "build_tuple"):
            numbers = self._numbers() | self._integers() | self.shifts.keys()
            places = [k for k, v in enumerate(value.items) if v.name in numbers]
            if places:
                self.tuples[s.target.name] = places[0], value.items
                return len(places) == 1 and all(map(self._is_basic, value.items))
        if is_expr(value, "getitem"):
            known = self._numbers() | self._integers() | self.shifts.keys() | self.tuples.keys()
            return value.index.name not in known or self._find_row(s, value.value.name, value.index)
        if isinstance(s, ir.SetItem) and s.target.name in self.written:
            return self._find_row(s, s.target.name, s.index)
        return True

    def _find_term(self, s):
        """Note an integer that is computed from those that are read."""
        term = term_of(self.fn, s, self._side_of_term)
        if term is not None:
            least = min(term.rows, key=lambda row: row.offset)
            self.read[s.target.name] = least._replace(term=term), []
            self.elements.add(s.target.name)

    def _side_of_term(self, var):
        number = self.fn.constant(var)
        if type(number) is int:
            return number
        if var.name in self._integers():
            row, _ = self.read[var.name]
            plain = row.fixed is not None and row.by is None and row.step is None
            return (row.term or row) if plain else None
        is_integer = isinstance(self.fn.type_of(var), types.Integer)
        return var.name if is_integer and self.is_outside(var.name) else None

    def _integers(self):
        """The names of integers that are read at the number of the iteration."""
        return {name for name in self.elements if not self._is_bool(name)}

    def _numbers(self):
        """The names of what the number of the iteration makes indices of."""
        return {*self.offsets, *self.steps}

    def _is_basic(self, var):
        return isinstance(self.fn.type_of(var), types.Integer | types.SliceType)

    def _find_row(self, s, name, index):
        ty = self.fn.type_of(name)
        if not isinstance(ty, types.Array) or not (self.is_outside(name) or name in self.written):
            return False
        axis, items = self.tuples.get(index.name, (0, [index]))
        rest = [v for k, v in enumerate(items) if k != axis]
        if name in self.written:
            return self._find_written(s, name, axis, items[axis].name, rest)
        fixed = tuple(map(self.fn.constant, rest))
        is_element = len(items) == ty.ndim and all(type(k) is int for k in fixed)
        own = items[axis].name
        offset, step = self.offsets.get(own, 0), self.steps.get(own)
        if step and ty.ndim > 1:
            return False
        row = Row(name, axis, offset, step, fixed if is_element else None)
        if own in self.elements or own in self.shifts:
            own, shift = self.shifts.get(own, (own, 0))
            row = row._replace(by=self.read[own][0], offset=shift)
            if not self._can_pick(row, ty):
                return False
        if not isinstance(ty.dtype, types.Integer) and ty.dtype not in _ROWS:
            return False
        if not isinstance(ty.dtype, types.Float):
            if not isinstance(self.fn.type_of(s.target), types.Integer | types.Boolean):
                return False
            self.elements.add(s.target.name)
        self.read[s.target.name] = row, rest
        return True

    def _find_written(self, s, name, axis, own, rest):
        """The same of an array that iterations write to."""
        ty = self.fn.type_of(name)
        is_row = not rest and ty.ndim > 1
        if own not in self.offsets or ty.dtype != types.float64 or (is_row and not is_assigned(s)):
            return False
        fixed = tuple(map(self.fn.constant, rest))
        if len(rest) + 1 < ty.ndim or not all(type(k) is int and k >= 0 for k in fixed):
            fixed = None
        self.read[_key(s)] = Row(name, axis, self.offsets[own], None, fixed, is_written=True), rest
        return True

    def _are_written_alone(self):
        """Whether all that is done with arrays that are written to is done to one row of each."""
        rows = {row.place for row, _ in self.read.values() if row.is_written}
        known = all(
            self.row_of(s) is not None
            for _, s in self.places
            for v in read_by(s)
            if v.name in self.written
        )
        return known and len(rows) == len({row.array for row in rows})

    @staticmethod
    def _can_pick(row, ty):
        """Whether there is code for elements or rows whose numbers are integers that each iteration reads."""
        by = row.by
        plain = by.fixed is not None and by.by is None and by.step is None and by.term is None
        return plain and isinstance(ty.dtype, types.Float) and ty.ndim < 3 and row.axis == 0

    def _drop_indices(self):
        """Forget the integers that are nothing but indices: they need not be floats."""
        self.indices = self._integers() - self.floats
        for name in self.indices:
            del self.read[name]
            self.elements.remove(name)

    def _name_rows(self):
        """Whole rows where elements are read by changing numbers, or more of them than are worth naming."""
        found = {row for row, _ in self.read.values()}
        for place in {row.place for row in found}:
            elements = {row for row in found if row.place == place}
            if place in elements or len(elements) > _FEW:
                found = found - elements | {place}
        for row in sorted(found, key=repr):
            self.rows[row] = f"$row{len(self.rows)}.{row.array}"
        for name, (row, rest) in self.read.items():
            whole = row.place in found
            self.read[name] = (row.place, rest) if whole else (row, [])

    def labels_of(self, row):
        """The blocks that read a row."""
        return [k for k, s in self.places if self.row_of(s) == row]

    def row_of(self, s):
        """The row that a statement reads or writes, or None."""
        found = self.read.get(_key(s))
        return found and found[0]

    def rest_of(self, s):
        """What else a statement with a row reads."""
        row, rest = self.read[_key(s)]
        if row.term:
            return [ir.Var(self.fn.scope, name, s.loc) for name in row.term.names]
        return rest if is_assigned(s) else [*rest, s.value]

    # -- what is done with it ----------------------------------------------------------------

    def _is_known_use(self, s):
        held, integers = {v.name for v in read_by(s)}, self._integers()
        made = {*self._numbers(), *self.shifts, *self.tuples}
        if held.isdisjoint({*made, *integers}):
            return True
        if not isinstance(s, ir.Assign):
            return self.row_of(s) is not None and s.value.name not in {*made, *integers}
        if s.target.name in made or self.row_of(s):
            return True  # an index, and what is read by it
        if not held.isdisjoint({*self.steps, *self.shifts} - self.elements):
            return False
        known = self._is_float_use(s.value, {*self.offsets, *integers})
        self.number |= known and not held.isdisjoint(self.offsets)
        self.floats |= held & integers
        return known

    def _is_bool(self, name):
        return isinstance(self.fn.type_of(name), types.Boolean)

    def _is_float_use(self, value, names):
        """Whether integers could be floats in an expression."""
        if is_expr(value, "call"):
            return len(value.args) == 1 and self._takes_float(value)
        if not is_expr(value, "binop", "inplace_binop") or value not in self.fn.calls:
            return False
        if value.fn in _COMPARISONS:
            sides = value.lhs, value.rhs
            # A float that holds one of two integers tells how that compares with the other.
            return any(map(self._is_held, sides)) and all(map(self._is_real, sides))
        if value.fn in _DIVISIONS:
            return self._is_real(value.lhs) and self._is_real(value.rhs)
        pairs = zip((value.lhs, value.rhs), self.fn.calls[value].args, strict=True)
        return all(ty == types.float64 for v, ty in pairs if v.name in names)

    def _takes_float(self, call):
        """Whether a function of an integer is that of it as a float."""
        called = self.fn.constant(call.func)
        if called is float:
            return True
        known = isinstance(called, np.ufunc) or getattr(called, "__module__", None) == "math"
        return known and self.fn.calls[call].return_type == types.float64

    def _is_real(self, var):
        return isinstance(self.fn.type_of(var), types.Float | types.Integer | types.Boolean)

    def _is_held(self, var):
        """Whether a float holds a number: an integer of 64 bits need not be one."""
        number, ty = self.fn.constant(var), self.fn.type_of(var)
        if isinstance(number, int | float):
            return abs(number) < _EXACT
        if not isinstance(ty, types.Integer):
            return isinstance(ty, types.Float | types.Boolean)
        return var.name in self.offsets or ty.bitwidth <= 32

    # -- the same in a function of one iteration ---------------------------------------------

    def row_type(self, row):
        """The type of a row: that of a float, or of an array of floats."""
        ty = self.fn.type_of(row.array)
        dtype = ty.dtype if isinstance(ty.dtype, types.Float) else types.float64
        if row.is_written:
            return types.Array(dtype, 1 if self.is_single(row) else ty.ndim - 1, "C")
        whole = ty.ndim > 1 and row.fixed is None
        return types.Array(dtype, ty.ndim - 1, "C") if whole else dtype

    def is_single(self, row):
        """Whether a row is one element."""
        return row.fixed is not None or self.fn.type_of(row.array).ndim == 1

    def dropped(self):
        """The names of indices, which the function has no use for."""
        indices = {*self.shifts, *self.indices} - self.elements
        return {*self._numbers(), *self.tuples, *indices}

    def rewritten(self, part, s):
        """The statements that stand for one in the function `part`, whose arguments the rows are."""
        if isinstance(s, ir.Assign) and s.target.name in self.dropped():
            return []
        if self.row_of(s):
            return self._reading(part, s) if is_assigned(s) else self._writing(part, s)
        if any(v.name in self.offsets for v in read_by(s)):
            return self._with_number(part, s)
        if isinstance(s, ir.Assign) and any(v.name in self.elements for v in read_by(s)):
            return [self._of_floats(part, s, s)]
        return [s]

    def _index(self, part, row, rest, made, loc):
        """The index within a row, None of the whole of it; what makes it is added to `made`."""
        if len(rest) > 1:
            ty = types.BaseTuple.from_types([part.type_of(v) for v in rest])
            index = part.fresh("$rest", ty, loc)
            made.append(ir.Assign(ir.Expr.build_tuple(rest, loc), index, loc))
            return index
        if rest or not row.is_written or not self.is_single(row):
            return rest[0] if rest else None
        index = part.fresh("$only", types.intp, loc)
        made.append(ir.Assign(ir.Const(0, loc), index, loc))
        return index

    def _writing(self, part, s):
        row, rest = self.read[_key(s)]
        made, array = [], ir.Var(self.fn.scope, self.rows[row], s.loc)
        index = self._index(part, row, rest, made, s.loc)
        write = ir.SetItem(array, index, s.value, s.loc)
        given = part.types[array.name], part.type_of(index)
        part.calls[write] = signature(types.none, *given, part.calls[s].args[2])
        return [*made, write]

    def _reading(self, part, s):
        row, rest = self.read[s.target.name]
        name, target, made = self.rows[row], s.target, []
        value = ir.Var(self.fn.scope, name, s.loc)
        if self._is_bool(target.name):
            target = part.fresh("$truth", types.float64, s.loc)
        index = self._index(part, row, rest, made, s.loc)
        if index is not None:
            value = ir.Expr.getitem(value, index, s.loc)
        if s.target.name in self.elements:
            part.types[target.name] = types.float64
        elif index is None:
            part.types[target.name] = part.types[name]
        if index is not None:
            given = part.types[name], part.type_of(index)
            part.calls[value] = signature(part.type_of(target), *given)
        made.append(ir.Assign(value, target, s.loc))
        if self._is_bool(s.target.name):
            part.types[s.target.name] = types.boolean
            zero = part.fresh("$zero", types.float64, s.loc)
            truth = ir.Expr.binop(operator.ne, target, zero, s.loc)
            part.calls[truth] = signature(types.boolean, types.float64, types.float64)
            made.append(ir.Assign(ir.Const(0.0, s.loc), zero, s.loc))
            made.append(ir.Assign(truth, s.target, s.loc))
        return made

    def _with_number(self, part, s):
        """A statement with the number, or one that is more by a constant, as a float."""
        made, floats = [], {}
        for name in {v.name for v in read_by(s)} & self.offsets.keys():
            number, offset = ir.Var(self.fn.scope, NUMBER, s.loc), self.offsets[name]
            if offset:
                step = part.fresh("$step", types.float64, s.loc)
                made.append(ir.Assign(ir.Const(float(offset), s.loc), step, s.loc))
                added = ir.Expr.binop(operator.add, number, step, s.loc)
                part.calls[added] = signature(types.float64, types.float64, types.float64)
                number = part.fresh("$number", types.float64, s.loc)
                made.append(ir.Assign(added, number, s.loc))
            floats[name] = number
        copy = map_vars(s, lambda var: floats.get(getattr(var, "name", None), var))
        copy.target = s.target
        return [*made, self._of_floats(part, s, copy)]

    def _of_floats(self, part, s, copy):
        """A statement whose integers are floats now."""
        if is_expr(copy.value, "call") and self.fn.constant(s.value.func) is float:
            return ir.Assign(copy.value.args[0], s.target, s.loc)
        if is_expr(copy.value, "call"):
            part.calls[copy.value] = signature(types.float64, types.float64)
        elif is_expr(copy.value, "binop", "inplace_binop") and copy.value.fn in _COMPARISONS:
            part.calls[copy.value] = signature(types.boolean, types.float64, types.float64)
        elif is_expr(copy.value, "binop", "inplace_binop") and copy.value.fn in _DIVISIONS:
            part.calls[copy.value] = signature(types.float64, types.float64, types.float64)
        elif s.value in part.calls:
            part.calls[copy.value] = part.calls[s.value]
        return copy


def is_assigned(s):
    """Whether a statement gives a name a value, else it may write to memory."""
    return isinstance(s, ir.Assign)


def _key(s):
    """What a statement that reads or writes is known by, in copies of the code too; None of any other."""
    if isinstance(s, ir.SetItem):
        return s.target.name, s.index.name, s.value.name
    return s.target.name if is_assigned(s) else None
