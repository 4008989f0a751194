"""Reverse mode of `jacobian`, several rows a pass: one forward sweep and one reverse sweep for them.

The adjoints of a pass are vectors with one lane for each row. Where the types, or what the code
returns, tell the number of rows, one pass gives all of them (up to `MOST`); else passes of `UNKNOWN`
rows go on until the shape that the first one returned is covered.
"""

import math

from numba import typeof
from numba.core import types

from ..forward.dual import duals_in
from ..ir.capture import capture
from ..ir.leaves import leaves as leaves_of_type
from ..ir.sizes import returned_shapes
from ..reverse.arena import borrow
from ..reverse.cotangents import Cotangents, seed_array
from ..reverse.row_seeds import ROWS
from ..rules.registry import JVP, VJP
from . import brief, lanes
from .adjoint import AdjointSource
from .argument_structure import Branch, differentiated, leaves, mapped_type, parse, refuse_complex
from .forward_sweep import balanced
from .generated_names import indented
from .jacobian_rows import Rows
from .made_together import arrays_of
from .operator_dispatcher import original, plain_parameters
from .results import holds_numbers, plain_result

# Lanes a pass. Of unknown numbers of rows, up to 4 cost 1.1 to 1.2 times as much in a pass of 8 as in
# one of 4, and 8 or 16 take 0.6 times as long (AVX-512).
MOST = 16
UNKNOWN = 8
SMALL = 500
"""Statements of a function whose Jacobian is put in place of its call."""


_PLAIN = types.Number | types.Boolean | types.NoneType | types.Dispatcher | types.UnicodeType


def goes_together(operator, argtypes):
    """Whether the types allow several rows a pass: plain numbers, and code that is known."""
    if not ROWS.is_on() or not operator.choice.may_go_together(argtypes):
        return False
    f = original(operator.f)
    ruled = any(f in table for table in (VJP, JVP)) or hasattr(f, "numbad_pullback")
    return not ruled and not any(True for ty in argtypes for _ in duals_in(ty))


class LaneSource(AdjointSource):
    """The source of a function that calls a pullback with `n` cotangents at once."""

    def __init__(self, *args, n, **options):
        self.n = n
        super().__init__(*args, **options)
        self.namespace.update(clear=brief.clear, clear_strided=lanes.clear_strided)

    def _make_shadow(self, name, source, ty, array_type):
        if array_type.layout == "A":  # its order is known at run time only
            self.before.append(f"{name} = zeros_as({source}, {self.dtype(Cotangents(ty, self.n))})")
            self.reset.append(f"clear_strided({name})")
            return
        make = self.constant("owner", brief.owner(Cotangents(ty, self.n)))
        self.before.append(f"{name} = {make}({source})")
        self.reset.append(f"clear({name})")

    def entries(self, k):
        """As ever, but with vectors for the scalars."""
        for leaf, entry in zip(leaves(self.trees[k]), self._paths(k), strict=True):
            if leaf.kind == "array":
                yield self.shadows[id(leaf)]
            elif leaf.kind == "scalar":
                vector = lanes.as_cotangents(leaf.type, self.n)
                yield f"{self.constant('vector', vector)}({entry.source})"
            else:
                yield None


def write_rows_together(operator, typingctx, argtypes):
    """The function that returns the Jacobian; None where its rows must be made one by one."""
    arguments = [(f"arg{k}", ty) for k, ty in enumerate(argtypes)]
    result, shapes = told_by_code(operator, typingctx, argtypes)
    if not fits(result):
        return None
    number = count(parse(result, "value"), shapes) if operator.out is None else None
    n = UNKNOWN if number is None else balanced(max(number, 1), MOST)
    wrt = operator.argnums if operator.out is None else (*operator.argnums, operator.out)
    source = LaneSource(operator, typingctx, operator.f, arguments, wrt, n=n)
    for k in operator.argnums:
        name, (read, ty) = source.names[k], source.arguments[k]
        differentiated(f"nd.{operator.name}", name, read, ty)
        refuse_complex(f"nd.{operator.name}", name, source.trees[k])
    rows = RowsTogether(operator, source, shapes, number)
    parameters = plain_parameters(operator.f.py_func)
    function = source.write(f"{operator.name}_rows", parameters, rows.lines(), rows.returned())
    function.__numbad_inline__ = rows.is_small(tuple(map(explicit, argtypes)))
    return function


