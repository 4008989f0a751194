"""Writes the forward sweep shared by `grad` and `jacobian`: seed, call, collect, in chunks.

All scalars that the function is differentiated by travel in one pass where there are few of them;
with arrays among the arguments, or more scalars, the inputs are numbered (scalars first) and passes
of `chunk` partials cover them.
"""

from dataclasses import dataclass, field

import numpy as np
from numba.core import types

from ..errors import ArgumentError, UnsupportedError
from ..forward import access
from ..forward.dual import Dual, base_scalar, with_base
from ..forward.dualize import replacement
from ..forward.layout import empty_as
from ..forward.promote import effects
from ..reverse import random_state
from ..source import define
from . import overlap, runtime
from .argument_structure import differentiated, leaves, level_of, mapped_type, parse, render
from .describe import is_differentiable, users_name
from .drawing_arguments import cannot_draw_again, draws_from
from .generated_names import Writer, indented
from .operator_dispatcher import plain_parameters, starred
from .results import call_type, holds_numbers
from .written_arguments import WrittenArguments, has_stand_in, is_put_back, telling_of_collections

# Partials a pass. On Lotka-Volterra with 32 inputs, passes of 8, 16 and 32 cost 1, 0.56 and 0.40
# (AVX-512), while 6 inputs in a pass of 16 cost a tenth more than in one of 8. Below another
# operator every partial is a dual number itself: code and compile time grow with the product.
CHUNK = 16
# An array's size is known at run time alone, and most parameter arrays are short. Jacobian and Hessian
# in passes of 16 over those in passes of 8, n inputs (AVX2; AVX-512 alike):
#
#     n                                          4          8         16         32         64
#     200 bells by an array of parameters    1.7; 1.5   1.9; -     1.3; -     1.4; -
#     Lotka-Volterra, 300 Euler steps        2.1; 1.8   2.4; 1.8   2.0; 0.9   2.1; 0.9
#     a map with a sine for each input       1.1; -     1.2; -     0.7; -     0.6; -     0.5; -
#     Rosenbrock's function                  - ; 1.3    - ; 1.4    - ; 1.0               - ; 1.5
CHUNK_OF_ARRAYS = 8
CHUNK_BELOW = 4
ONE_PASS_BELOW = 8


