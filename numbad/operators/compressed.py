"""Forward passes whose partials are the colours of a sparse Jacobian's columns.

The generated function takes a plan before the arguments of `f`: `colours`, one for each number of the
differentiated arguments; `starts`, where each row of the matrix starts among its entries; `slots`, the
colour of each entry's column. It returns `(data, rows, columns)`: the entries, and how many rows and
columns the matrix should have, where that is not what the plan says the data are not set.
"""

from functools import reduce

from numba.core import types
from numba.extending import overload, register_jitable

from ..forward.access import partial, unit
from ..forward.dual import Dual, join
from ..source import define
from . import runtime
from .dispatcher import parameter_names, plain_parameters
from .jacobian import Jacobian
from .results import holds_numbers, numeric_result
from .structure import leaves, refuse_complex
from .sweep import CHUNK, Sweep, balanced
from .writing import indented

PLAN = "colours", "starts", "slots"


def partials_for(number):
    """Partials a pass for this many colours, and whether one pass is enough.

    Numbers that are no power of two get the next multiple of four, which vectors take as well.
    """
    n = balanced(max(number, 1), CHUNK)
    return (n if n <= 2 else -(-n // 4) * 4), number <= CHUNK


class ForwardCompressed(Jacobian):
    """The entries of a sparse Jacobian, `n` colours of columns a pass."""

    def __init__(self, f, argnums, *, n, one_pass, out=None):
        super().__init__(
            f,
            argnums,
            name="jacobian",
            scalar=False,
            value=False,
            mode="forward",
            chunk=n,
            out=out,
        )
        self.one_pass = one_pass

    def key(self):
        return "compressed", *super().key(), self.one_pass

    def parameters(self):
        given, namespace = super().parameters()
        return ", ".join((*(f"plan_{name}" for name in PLAN), given)), namespace

    def types_of_f(self, argtypes):
        return super().types_of_f(argtypes[len(PLAN) :])

    def generate(self, typingctx, argtypes):
        sweep = CompressedSweep(self, typingctx, tuple(argtypes)[len(PLAN) :])
        for k, tree in sweep.trees.items():
            refuse_complex("nd.jacobian", sweep.names[k], tree)
        tree = sweep.run()
        tree = numeric_result(self, tree) if self.out is None else sweep.result_in(self.out)
        return sweep.write_entries([leaf for leaf in leaves(tree) if holds_numbers(leaf)])


class CompressedSweep(Sweep):
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
                column = f"column{j} + {_size(leaf)}"
        self.before += [f"columns = {column}", "start = 0"]

    def place(self, leaf):
        return f"colours[{self.first[id(leaf)]}] - start"

    def _set_up_arrays(self, changed):
        for leaf in self.arrays:
            k, a = leaf.number, leaf.source
            self.before += [
                f"dual{k} = empty_as({a}, {self.dtype(self.dual(leaf.type.dtype))})",
                f"flat{k} = {runtime.flat(f'dual{k}', leaf.type)}",
            ]
            colours = f"colours, {self.first[id(leaf)]}, start"
            self.prepare.append(
                f"load_coloured(flat{k}, {runtime.flat(a, leaf.type)}, {colours}, "
                f"{self.n}, {self.tag})"
            )
            if k in changed:
                self.after.append(f"store({a}, dual{k})")

    def _scalar(self, results):
        """The scalar type of the entries."""
        found = [self.value_scalar(leaf) for leaf in results]
        found = [ty for ty in found if isinstance(ty, types.Float | types.Complex | Dual)]
        return reduce(lambda a, b: join(self.typingctx, a, b), found or [types.float64])

    def write_entries(self, results):
        """The function that returns the entries, and the shape that the matrix should have."""
        row = "0"
        for o, leaf in enumerate(results):
            self.collect.append(f"row{o} = {row}")
            row = f"row{o} + {_size(leaf)}"
        self.collect.append(f"rows = {row}")
        self.collect.append("if rows != starts.size - 1:\n    return data, rows, columns")
        for o, leaf in enumerate(results):
            if self.is_active(leaf):
                source = leaf.source
                if leaf.kind == "array":
                    source = runtime.flat(source, leaf.type)
                whole = "take_all" if self.one_pass else "take_some"
                self.collect.append(
                    f"{whole}_{leaf.kind}(data, starts, slots, row{o}, {source}, start, {self.n})"
                )
        return self._written(f"data = np.zeros(slots.size, {self.dtype(self._scalar(results))})")

    def _written(self, allocate):
        body = [*self.prepare, f"r = {self.call_source}", *self.collect]
        if not self.one_pass:
            body = [indented(line) for line in body]
            body.insert(0, f"for start in range(0, most_colours(colours), {self.n}):")
            body.insert(0, "rows = 0")
        checks = "if columns != colours.size:\n    return data, -1, columns"
        numbers, rest = self.before, [checks]
        lines = [allocate, *_columns_first(numbers, rest), *body, *self.after]
        text = "\n".join(indented(line) for line in [*lines, "return data, rows, columns"])
        parameters = f"{', '.join(PLAN)}, {plain_parameters(self.operator.f.py_func)}"
        return define(f"def jacobian_entries({parameters}):\n{text}\n", self.namespace)


def _columns_first(lines, checks):
    """The numbering of the columns and its check, before anything reads a colour."""
    end = lines.index("start = 0") + 1
    return [*lines[:end], *checks, *lines[end:]]


def _size(leaf):
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


@register_jitable
def most_colours(colours):
    """How many colours there are; one at least, so that the function is called."""
    return colours.max() + 1 if colours.size > 0 else 1


@register_jitable
def take_all_scalar(data, starts, slots, row, result, start, n):
    """The entries of a row, all of whose colours are in this pass."""
    for p in range(starts[row], starts[row + 1]):
        data[p] = partial(result, slots[p])


@register_jitable
def take_some_scalar(data, starts, slots, row, result, start, n):
    """The entries of a row whose colours are in this pass."""
    for p in range(starts[row], starts[row + 1]):
        slot = slots[p] - start
        if 0 <= slot < n:
            data[p] = partial(result, slot)


@register_jitable
def take_all_array(data, starts, slots, row, flat, start, n):
    """The same of the rows of an array."""
    for k in range(len(flat)):
        take_all_scalar(data, starts, slots, row + k, flat[k], start, n)


@register_jitable
def take_some_array(data, starts, slots, row, flat, start, n):
    """The same of the rows of an array."""
    for k in range(len(flat)):
        take_some_scalar(data, starts, slots, row + k, flat[k], start, n)


_NOPYTHON = {
    "load_coloured": load_coloured,
    "most_colours": most_colours,
    "take_all_scalar": take_all_scalar,
    "take_some_scalar": take_some_scalar,
    "take_all_array": take_all_array,
    "take_some_array": take_some_array,
}
