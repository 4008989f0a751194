"""Forward passes whose partials are the colours of a sparse Jacobian's columns.

The generated function takes a plan before the arguments of `f`: `colours`, one for each number of the
differentiated arguments; `starts`, where each row of the matrix starts among what is read; `slots`, the
colours to read in the row, or, where one pass is enough, their places among the numbers of all rows'
duals (`places`); `memory`, bytes for arrays of duals, which are used as far as they go; `given`, an
array that the entries go into, where it is of their number and type. It
returns `(data, rows, columns, needed)`: what is read; how many rows and columns the matrix should have
(where that is not what the plan says, the data are not set); and how many bytes would be of use. Memory
that is fresh from the system for every call costs more than the passes.
"""

from functools import reduce

import numpy as np
from numba.core import types
from numba.extending import overload, register_jitable

from ..forward.access import partial, unit
from ..forward.dual import Dual, join
from ..source import define
from . import runtime
from .argument_structure import leaves, refuse_complex
from .dual_memory import as_numbers, duals_in
from .forward_sweep import CHUNK, ForwardSweep, balanced
from .generated_names import indented
from .jacobian_operator import Jacobian
from .operator_dispatcher import parameter_names, plain_parameters
from .results import holds_numbers, numeric_result, refuse_returned

PLAN = "colours", "starts", "slots", "memory", "given"


def partials_for(number, most=None):
    """Partials a pass for this many colours, at most `most`, and whether one pass is enough.

    Just as many as are needed, though 8 would do for 6 as far as vectors go: arrays of duals that
    stay in a cache are worth more. For 20,000 numbers and 6 colours, a pass takes half the time.
    """
    most = most or CHUNK
    return balanced(max(number, 1), most), number <= most


def places(starts, slots, n):
    """Where the partials of the entries lie, in the memory of one dual number a row."""
    rows = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    found = rows * (n + 1) + 1 + slots
    return found.astype(np.int32 if found.max(initial=0) < 2**31 else np.int64)


class Compressed(Jacobian):
    """What is read of a sparse Jacobian, in either mode."""

    has_pullback = False

    def __init__(self, f, argnums, *, mode, n=None, one_pass=False, out=None):
        options = {"mode": mode, "chunk": n, "out": out}
        super().__init__(f, argnums, name="jacobian", scalar=False, value=False, **options)
        self.one_pass = one_pass

    def key(self):
        return "compressed", *super().key(), self.one_pass

    def parameters(self):
        given, namespace = super().parameters()
        return ", ".join((*(f"plan_{name}" for name in PLAN), given)), namespace

    def given(self, args):
        return args[len(PLAN) :]

    def types_of_f(self, argtypes):
        return super().types_of_f(argtypes[len(PLAN) :])


class ForwardCompressed(Compressed):
    """`n` colours of columns a pass."""

    def __init__(self, f, argnums, **options):
        super().__init__(f, argnums, mode="forward", **options)

    def generate(self, typingctx, argtypes):
        sweep = CompressedSweep(self, typingctx, tuple(argtypes)[len(PLAN) :])
        for k, tree in sweep.trees.items():
            refuse_complex("nd.jacobian", sweep.names[k], tree)
        tree = sweep.run()
        if self.out is None:
            tree = numeric_result(self, tree)
        else:
            refuse_returned(self, tree)
            tree = sweep.result_in(self.out)
        return sweep.write_entries([leaf for leaf in leaves(tree) if holds_numbers(leaf)])


class CompressedSweep(ForwardSweep):
    """A sweep that seeds by colours, and collects the entries of a pattern."""

    def __init__(self, operator, typingctx, argtypes):
        super().__init__(operator, typingctx, argtypes, parameter_names(operator.f.py_func))
        self.namespace.update(_NOPYTHON)

    def _number(self):
        super()._number()
        self.one_pass, self.n = self.operator.one_pass, self.operator.chunk
        self.first = {}  # id of a leaf -> source of its first column
        column = "0"
        for j, leaf in enumerate(x for t in self.trees.values() for x in leaves(t)):
            if leaf.kind != "constant":
                self.first[id(leaf)] = f"column{j}"
                self.before.append(f"column{j} = {column}")
                column = f"column{j} + {size_of(leaf)}"
        self.before += [f"columns = {column}", "needed = start = 0"]

    def new_duals(self, source, ty):
        """Contiguous arrays take the memory given, one after the other."""
        if ty.layout != "C":
            return super().new_duals(source, ty)
        take = self.constant("take_memory", duals_in(self.dual(ty.dtype)))
        self.before.append(f"mine, needed = {take}({source}, memory, needed)")
        return "mine"

    def place(self, leaf):
        return f"colours[{self.first[id(leaf)]}] - start"

    def _set_up_arrays(self, changed):
        for leaf in self.arrays:
            k, a = leaf.number, leaf.source
            self.before += [
                f"dual{k} = {self.new_duals(a, leaf.type)}",
                f"flat{k} = {runtime.flat(f'dual{k}', leaf.type)}",
            ]
            colours = f"colours, {self.first[id(leaf)]}, start"
            self.prepare.append(
                f"load_coloured(flat{k}, {runtime.flat(a, leaf.type)}, {colours}, "
                f"{self.n}, {self.tag})"
            )
            if k in changed:
                self.after.append(runtime.stored(a, f"dual{k}", leaf.type))

    def write_entries(self, results):
        """The function that returns the entries, and the shape that the matrix should have."""
        row = "0"
        for o, leaf in enumerate(results):
            self.collect.append(f"row{o} = {row}")
            row = f"row{o} + {size_of(leaf)}"
        self.collect.append(f"rows = {row}")
        self.collect.append("if rows != starts.size - 1:\n    return data, rows, columns, needed")
        for o, leaf in enumerate(results):
            if self.is_active(leaf):
                source = leaf.source
                if leaf.kind == "array":
                    source = runtime.flat(source, leaf.type)
                whole = "take_all" if self.one_pass else "take_some"
                self.collect.append(
                    f"{whole}_{leaf.kind}(data, starts, slots, row{o}, {source}, start, {self.n})"
                )
        every = self.one_pass and all(map(self.is_active, results))
        scalars = [self.value_scalar(leaf) for leaf in results]
        dtype = self.dtype(entry_type(self.typingctx, scalars))
        return self._written(f"data = entries_in(given, slots.size, {dtype}, {every})")

    def _written(self, allocate):
        body = [*self.prepare, f"r = {self.call_source}", *self.collect]
        if not self.one_pass:
            body = [indented(line) for line in body]
            body.insert(0, f"for start in range(0, most_colours(colours), {self.n}):")
            body.insert(0, "rows = 0")
        checks = "if columns != colours.size:\n    return data, -1, columns, needed"
        numbers, rest = self.before, [checks]
        lines = [allocate, *_columns_first(numbers, rest), *body, *self.after]
        text = "\n".join(indented(line) for line in [*lines, "return data, rows, columns, needed"])
        parameters = f"{', '.join(PLAN)}, {plain_parameters(self.operator.f.py_func)}"
        return define(f"def jacobian_entries({parameters}):\n{text}\n", self.namespace)