def balanced(total, most):
    """The number of partials a pass, so that the fewest passes carry equal shares."""
    passes = -(-total // most)
    return -(-total // passes)


@dataclass
class ForwardSweep(Writer):
    """The source of one differentiated function, under construction."""

    operator: object
    typingctx: object
    argtypes: tuple
    names: list
    namespace: dict = field(default_factory=dict)
    before: list = field(default_factory=list)  # lines before the passes
    prepare: list = field(default_factory=list)  # lines of a pass before the call
    collect: list = field(default_factory=list)  # lines of a pass after the call
    clean: list = field(default_factory=list)  # lines at the end of a pass: a result may be a view
    after: list = field(default_factory=list)  # lines after the passes

    def __post_init__(self):
        self.tag = level_of(self.argtypes)
        self.namespace.update(np=np, ArgumentError=ArgumentError, **_NOPYTHON)
        self.trees = {
            k: differentiated(
                f"nd.{self.operator.name}", self.names[k], f"arg{k}", self.argtypes[k]
            )
            for k in self.operator.argnums
        }
        self._number()

    def _number(self):
        found = [leaf for tree in self.trees.values() for leaf in leaves(tree)]
        self.scalars = [leaf for leaf in found if leaf.kind == "scalar"]
        self.arrays = [leaf for leaf in found if leaf.kind == "array"]
        for group in (self.scalars, self.arrays):
            for number, leaf in enumerate(group):
                leaf.number = number
        count = len(self.scalars)
        most = ONE_PASS_BELOW if self.tag else CHUNK
        self.one_pass = not self.arrays and count <= (self.operator.chunk or most)
        self.n = count if self.one_pass else self.operator.chunk or self._chunk(count)

    def _chunk(self, count):
        if self.arrays:
            return CHUNK_BELOW if self.tag else CHUNK_OF_ARRAYS
        return balanced(count, CHUNK_BELOW if self.tag else CHUNK)

    # -- types -------------------------------------------------------------------------------

    def dual(self, scalar):
        return Dual(scalar, self.n, self.tag)

    def dual_leaf_type(self, leaf):
        if leaf.kind == "scalar":
            return self.dual(leaf.type)
        if leaf.kind == "array":
            return types.Array(self.dual(leaf.type.dtype), leaf.type.ndim, leaf.type.layout)
        return leaf.type

    # -- arguments ---------------------------------------------------------------------------

    def place(self, leaf):
        """Source of the partial that belongs to a scalar, or of the element that partial 0 does."""
        if leaf.kind == "array":
            return f"start - first{leaf.number}"
        return str(leaf.number) if self.one_pass else f"{leaf.number} - start"

    def _argument(self, leaf):
        if leaf.kind == "scalar":
            return f"unit({leaf.source}, {self.place(leaf)}, {self.n}, {self.tag})"
        if leaf.kind == "array":
            return f"dual{leaf.number}"
        return leaf.source

    def new_duals(self, source, ty):
        """Source of an array of duals like another array, not set to anything."""
        return f"empty_as({source}, {self.dtype(self.dual(ty.dtype))})"

    def _set_up_arrays(self, changed):
        first = str(len(self.scalars))
        for leaf in self.arrays:
            k, a = leaf.number, leaf.source
            self.before += [
                f"first{k} = {first}",
                f"dual{k} = {self.new_duals(a, leaf.type)}",
                f"flat{k} = {runtime.flat(f'dual{k}', leaf.type)}",
            ]
            reload = self.before if k not in changed else self.prepare
            reload.append(runtime.loaded(f"flat{k}", a, leaf.type))
            self.prepare.append(f"seed(flat{k}, {self.place(leaf)}, {self.n}, {self.tag})")
            if k in changed:
                self.after.append(runtime.stored(a, f"dual{k}", leaf.type))
            else:
                self.clean.append(f"clear(flat{k}, {self.place(leaf)}, {self.n})")
            first = f"first{k} + {a}.size"
        if not self.one_pass:
            self.before.append(f"total = {first}")

    def _repeat_random(self):
        """Let every pass draw the random numbers that the first one draws."""
        self.namespace.update(random_state.NAMES)
        self.before += ["drawn = np.empty(RANDOM_SIZE, uint8)", "save_random(drawn)"]
        self.prepare.append("if start > 0:\n    restore_random(drawn)")

    def _draw_once(self):
        """Raise before a second pass, which would draw other numbers from a generator."""
        often = f"several times, {self.n} inputs at a time"
        told = cannot_draw_again(self.operator.name, users_name(self.operator.f), often)
        self.namespace["UnsupportedError"] = UnsupportedError
        self.prepare.append(f"if start > 0:\n    raise UnsupportedError({told!r})")

    def _refuse_repetition(self, k, ty):
        """What a pass changes, and the next pass would meet changed, must be put back in between."""
        raise UnsupportedError(
            f"nd.{self.operator.name} calls {users_name(self.operator.f)} several times, "
            f"{self.n} inputs at a time, but it may change its argument '{self.names[k]}' ({ty}) at "
            "every call. Way out: differentiate by few enough inputs for one pass (chunk=), or keep "
            "what it changes in arrays passed as arguments of their own"
        )

    def _carry_constants(self, changed, written):
        """What is not differentiated by but written to: as duals, or restored each pass."""
        again = None if self.one_pass else []
        arguments = WrittenArguments(self, self.before, self.prepare, self.after, again)
        sources = {}
        for k in sorted(changed - set(self.operator.argnums)):
            ty = self.argtypes[k] if k < len(self.argtypes) else types.none
            if not (self.one_pass or is_put_back(ty, duals=k in written)):
                self._refuse_repetition(k, ty)
            if has_stand_in(ty):
                sources[k] = arguments.stand_in(k, f"arg{k}", ty, duals=k in written)
        self.prepare += [f"if start > 0:\n    {line}" for line in again or ()]
        return sources

    def arguments(self):
        """Source of the call's arguments, and their types."""
        f, tys = self.operator.f, self.argtypes
        done = effects(f, self.operator.argnums, tys, by_types=overlap.may_meet(tys)).cautious()
        changed = [leaf for k in done.changed & set(self.trees) for leaf in leaves(self.trees[k])]
        arguments = {k: (ty, f"arg{k}") for k, ty in enumerate(self.argtypes)}
        self.before += overlap.checks(self.operator, self.names, arguments, done)
        if done.random and not self.one_pass:
            self._repeat_random()
        if draws_from(self.argtypes) and not self.one_pass:
            self._draw_once()
        self._set_up_arrays({leaf.number for leaf in changed if leaf.kind == "array"})
        carried = self._carry_constants(done.changed, done.written)
        self.written = [(k, self.argtypes[k]) for k in done.written if k < len(self.argtypes)]
        sources, tys = [], []
        star = starred(self.operator.f.py_func)
        for k, ty in enumerate(self.argtypes):
            if k == star:
                source, ty = carried.get(k, (f"arg{k}", ty))
                sources.append(f"*{source}")
                tys.extend(ty)
            elif k in self.trees:
                sources.append(render(self.trees[k], self._argument, self.namespace))
                tys.append(mapped_type(self.trees[k], self.dual_leaf_type))
            elif k in carried:
                source, dual = carried[k]
                sources.append(source)
                tys.append(dual)
            elif isinstance(ty, types.Dispatcher):
                stand_in = replacement(ty.dispatcher)
                sources.append(self.constant("function", stand_in))
                tys.append(self.typingctx.resolve_value_type(stand_in))
            else:
                sources.append(f"arg{k}")
                tys.append(ty)
        while tys and isinstance(tys[-1], types.Omitted):
            sources.pop()
            tys.pop()
        return sources, tuple(tys)

    def call(self):
        """The source of the call, and the type of its result."""
        sources, tys = self.arguments()
        target = self.operator.target()
        self.namespace["f"] = target
        self.call_types = tys
        with telling_of_collections(self.operator, self.names, self.written):
            returned = call_type(self.typingctx, self.operator, target, tys)
        return f"f({', '.join(sources)})", returned

    # -- results -----------------------------------------------------------------------------

    def is_active(self, leaf):
        """Whether a leaf of the result carries partials of this sweep."""
        scalar = leaf.type.dtype if leaf.kind == "array" else leaf.type
        return isinstance(scalar, Dual) and scalar.tag == self.tag

    def value_scalar(self, leaf):
        """The scalar type of a result leaf's value."""
        scalar = leaf.type.dtype if leaf.kind == "array" else leaf.type
        return scalar.scalar if self.is_active(leaf) else scalar

    def entry(self, out, leaf, o):
        """Lines that collect the derivative of result leaf `out` by input leaf `leaf`; its name."""
        shape = (
            "array" if isinstance(out.type, types.Array) else "scalar"
        )  # ints: zeros of that shape
        kind = f"_{shape}_by_{leaf.kind}"
        name = f"J{o}_{leaf.kind}{leaf.number}"
        scalar = self.value_scalar(out)
        if not isinstance(scalar, types.Float | types.Complex | Dual):
            scalar = base_scalar(leaf.type.dtype if leaf.kind == "array" else leaf.type)
        getattr(self, kind)(out, leaf, name, scalar)
        return name

    def _scalar_by_scalar(self, out, leaf, name, scalar):
        if not self.is_active(out):
            self.before.append(f"{name} = {self.zero(scalar)}")
        elif self.one_pass:
            self.collect.append(f"{name} = partial({out.source}, {leaf.number})")
        else:
            self.before.append(f"{name} = {self.zero(scalar)}")
            self.collect.append(
                f"if 0 <= {self.place(leaf)} < {self.n}:\n"
                f"    {name} = partial({out.source}, {self.place(leaf)})"
            )

    def _scalar_by_array(self, out, leaf, name, scalar):
        if self.operator.scalar:  # a gradient has the precision of its argument, as in reverse mode
            scalar = with_base(scalar, base_scalar(leaf.type.dtype))
        self.before.append(f"{name} = np.zeros({leaf.source}.shape, {self.dtype(scalar)})")
        if self.is_active(out):
            self.before.append(f"{name}_flat = {name}.reshape({name}.size)")
            self.collect.append(
                f"collect_scalar({name}_flat, {out.source}, {self.place(leaf)}, {self.n})"
            )

    def _allocate(self, name, shape, ndim, scalar):
        """An array whose shape is known after the first call."""
        empty = f"np.zeros({(0,) * ndim!r}, {self.dtype(scalar)})"
        allocate = f"{name} = np.zeros({shape}, {self.dtype(scalar)})"
        if self.one_pass:
            self.collect.append(allocate)
        else:
            self.before.append(f"{name} = {empty}")
            self.collect.append(f"if start == 0:\n    {allocate}")

    def _array_by_scalar(self, out, leaf, name, scalar):
        self._allocate(name, f"{out.source}.shape", out.type.ndim, scalar)
        if self.is_active(out):
            lines = f"collect_column({name}.reshape({name}.size), {out.source}, {self.place(leaf)})"
            guard = "" if self.one_pass else f"if 0 <= {self.place(leaf)} < {self.n}:\n    "
            self.collect.append(guard + lines)

    def _array_by_array(self, out, leaf, name, scalar):
        shape = f"{out.source}.shape + {leaf.source}.shape"
        self._allocate(name, shape, out.type.ndim + leaf.type.ndim, scalar)
        if self.is_active(out):
            matrix = f"{name}.reshape(({out.source}.size, {leaf.source}.size))"
            self.collect.append(
                f"collect_array({matrix}, {out.source}, {self.place(leaf)}, {self.n})"
            )

    def value(self, tree):
        """Lines that keep the value of the result; the source that returns it."""
        for o, leaf in enumerate(leaves(tree)):
            self._value_leaf(leaf, f"value{o}")
        numbers = {id(leaf): o for o, leaf in enumerate(leaves(tree))}
        return render(tree, lambda leaf: f"value{numbers[id(leaf)]}", self.namespace)

    def _value_leaf(self, leaf, name):
        if leaf.kind != "array" or not self.is_active(leaf):
            source = f"strip({leaf.source})" if self.is_active(leaf) else leaf.source
            self.collect.append(f"{name} = {source}")
            return
        self._allocate(name, f"{leaf.source}.shape", leaf.type.ndim, self.value_scalar(leaf))
        self.collect.append(f"values({name}.reshape({name}.size), {leaf.source})")

    def derivative(self, out, o):
        """Source of the derivative of one result leaf by all arguments."""
        if not holds_numbers(out):
            return "None"
        entries = {}
        for tree in self.trees.values():
            for leaf in leaves(tree):
                if leaf.kind != "constant":
                    entries[id(leaf)] = self.entry(out, leaf, o)

        def source(leaf):
            return entries[id(leaf)] if leaf.kind != "constant" else self.constant_zero(leaf)

        parts = [render(tree, source, self.namespace) for tree in self.trees.values()]
        return parts[0] if self.operator.single else "(" + "".join(p + ", " for p in parts) + ")"

    # -- all together ------------------------------------------------------------------------

    def write(self, returned):
        """The function whose result is the source `returned`."""
        lines = [*self.before]
        body = [*self.prepare, f"r = {self.call_source}", *self.collect, *self.clean]
        if self.one_pass:
            lines += body
        else:
            lines.append(f"for start in range(0, max(total, 1), {self.n}):")
            lines += [indented(line) for line in body]
        lines += [*self.after, f"return {returned}"]
        text = "\n".join(indented(line) for line in lines)
        parameters = plain_parameters(self.operator.f.py_func)
        source = f"def {self.operator.name}_sweep({parameters}):\n{text}\n"
        return define(source, self.namespace)

    def run(self):
        """Call `f`; the structure of its result, whose leaves read from `r`."""
        self.call_source, ty = self.call()
        return parse(ty, "r")

    def result_in(self, k):
        """The structure of a result that `f` writes into its argument number `k`."""
        ty = self.call_types[k]
        if not (isinstance(ty, types.Array) and is_differentiable(ty.dtype)):
            raise ArgumentError(
                f"nd.{self.operator.name}: out={k} names '{self.names[k]}', which is no array of floats"
            )
        return parse(ty, f"work{k}" if self.is_active(parse(ty, "")) else f"arg{k}")


_NOPYTHON = {
    **overlap.NAMES,
    "empty_as": empty_as,
    "unit": access.unit,
    "partial": access.partial,
    "strip": access.strip,
    "load": runtime.load,
    "load_flat": runtime.load_flat,
    "store": runtime.store,
    "store_flat": runtime.store_flat,
    "seed": runtime.seed,
    "clear": runtime.clear,
    "values": runtime.values,
    "collect_scalar": runtime.collect_scalar,
    "collect_array": runtime.collect_array,
    "collect_column": runtime.collect_column,
}
