"""One call of a pullback on dual numbers, in the code of an operator's own pullback."""

from numba.core import types

from ..forward.custom import value_of
from ..forward.dual import Dual
from ..reverse.arena import borrow
from . import brief, runtime
from .adjoint import AdjointSource
from .argument_structure import leaves, level_of, parse, render
from .generated_names import Writer
from .operator_dispatcher import parameter_names
from .results import scalar_of
from .tangent import TangentSource

_NOPYTHON = {name: getattr(runtime, name) for name in ("add_into", "paired", "tangent_of_level")}
_NOPYTHON |= {"value_of": value_of, "add_tangents": brief.add_tangents}


class BriefTangentSource(TangentSource):
    """Arguments paired with tangents, in arrays that may end with the call."""

    brief = None

    def let_end(self):
        """Let the arrays end with the call."""
        self.namespace.update(borrow=borrow, put_pairs=brief.put_pairs, until_here=brief.until_here)
        self.brief = brief.Brief(Writer(self.namespace))

    def _pair(self, name, tree, directions, dual):
        if self.brief is None or tree.type.layout == "A":
            super()._pair(name, tree, directions, dual)
            return
        self.lines += self.brief.lines(name, tree.source, dual)
        self.lines.append(f"put_pairs({name}, {tree.source}, {directions.source}, {self.tag})")


class TangentEntry(str):
    """Source of the tangent of an adjoint, whose own source is `of`."""

    def __new__(cls, of, tag):
        entry = super().__new__(cls, f"tangent_of_level({of}, {tag})")
        entry.of = of
        return entry


