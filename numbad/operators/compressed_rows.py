"""Reverse passes whose seeds are the colours of a sparse Jacobian's rows.

The generated function takes and returns what that of `compressed.py` does, with the parts of rows and
columns exchanged: `colours` has one for each number of the result, lines are columns.
"""

import numpy as np
from numba.extending import register_jitable

from .argument_structure import leaves, refuse_complex
from .compressed import PLAN, Compressed, entries_in, entry_type, most_colours, size_of, takes_some
from .generated_names import indented
from .jacobian_rows import Rows
from .operator_dispatcher import plain_parameters
from .results import holds_numbers, scalar_of
from .reverse_gradient import adjoint_of_arguments
from .runtime import flat


class ReverseCompressed(Compressed):
    """One colour of rows a pass."""

    def __init__(self, f, argnums, *, out=None):
        super().__init__(f, argnums, mode="reverse", out=out)

    def generate(self, typingctx, argtypes):
        wrt = self.argnums if self.out is None else (*self.argnums, self.out)
        source = adjoint_of_arguments(self, typingctx, tuple(argtypes)[len(PLAN) :], wrt)
        for k in self.argnums:
            refuse_complex("nd.jacobian", source.names[k], source.trees[k])
        rows = CompressedRows(self, source)
        parameters = f"{', '.join(PLAN)}, {plain_parameters(self.f.py_func)}"
        lines = rows.lines()
        return source.write("jacobian_entries", parameters, lines, "data, rows, columns, 0")


class CompressedRows(Rows):
    """The loop over the colours of the rows."""

    def __init__(self, operator, source):
        super().__init__(operator, source)
        source.namespace.update(_NOPYTHON)
        self.columns = []  # lines that number the columns
        self.first = {}  # id of a leaf of an argument -> source of its first column

    def _number_columns(self):
        column = "0"
        found = [x for k in self.operator.argnums for x in leaves(self.source.trees[k])]
        for j, leaf in enumerate(found):
            if leaf.kind != "constant":
                self.first[id(leaf)] = f"column{j}"
                self.columns.append(f"column{j} = {column}")
                column = f"column{j} + {size_of(leaf)}"
        self.columns.append(f"columns = {column}")

    def _place_rows(self):
        """Number the rows, of ints as well."""
        first = "0"
        for o, leaf in enumerate(self.outs):
            if holds_numbers(leaf):
                self.setup.append(f"first{o} = {first}")
                first = f"first{o} + {size_of(leaf)}"
                if leaf.kind != "constant":
                    self._seed(o, leaf)
        self.setup.append(f"rows = {first}")

    def _is_seeded(self, o):
        return f"colours[first{o}] == colour"

    def _seed_array(self, flat, o):
        return f"seed_coloured({flat}, colours, first{o}, colour)"

    def _collect(self):
        """Lines that take the entries of the rows of a colour out of the cotangents of the arguments."""
        for k in self.operator.argnums:
            for leaf, entry in zip(
                leaves(self.source.trees[k]), self.source.entries(k), strict=True
            ):
                if leaf.kind == "array":
                    entry = flat(entry, leaf.type)
                if leaf.kind != "constant":
                    column = self.first[id(leaf)]
                    yield f"take_{leaf.kind}(data, starts, slots, {column}, {entry}, colour, 1)"

    def _data(self):
        """The line that makes the array of entries."""
        scalars = [self.source.scalar(scalar_of(leaf)) for leaf in self.active]
        dtype = self.source.dtype(entry_type(self.source.typingctx, scalars))
        return f"data = entries_in(given, slots.size, {dtype}, False)"

    def lines(self):
        keep, put = self._put_back()
        self._number_columns()
        self._place_rows()
        seed = self.source.seed(lambda leaf: self.seeds[self._numbered(leaf)])
        body = [*put, *self.source.reset, *self.source.call(seed), *self._collect()]
        return [
            self._data(),
            *self.columns,
            "if columns != starts.size - 1:\n    return data, -1, columns, 0",
            *keep,
            *([self._first_call()] if self.operator.out is None else []),
            *self.setup,
            "if rows != colours.size:\n    return data, rows, columns, 0",
            "for colour in range(most_colours(colours)):",
            *(indented(line) for line in body),
        ]


@register_jitable
def seed_coloured(flat, colours, first, colour):
    """Set those elements of a flat array of zeros to one that have a colour."""
    for k in range(len(flat)):
        if colours[first + k] == colour:
            flat[k] = 1.0


@register_jitable
def whole(number, colour):
    """What a pass of one colour has for it: the cotangent itself."""
    return number


take_scalar, take_array = takes_some(whole)

_NOPYTHON = {
    "entries_in": entries_in,
    "most_colours": most_colours,
    "np": np,
    "seed_coloured": seed_coloured,
    "take_array": take_array,
    "take_scalar": take_scalar,
}