def known_number(operator, typingctx, argtypes):
    """The number of rows, where all of them go together and the code tells it; None else."""
    if operator.out is not None or not goes_together(operator, argtypes):
        return None
    result, shapes = told_by_code(operator, typingctx, argtypes)
    return count(parse(result, "value"), shapes) if fits(result) else None


def told_by_code(operator, typingctx, argtypes):
    """The type of the result, and the shapes of the arrays in it as far as the code tells them."""
    tys = tuple(map(explicit, argtypes))
    result = plain_result(typingctx, operator.f, tys)
    return result, {} if operator.out is not None else known_shapes(original(operator.f), tys)


def explicit(ty):
    """The type of a default, or of the user's own function."""
    if isinstance(ty, types.Omitted):
        return typeof(ty.value)
    if isinstance(ty, types.Dispatcher):
        return types.Dispatcher(original(ty.dispatcher))
    return types.unliteral(ty)


def fits(result):
    """Whether all floats of a result are plain numbers and arrays in single or double precision."""
    found = list(leaves_of_type(result))
    numbered = [leaf for leaf in leaves(parse(result, "")) if leaf.kind != "constant"]
    scalars = [getattr(leaf.type, "dtype", leaf.type) for leaf in found]
    return len(found) == len(numbered) and all(
        leaf.kind in ("scalar", "array") and scalar in (types.float32, types.float64)
        for leaf, scalar in zip(found, scalars, strict=True)
    )


def known_shapes(f, argtypes):
    """The shapes of the arrays in the result, by path, as far as the code of `f` tells them."""
    return returned_shapes(capture(f, argtypes))


def paths(tree, path=()):
    """`(path, leaf)` for every leaf."""
    if not isinstance(tree, Branch):
        yield path, tree
        return
    for k, member in enumerate(tree.members):
        yield from paths(member, (*path, k))


def count(tree, shapes):
    """How many numbers there are in a result; None where it takes a call to know."""
    total = 0
    for path, leaf in paths(tree):
        if leaf.kind == "array" and path not in shapes:
            return None
        if leaf.kind != "constant":
            total += math.prod(shapes[path]) if leaf.kind == "array" else 1
    return total


