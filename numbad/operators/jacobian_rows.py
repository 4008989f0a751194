"""Reverse mode of `jacobian`: one call of the pullback for every number of the result.

A first call of the function tells the shape of the result. What the function changes, and the random
numbers that it draws, are put back before every further call.
"""

from numba.core import types

from ..errors import ArgumentError, UnsupportedError
from ..forward.dual import Dual, base_scalar
from ..forward.dualize import replacement
from ..ir.unwind import freeing
from ..reverse import random_state
from . import runtime
from .argument_structure import ArgumentLeaf, leaves, parse, refuse_complex, render
from .describe import users_name
from .drawing_arguments import cannot_draw_again, draws_from
from .generated_names import indented
from .operator_dispatcher import plain_parameters, starred
from .results import holds_numbers, numeric_result, refuse_returned, scalar_of
from .reverse_gradient import adjoint_of_arguments, in_tuple

_UNCHANGING = types.Number | types.Boolean | Dual | types.Dispatcher | types.UnicodeType


def write_rows(operator, typingctx, argtypes):
    """The function that returns the Jacobian, and the value where it is asked for."""
    wrt = operator.argnums if operator.out is None else (*operator.argnums, operator.out)
    source = adjoint_of_arguments(operator, typingctx, argtypes, wrt)
    for k in operator.argnums:
        refuse_complex(f"nd.{operator.name}", source.names[k], source.trees[k])
    rows = Rows(operator, source)
    parameters = plain_parameters(operator.f.py_func)
    return source.write(f"{operator.name}_rows", parameters, rows.lines(), rows.returned())