def entry_type(typingctx, scalars):
    """The scalar type of the entries, for those of the result."""
    found = [ty for ty in scalars if isinstance(ty, types.Float | types.Complex | Dual)]
    return reduce(lambda a, b: join(typingctx, a, b), found or [types.float64])


def _columns_first(lines, checks):
    """The numbering of the columns and its check, before anything reads a colour."""
    end = lines.index("needed = start = 0") + 1
    return [*lines[:end], *checks, *lines[end:]]


def size_of(leaf):
    """Source of how many numbers a leaf holds."""
    return f"{leaf.source}.size" if isinstance(leaf.type, types.Array) else "1"


def load_coloured(flat, values, colours, first, start, n, tag):
    """Dual numbers from values: the partial of its colour is one, if it is in this pass."""
    raise NotImplementedError


@overload(load_coloured, prefer_literal=True)
def _load_coloured(flat, values, colours, first, start, n, tag):
    count, level = n.literal_value, tag.literal_value

    def load(flat, values, colours, first, start, n, tag):
        for k in range(len(values)):
            flat[k] = unit(values[k], colours[first + k] - start, count, level)

    return load


def entries_in(given, size, dtype, every):
    """An array for entries: the one given, or a new one; of zeros unless `every` one will be set."""
    raise NotImplementedError


@overload(entries_in)
def _entries_in(given, size, dtype, every):
    if given.dtype != dtype.dtype:
        return lambda given, size, dtype, every: np.zeros(size, dtype)

    def entries(given, size, dtype, every):
        data = given if given.size == size else np.empty(size, dtype)
        if not every:
            data[:] = 0
        return data

    return entries


@register_jitable
def most_colours(colours):
    """How many colours there are; one at least, so that the function is called."""
    return colours.max() + 1 if colours.size > 0 else 1


@register_jitable
def take_all_scalar(data, starts, places, row, result, start, n):
    """The entries of a row, all of whose colours are in this pass."""
    for p in range(starts[row], starts[row + 1]):
        data[p] = partial(result, places[p] - row * (n + 1) - 1)


def take_all_array(data, starts, places, row, flat, start, n):
    """The same of the rows of an array."""
    raise NotImplementedError


@overload(take_all_array)
def _take_all_array(data, starts, places, row, flat, start, n):
    contiguous = isinstance(flat, types.Array) and flat.layout == "C"
    if contiguous and flat.dtype.scalar == data.dtype and isinstance(data.dtype, types.Float):

        def take(data, starts, places, row, flat, start, n):
            numbers = as_numbers(flat)
            before = np.uint64(row * (n + 1))
            for p in range(starts[row], starts[row + len(flat)]):
                data[p] = numbers[np.uint64(places[p]) - before]  # unsigned: counts from no end

    else:

        def take(data, starts, places, row, flat, start, n):
            for k in range(len(flat)):
                take_all_scalar(data, starts, places, row + k, flat[k], start, n)

    return take


def takes_some(read):
    """Nopython functions that take what a pass of `n` colours tells of a line, and of those of an array.

    `read(number, k)` is what the pass has for its colour `k` in the number of a line.
    """

    @register_jitable
    def take_scalar(data, starts, slots, line, number, start, n):
        for p in range(starts[line], starts[line + 1]):
            slot = slots[p] - start
            if 0 <= slot < n:
                data[p] = read(number, slot)

    @register_jitable
    def take_array(data, starts, slots, line, flat, start, n):
        for k in range(len(flat)):
            take_scalar(data, starts, slots, line + k, flat[k], start, n)

    return take_scalar, take_array


take_some_scalar, take_some_array = takes_some(partial)

_NOPYTHON = {
    "entries_in": entries_in,
    "load_coloured": load_coloured,
    "most_colours": most_colours,
    "take_all_scalar": take_all_scalar,
    "take_some_scalar": take_some_scalar,
    "take_all_array": take_all_array,
    "take_some_array": take_some_array,
}