class RowsTogether(Rows):
    """The passes over the numbers of the result, `source.n` at a time."""

    root = "value"

    def __init__(self, operator, source, shapes, total):
        self.only_shapes = operator.out is None and not operator.with_value
        super().__init__(operator, source)
        source.namespace.update(put_lanes=lanes.put_lanes, put_rows=lanes.put_rows)
        self.total = total
        self.one_pass = total is not None and total <= source.n
        self.known = {id(leaf): shapes[p] for p, leaf in paths(self.result) if p in shapes}
        self.together = {}  # names of arrays that are made in one go -> sources of their shapes
        self.first, self.size = {}, {}  # of the rows of a leaf: ints, or names in the code

    def is_small(self, argtypes):
        """Whether a caller's code may as well hold the sweeps: of few statements, and of numbers alone.

        A call that takes and returns dozens of numbers through memory costs as much as a few divisions.
        """
        every = [leaf for tree in (self.result, *self.source.trees) for leaf in leaves(tree)]
        if not self.one_pass or any(leaf.kind == "array" for leaf in every):
            return False
        code = capture(original(self.operator.f), argtypes)
        return sum(1 for _ in code.statements()) <= SMALL

    def shape(self, leaf):
        """The source of the shape of an array in the result."""
        return leaf.source if self.only_shapes else f"{leaf.source}.shape"

    def _pass(self, start):
        """Lines of the pass whose first row is `start`."""
        make = lanes.row_seed(self.source.n, self.only_shapes, self.one_pass)
        seed = f"{self.source.constant('seed', make)}({start})"
        lines = [*self.source.reset]
        if self.operator.out is not None:
            self.source.namespace.update(seed_array=seed_array)
            shadow = self.source.shadows[id(self.source.trees[self.operator.out])]
            lines.append(f"seed_array({shadow}, {seed}, 0)")
        return [*lines, *self.source.call(seed)]

    def _borrow(self):
        """Lines that keep the count of references of arrays as it is, where no result can hold one."""
        given = [leaf for tree in self.source.trees for leaf in leaves(tree)]
        held = list(leaves(self.source.result)) if self.operator.with_value else []
        if not all(isinstance(leaf.type, _PLAIN | types.Array) for leaf in given) or not all(
            isinstance(leaf.type, _PLAIN) for leaf in held
        ):
            return
        self.source.namespace.update(borrow=borrow)
        arrays = [source for source, ty in self.source.arguments if isinstance(ty, types.Array)]
        self.source.before[:0] = [f"{name} = borrow({name})" for name in arrays]

    def _place_rows(self):
        """Number the rows: those of one float or array of the result follow those of the last."""
        first = 0
        for o, leaf in enumerate(self.active):
            self.first[id(leaf)] = first
            size = 1
            if leaf.kind == "array":
                size = math.prod(self.known[id(leaf)]) if id(leaf) in self.known else f"size{o}"
            if isinstance(size, str):
                self.setup.append(f"{size} = {self._product(leaf)}")
            self.size[id(leaf)] = size
            if isinstance(first, int) and isinstance(size, int):
                first += size
            else:
                self.setup.append(f"first{o + 1} = {first} + {size}")
                first = f"first{o + 1}"
        self.setup.append(f"total = {first}")

    def _product(self, leaf):
        ndim = leaf.type.ndim
        return " * ".join(f"{self.shape(leaf)}[{d}]" for d in range(ndim)) or "1"

    def _zeros(self, out, leaf):
        made = super()._zeros(out, leaf)
        return made if out.kind == "constant" else made.replace("np.zeros(", "np.empty(")

    def _is_row(self, out, k):
        """Whether the derivative of a number by an argument is one lane of what comes back for it."""
        tree = self.source.trees[k]
        plain = all(leaf.kind == "scalar" for leaf in leaves(tree))
        return self.one_pass and out.kind == "scalar" and plain

    def _make(self, name, out, leaf):
        """As ever, but for arrays that are made in one go."""
        shape = self._shape_of(out, leaf)
        alike = self._scalar(out, leaf) == types.float64 and out.kind != "constant"
        if shape and alike and self.one_pass:
            self.together[name] = shape
        else:
            super()._make(name, out, leaf)

    def _allocate(self):
        self._name_all()
        if self.together:
            self.source.namespace.update(arrays_of=arrays_of)
            names, shapes = (", ".join(both) for both in (self.together, self.together.values()))
            self.setup.append(f"{names}, = arrays_of(({shapes},))")

    def _name_all(self):
        for o, out in enumerate(self.outs):
            for k in self.operator.argnums if holds_numbers(out) else ():
                if self._is_row(out, k):
                    self.entries[id(out), k] = f"J{o}_{k}"
                else:
                    self._allocate_leaves(o, out, k)

    def _by(self, out, k):
        return self.entries.get((id(out), k)) or super()._by(out, k)

    def _row(self, out, k):
        """The line that takes the lane of a number out of the adjoint of an argument."""
        tree, scalar = self.source.trees[k], self._scalar(out, None)
        ty = mapped_type(tree, lambda leaf: scalar)
        take = self.source.constant("lane", lanes.lane_of(ty, self.first[id(out)]))
        name, place = self.entries[id(out), k], self.source.places[k]
        return f"{name} = {take}(adjoints[{place}])"

    def _collect(self, start):
        """Lines that take the rows of a pass out of the cotangents of the arguments."""
        for out in self.active:
            row = f"{start} - {self.first[id(out)]}"
            for k in self.operator.argnums:
                if (id(out), k) in self.entries:
                    yield self._row(out, k)
                    continue
                for leaf, entry in zip(
                    leaves(self.source.trees[k]), self.source.entries(k), strict=True
                ):
                    if leaf.kind != "constant":
                        yield self._taken(self.entries[id(out), id(leaf)], out, leaf, entry, row)

    def _taken(self, name, out, leaf, entry, row):
        size = self.size[id(out)]
        if leaf.kind == "array":
            return f"put_rows({name}, {size}, {row}, {entry})"
        if out.kind == "array":
            return f"put_lanes({name}, {size}, 1, {row}, 0, {entry})"
        lane, scalar = f"-({row})", self._scalar(out, leaf)
        found = self.source.constant("lanes", lanes.as_lanes(self.source.n))
        line = f"{name} = {self.source.cast(f'{found}({entry})[{lane}]', scalar)}"
        return f"if 0 <= {lane} < {self.source.n}:\n    {line}"

    def lines(self):
        keep, put = ([], []) if self.one_pass else self._put_back()
        first_pass = self._pass(0)
        self._place_rows()
        self._allocate()
        self._borrow()
        lines = [*keep, *first_pass, *self.setup, *self._collect(0)]
        if not self.one_pass:
            body = [*put, *self._pass("start"), *self._collect("start")]
            lines.append(f"for start in range({self.source.n}, total, {self.source.n}):")
            lines += [indented(line) for line in body]
        return lines