class Rows:
    """The loop over the numbers of the result."""

    root = "first"  # what generated code calls the result

    def __init__(self, operator, source):
        self.operator, self.source = operator, source
        source.namespace.update(unit_at=runtime.unit_at, put_row=runtime.put_row)
        self.result = self._result()
        self.outs = list(leaves(self.result))
        self.active = [leaf for leaf in self.outs if leaf.kind != "constant"]
        for leaf in self.active:
            if isinstance(base_scalar(scalar_of(leaf)), types.Complex):
                raise UnsupportedError(
                    f"nd.{operator.name}: reverse mode has no Jacobian of the complex result of "
                    f'{users_name(operator.f)}; use mode="forward"'
                )
        self.entries = {}  # (result leaf, argument leaf) -> the name of the derivative
        self.setup, self.seeds, self.collect = [], {}, []

    def _result(self):
        """The structure of the result, read from the first call."""
        operator, source = self.operator, self.source
        if operator.out is None:
            return parse(numeric_result(operator, source.result).type, self.root)
        k = operator.out
        if not isinstance(source.trees[k], ArgumentLeaf) or source.trees[k].kind != "array":
            raise ArgumentError(
                f"nd.{operator.name}: out={k} names '{source.names[k]}', which is no array of floats"
            )
        refuse_returned(operator, source.result)
        leaf = source.trees[k]
        return parse(leaf.type, source.primal(k))

    # -- before the loop ---------------------------------------------------------------------

    def _first_call(self):
        """Call the function itself, on dual numbers where there are any."""
        source, f = self.source, self.operator.f
        star, arguments = starred(f.py_func), []
        for k, (_, ty) in enumerate(source.arguments):
            argument = source.primal(k)
            if isinstance(ty, types.Dispatcher) and source.common is not None:
                argument = source.constant("function", replacement(ty.dispatcher))
            arguments.append(f"*{argument}" if k == star else argument)
        source.namespace["f"] = freeing(f) if source.common is None else replacement(f)
        return f"first = f({', '.join(arguments)})"

    def _put_back(self):
        """Lines that keep what the function changes, and lines that put it back."""
        keep, put = [], []
        if draws_from(ty for _, ty in self.source.arguments):
            name, often = users_name(self.operator.f), "once for every number of its result"
            raise UnsupportedError(cannot_draw_again(self.operator.name, name, often))
        done = self.source.effects.cautious()
        if done.random:
            self.source.namespace.update(random_state.NAMES)
            keep += ["drawn = np.empty(RANDOM_SIZE, uint8)", "save_random(drawn)"]
            put.append("restore_random(drawn)")
        for k in sorted(done.changed):
            tree = self.source.trees[k] if k < len(self.source.trees) else None
            for leaf in leaves(tree) if tree else ():
                if isinstance(leaf.type, types.Array):
                    name = f"kept{len(keep)}"
                    read = self.source.raised.get(id(leaf), leaf.source)
                    keep.append(f"{name} = {read}.copy()")
                    put.append(f"{read}[...] = {name}")
                elif not isinstance(leaf.type, _UNCHANGING | types.NoneType):
                    self._refuse_repetition(k, leaf.type)
        return keep, put

    def _refuse_repetition(self, k, ty):
        name = users_name(self.operator.f)
        raise UnsupportedError(
            f"nd.{self.operator.name} calls {name} once for every number of its result, but it may "
            f"change its argument '{self.source.names[k]}' ({ty}) at every call. Way out: keep what "
            "it changes in arrays passed as arguments of their own"
        )

    def _place_rows(self):
        """Number the rows: those of one float or array of the result follow those of the last."""
        first = "0"
        for o, leaf in enumerate(self.active):
            self.setup.append(f"first{o} = {first}")
            size = f"{leaf.source}.size" if leaf.kind == "array" else "1"
            first = f"first{o} + {size}"
            self._seed(o, leaf)
        self.setup.append(f"total = {first}")

    def _seed(self, o, leaf):
        source, ty = self.source, self.source.scalar(scalar_of(leaf))
        if leaf.kind == "scalar":
            self.seeds[id(leaf)] = source.cast(f"(1.0 if {self._is_seeded(o)} else 0.0)", ty)
            return
        if self.operator.out is not None:
            name = source.shadows[id(source.trees[self.operator.out])]
        else:
            name = self.seeds[id(leaf)] = f"seed{o}"
            self.setup.append(f"{name} = np.zeros({leaf.source}.shape, {source.dtype(ty)})")
            source.reset.append(f"fill_zero({name})")
        source.reset.append(self._seed_array(f"{name}.flat", o))

    def _is_seeded(self, o):
        """Source of whether the pass is one of the number that is leaf `o` of the result."""
        return f"row == first{o}"

    def _seed_array(self, flat, o):
        """The line that sets the seed of array `o` of the result, which is zero before."""
        return f"unit_at({flat}, row - first{o})"

    # -- the derivatives ---------------------------------------------------------------------

    def _allocate(self):
        for o, out in enumerate(self.outs):
            for k in self.operator.argnums if holds_numbers(out) else ():
                self._allocate_leaves(o, out, k)

    def _allocate_leaves(self, o, out, k):
        """A name and zeros for the derivative of a leaf of the result by each leaf of an argument."""
        for i, leaf in enumerate(leaves(self.source.trees[k])):
            if leaf.kind != "constant":
                name = self.entries[id(out), id(leaf)] = f"J{o}_{k}_{i}"
                self._make(name, out, leaf)

    def _make(self, name, out, leaf):
        """Set up where a derivative is put."""
        self.setup.append(f"{name} = {self._zeros(out, leaf)}")

    def shape(self, leaf):
        """The source of the shape of an array in the result."""
        return f"{leaf.source}.shape"

    def _scalar(self, out, leaf):
        """The scalar type of a derivative: the result's, where that is a float."""
        return self.source.scalar(scalar_of(leaf if out.kind == "constant" else out))

    def _zeros(self, out, leaf):
        scalar, shape = self._scalar(out, leaf), self._shape_of(out, leaf)
        if not shape:
            return self.source.zero(scalar)
        return f"np.zeros({shape}, {self.source.dtype(scalar)})"

    def _shape_of(self, out, leaf):
        """The source of the shape of a derivative; empty for a number."""
        shapes = [self.shape(out)] if isinstance(out.type, types.Array) else []
        shapes += [f"{leaf.source}.shape"] if leaf.kind == "array" else []
        return " + ".join(shapes)

    def _collect(self):
        """Lines that file the cotangents of the arguments under the row that they belong to."""
        for o, out in enumerate(self.active):
            lines = []
            for k in self.operator.argnums:
                for leaf, entry in zip(
                    leaves(self.source.trees[k]), self.source.entries(k), strict=True
                ):
                    if leaf.kind != "constant":
                        name = self.entries[id(out), id(leaf)]
                        lines.append(self._file(name, out, leaf, entry, f"row - first{o}"))
            size = f"{out.source}.size" if out.kind == "array" else "1"
            yield f"if first{o} <= row < first{o} + {size}:"
            yield from (indented(line) for line in lines)

    def _file(self, name, out, leaf, entry, row):
        if leaf.kind == "array":
            rows = f"{out.source}.size" if out.kind == "array" else "1"
            return f"put_row({name}.reshape(({rows}, {leaf.source}.size)), {row}, {entry})"
        entry = self.source.cast(entry, self._scalar(out, leaf))
        if out.kind == "array":
            return f"{name}.reshape({name}.size)[{row}] = {entry}"
        return f"{name} = {entry}"

    # -- all together ------------------------------------------------------------------------

    def lines(self):
        keep, put = self._put_back()
        self._place_rows()
        self._allocate()
        seed = self.source.seed(lambda leaf: self.seeds[self._numbered(leaf)])
        body = [*put, *self.source.reset, *self.source.call(seed), *self._collect()]
        loop = ["for row in range(total):", *(indented(line) for line in body)]
        return [*keep, self._first_call(), *self.setup, *loop]

    def _numbered(self, leaf):
        """The key of the leaf of `first` that a leaf of `value` is the same as."""
        place = [id(x) for x in leaves(self.source.result)].index(id(leaf))
        return id(self.outs[place])

    def returned(self):
        def source(out):
            if not holds_numbers(out):
                return "None"
            return in_tuple(self.operator, [self._by(out, k) for k in self.operator.argnums])

        derivative = render(self.result, source, self.source.namespace)
        if not self.operator.with_value:
            return derivative
        if self.operator.out is None:
            return f"{self.root}, {derivative}"
        return f"{self.result.source}.copy(), {derivative}"

    def _by(self, out, k):
        """Source of the derivative of a leaf of the result by argument `k`."""

        def source(leaf):
            if leaf.kind == "constant":
                return self.source.constant_zero(leaf)
            return self.entries[id(out), id(leaf)]

        return render(self.source.trees[k], source, self.source.namespace)