class DualPull:
    """The pullback of `f` at arguments with directions, for a cotangent with a direction.

    `ends` says that no array leaves the code by its value.

    Used in this order: `direct` for every argument with a direction, `prepare`, `call`, and then
    whatever the result is made of.
    """

    def __init__(self, pullback, typingctx, f, arguments, argtypes, ends=False):
        self.pullback, self.typingctx, self.f = pullback, typingctx, f
        self.argtypes = argtypes
        self.explicit, self.names = False, parameter_names(f.py_func)  # what TangentSource asks for
        self.name = pullback.name
        self.pairs = BriefTangentSource(self, typingctx, [ty for _, ty in arguments], argtypes)
        self.arguments = [self._explicit(k, *given) for k, given in enumerate(arguments)]
        self.tag = level_of(argtypes)
        self.lines = []
        if ends and all(brief.holds_numbers_alone(ty) for _, ty in self.arguments):
            self.pairs.let_end()
            self.arguments = [self._borrowed(k, *given) for k, given in enumerate(self.arguments)]
            self.lines += [f"{name} = borrow({name})" for name in ("shadows", "seed")]
        self.pairs.sources, self.pairs.argtypes = map(list, zip(*self.arguments, strict=True))

    def _borrowed(self, k, source, ty):
        """An argument as arrays that own nothing: the caller has them until the end."""
        if not isinstance(ty, types.Array | types.BaseTuple):
            return source, ty
        self.lines.append(f"given{k} = borrow({source})")
        return f"given{k}", ty

    def _explicit(self, k, source, ty):
        """An argument left to its default, as a constant."""
        return self.pairs.default(k, ty.value) if isinstance(ty, types.Omitted) else (source, ty)

    def direct(self, k, source, ty):
        """Give argument `k` a direction; constants take none."""
        given, primal = self.arguments[k]
        if not isinstance(ty, types.NoneType):
            self.pairs.argument(k, given, source, primal, ty)

    def prepare(self, wrt):
        """Set up the call, with adjoints of the arguments numbered in `wrt`."""
        paired = list(zip(self.pairs.sources, self.pairs.argtypes, strict=True))
        others = *self.argtypes, Dual(types.float64, 1, self.tag)
        self.source = AdjointSource(
            *(self.pullback, self.typingctx, self.f, paired, tuple(wrt), others),
            namespace=self.pairs.namespace,
            brief=self.pairs.brief,
        )
        self.source.namespace.update(_NOPYTHON)

    # -- the seed ----------------------------------------------------------------------------

    def result_leaves(self):
        """The floats and arrays of the result."""
        return [leaf for leaf in leaves(self.source.result) if leaf.kind != "constant"]

    def matched(self, source, ty):
        """The source of a cotangent's member for each float and array of the result, by its id."""
        return {key: given.source for key, given in self.source.matched(source, ty).items()}

    def call(self, cotangent, direction):
        """Call the pullback with a cotangent and its direction: sources by the id of a result leaf.

        What has no cotangent, or no direction, has zero.
        """
        seeds = {}
        for leaf in self.result_leaves():
            seeds[id(leaf)] = self._seed(leaf, cotangent.get(id(leaf)), direction.get(id(leaf)))
        call = self.source.call(self.source.seed(lambda leaf: seeds[id(leaf)]))
        self.lines += [*self.pairs.lines, *self.source.before, *call]
        self.source.before = []

    def _seed(self, leaf, given, along):
        source, full = self.source, self.source.scalar(scalar_of(leaf))
        if leaf.kind == "scalar":
            if along is None:
                return source.cast(given, full)
            part = full.scalar
            given = "0.0" if given is None else given
            return f"pair({source.cast(given, part)}, {source.cast(along, part)}, {self.tag})"
        name = f"seed{len(source.before)}"
        if along is None:
            made = f"copied({given}, {source.dtype(full)})"
        else:
            dtype = source.dtype(full.scalar)
            zeros = f"zeros_as({along}, {dtype})"
            given = zeros if given is None else f"copied({given}, {dtype})"
            made = f"paired({given}, copied({along}, {dtype}), {self.tag})"
        source.before.append(f"{name} = {made}")
        source.shape_check(f"{leaf.source}.shape", f"{name}.shape", "result")
        return name

    # -- what comes of it --------------------------------------------------------------------

    def value(self):
        """Source of the value of `f`."""
        return f"value_of(value, {self.tag})"

    def tangent(self):
        """Source of the derivative of `f` along the directions."""
        return f"tangent_of_level(value, {self.tag})"

    def along(self, leaf):
        """Source of the derivative of a leaf of the result along the directions."""
        return f"tangent_of_level({leaf.source}, {self.tag})"

    def primal_cotangent(self, k):
        """Source of the cotangent of argument `k` for the cotangent without its direction."""
        return self.source.cotangent(k, f"value_of({{}}, {self.tag})")

    def cotangents(self, k):
        """The same for the leaves of argument `k`: sources, or None for a constant."""
        return self._of_level(lambda entry, tag: f"value_of({entry}, {tag})", k)

    def tangents(self, k):
        """The derivatives of the cotangents of the leaves of argument `k`, along the directions."""
        return self._of_level(TangentEntry, k)

    def _of_level(self, function, k):
        if k not in self.source.wrt:
            return [None for _ in leaves(self.source.trees[k])]
        return [
            None if entry is None else function(entry, self.tag) for entry in self.source.entries(k)
        ]

    def added(self, shadow, entry):
        """The line that adds what belongs to an array to its shadow; tangents need no array of their own."""
        if isinstance(entry, TangentEntry):
            return f"add_tangents({shadow}, {entry.of}, {self.tag})"
        return f"add_into({shadow}, {entry})"

    def deliver(self, place, ty, entries):
        """Add what belongs to arrays to their shadows; source of the adjoint, for an argument's leaves.

        `place` says which argument of the operator's result: "[0]", say; `ty` is its type.
        """
        tree = parse(ty, f"shadows{place}")
        found = {}
        for leaf, entry in zip(leaves(tree), entries, strict=True):
            if leaf.kind == "array" and entry is not None:
                self.lines.append(self.added(leaf.source, entry))
            elif leaf.kind == "scalar":
                zero = self.source.zero(leaf.type)
                full = self._full(leaf.type)
                found[id(leaf)] = zero if entry is None else self.source.cast(entry, full)
        return render(tree, lambda leaf: found.get(id(leaf), "None"), self.source.namespace)

    def _full(self, ty):
        """The type of the adjoint of a number: a dual one beside dual numbers, if it is plain itself."""
        return ty if isinstance(ty, Dual) else self.source.scalar(ty).scalar

    def write(self, value, adjoints, count):
        """The pullback, from the value of the operator's result and the adjoints of its arguments."""
        parts = "".join(adjoints.get(k, "None") + ", " for k in range(count))
        return self.source.write(
            "pullback_source", "args, shadows, seed", self.lines, f"{value}, ({parts})"
        )
