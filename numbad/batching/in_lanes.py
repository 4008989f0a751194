"""The elements of a batch in blocks of lanes."""

from numba.core import types

from ..compilation import array_allocation
from ..errors import UnsupportedError
from ..lanes.varying import Varying, start_of_lanes
from ..operators.argument_structure import leaves, parse, render
from ..operators.operator_dispatcher import plain_parameters
from ..operators.runtime import fill_zero
from ..reverse.arena import borrow, held
from ..reverse.value_tape import call_guarded
from . import blocks
from .batch_code import BatchWriter
from .lane_sweep import compiled_sweep

_FLOATS = types.float64, types.float32
_CONSTANTS = types.Integer | types.Boolean | types.NoneType | types.UnicodeType


class Together(BatchWriter):
    """Code that goes through the batch in blocks of `lanes` elements."""

    def __init__(self, batch, entries, tys, lanes, wrt=()):
        super().__init__(batch, entries, tys, wrt)
        self.lanes = lanes
        self.loop = f"for first in range(0, count, {lanes}):"
        self.places = {k: k for k in range(len(self.tys))}
        self.given = [self._argument(k) for k in range(len(self.tys))]

    # -- arguments -----------------------------------------------------------------------------------

    def _argument(self, k):
        """`(source, type)` of argument `k` in a block."""
        ty, axis, source = self.tys[k], self.axes[k], self.entries[k]
        if axis is None:
            self._check_shared(k, ty)
            return source, ty
        if ty.dtype not in _FLOATS:
            raise UnsupportedError(f"'{self.batch.names[k]}' holds elements of type {ty.dtype}")
        lane = Varying(ty.dtype, self.lanes)
        load = blocks.load_lanes(axis, self.lanes, self.is_whole(k))
        load = self.constant("load", load)
        if ty.ndim == 1:
            return f"{load}({source}, first, ())", lane
        name = f"block{k}"
        self._make_array(name, source, axis, ty, lane)
        self._load_block(name, source, k, load)
        return name, types.Array(lane, ty.ndim - 1, "C")

    def _load_block(self, name, source, k, load):
        """Lines that fill the array of lanes of argument `k`."""
        ty, size = self.tys[k], blocks.tile_of(self.lanes)
        start = "0"
        plain = ty.ndim == 2 and ty.layout == "C" and self.axes[k] == 0
        if size and plain and self.is_whole(k):
            start = f"{name}.size // {size} * {size}"
            tile = self.constant("tile", blocks.load_tile(self.lanes))
            self.body.append(f"for j0 in range(0, {start}, {size}):")
            self.body.append(f"    {tile}({source}, first, j0, {name})")
        self.body += self.over_elements(
            name,
            ty.ndim - 1,
            lambda index: f"{name}[{index}] = {load}({source}, first, {index})",
            start,
        )

    def is_whole(self, k):
        """Whether an array is known to have an element for each of the batch."""
        return True

    def _check_shared(self, k, ty):
        """What all lanes share must be numbers, or arrays of them, which the function does not change."""
        for leaf in leaves(parse(ty, "")):
            scalar = getattr(leaf.type, "dtype", leaf.type)
            if scalar not in _FLOATS and not isinstance(scalar, _CONSTANTS):
                raise UnsupportedError(f"'{self.batch.names[k]}' is of type {leaf.type}")

    def _make_array(self, name, source, axis, ty, lane):
        rest = [f"{source}.shape[{d}]" for d in range(ty.ndim) if d != axis]
        empty = self.constant("empty", array_allocation.empty)
        self.before.append(f"{name} = {empty}({self.tuple_of(rest)}, {self.dtype(lane)})")

    # -- values --------------------------------------------------------------------------------------

    def values(self, typingctx):
        """The function that evaluates the batch."""
        shadows = [types.none] * len(self.given)
        call, ty = self._sweep(shadows, types.none)
        nothing = self.tuple_of(["None"] * len(self.given))
        result = self.make_results(_scalars(ty[0]))
        arguments = self.tuple_of(source for source, _ in self.given)
        self.body.append(f"value, adjoints = {call}{arguments}, {nothing}, None)")
        self.store()
        return self.write("batch_source", self.parameters(), self.loop, result)

    def parameters(self):
        """The parameter list of the function that evaluates the batch."""
        return plain_parameters(self.batch.f.py_func)

    def _sweep(self, shadows, seed):
        tys = [ty for _, ty in self.given]
        self.given = [self._borrowed(*each, f"given{k}") for k, each in enumerate(self.given)]
        sweep, returned = compiled_sweep(
            self.batch.f, self.wrt, self.lanes, self.batched, tys, shadows, seed, self.batch.fits
        )
        guarded = self.constant("guarded", call_guarded)
        return f"{guarded}({self.constant('sweep', sweep)}, ", returned

    def _borrowed(self, source, ty, name):
        """Source of an argument for one call after the other: arrays are not counted in each of them."""
        if not any(isinstance(leaf.type, types.Array) for leaf in leaves(parse(ty, ""))):
            return source, ty
        self.before.append(f"{name} = {self.constant('borrow', borrow)}({source})")
        self.after.append(f"{self.constant('held', held)}({source})")
        return name, ty

    def store(self):
        """Lines that put away what a block gives."""
        store = self.constant("store", blocks.store_lanes(self.lanes))
        self.body += [
            f"{store}(out{leaf.number}, first, (), {leaf.source})" for leaf in leaves(self.result)
        ]

    # -- the pullback --------------------------------------------------------------------------------

    def pullback(self, typingctx, shadows, seed):
        """The function `(args, shadows, seed) -> (value, adjoints)` of the batch."""
        made = [self._shadow(k) for k in range(len(self.tys))]
        made += [("None", types.none)] * (len(self.given) - len(made))
        seed_source = self.seed(seed, self._seed_of_number)
        call, ty = self._sweep([t for _, t in made], self.seed_type(seed))
        made = [self._borrowed(*each, f"made{k}") for k, each in enumerate(made)]
        result = self.make_results(_scalars(ty[0]))
        arguments = self.tuple_of(source for source, _ in self.given)
        given = self.tuple_of(source for source, _ in made)
        self.body.append(f"value, adjoints = {call}{arguments}, {given}, {seed_source})")
        self.store()
        adjoints = {k: self.deliver(k) for k in self.wrt}
        returned = self.returned(result, adjoints)
        return self.write("pullback_source", "args, shadows, seed", self.loop, returned)

    def _seed_of_number(self, source):
        """The cotangents of a block; zero beyond the end of the batch."""
        load = self.constant("load", blocks.load_lanes(0, self.lanes))
        return self.kept(f"{load}({source}, first, ())")

    def kept(self, source):
        """Source of what stands in the lanes that there are elements for; zero in the others."""
        return f"{self._keep(types.float64)}({source}, 0.0, first, count)"

    def seed_type(self, ty):
        """The type of the cotangents of a block, for those of the batch."""
        if isinstance(ty, types.BaseTuple):
            return types.BaseTuple.from_types([self.seed_type(t) for t in ty])
        if isinstance(ty, types.NoneType):
            return ty
        if not isinstance(ty, types.Array) or ty.dtype not in _FLOATS:
            raise UnsupportedError(f"cotangents of type {ty}")
        return Varying(types.float64, self.lanes)

    def _keep(self, scalar):
        return self.constant("keep", blocks.kept_lanes(scalar, self.lanes))

    def _shadow(self, k):
        """`(source, type)` of the shadow of argument `k`: arrays of lanes for its arrays."""
        if k not in self.wrt or (self.axes[k] is not None and self.tys[k].ndim == 1):
            return "None", types.none
        tree = parse(self.tys[k], self.entries[k])
        made = {id(leaf): self._shadow_array(k, leaf) for leaf in leaves(tree)}
        if not any(ty is not types.none for _, ty in made.values()):
            return "None", types.none
        source = render(tree, lambda leaf: made[id(leaf)][0], self.namespace)
        return source, _typed(self.tys[k], iter([ty for _, ty in made.values()]))

    def _shadow_array(self, k, leaf):
        if leaf.kind != "array":
            return "None", types.none
        lane, axis = Varying(leaf.type.dtype, self.lanes), self.axes[k]
        name = self._name_of_shadow(leaf)
        self._make_array(name, leaf.source, axis, leaf.type, lane)
        clear = f"{self.constant('fill_zero', fill_zero)}({name})"
        if axis is None:
            self.before.append(clear)
            self.body += [
                f"if first + {self.lanes} > count:",
                f"    before_{name} = {name}.copy()",
            ]
            self.before.append(f"before_{name} = {name}")
        else:
            self.body.append(clear)
        return name, types.Array(lane, leaf.type.ndim - (axis is not None), "C")

    @staticmethod
    def _name_of_shadow(leaf):
        return "shadow_" + "".join(c if c.isalnum() else "_" for c in leaf.source)

    def deliver(self, k):
        """Lines that hand on what a block gives; source of the adjoint of argument `k`."""
        sums = []
        for leaf, found in self.floats(k):
            if leaf.kind == "array" and self.axes[k] is None:
                self._deliver_shared_array(leaf)
            elif self.axes[k] is None:
                sums.append(self._deliver_shared_number(leaf, found))
            else:
                self._deliver_batched(k, leaf)
        names = iter(sums)
        return render(
            parse(self.tys[k], ""),
            lambda leaf: next(names) if leaf.kind == "scalar" else "None",
            self.namespace,
        )

    def _deliver_shared_number(self, leaf, found):
        lane = Varying(leaf.type, self.lanes)
        name, start = f"sum{len(self.before)}", self.constant("start", start_of_lanes(lane))
        self.before.append(f"{name} = {start}()")
        kept = f"{self._keep(leaf.type)}({found.source}, 0.0, first, count)"
        self.body.append(f"{name} = {name} + {kept}")
        return f"{self.constant('total', blocks.total(leaf.type, self.lanes))}({name})"

    def _deliver_shared_array(self, leaf):
        name, scalar = self._name_of_shadow(leaf), leaf.type.dtype
        keep, total = self._keep(scalar), self.constant("total", blocks.total(scalar, self.lanes))
        restore = self.over_elements(
            name,
            leaf.type.ndim,
            lambda j: f"{name}[{j}] = {keep}({name}[{j}], before_{name}[{j}], first, count)",
        )
        self.body += [f"if first + {self.lanes} > count:", *("    " + line for line in restore)]
        shadow = self.shadow(leaf)
        self.after += self.over_elements(
            name, leaf.type.ndim, lambda j: f"{shadow}[{j}] += {total}({name}[{j}])"
        )

    def _deliver_batched(self, k, leaf):
        add = self.constant("add", blocks.add_lanes(self.axes[k], self.lanes))
        if leaf.type.ndim == 1:
            self.body.append(f"{add}({self.shadow_of(k)}, first, (), adjoints[{k}])")
            return
        name = self._name_of_shadow(leaf)
        self.body += self.over_elements(
            name,
            leaf.type.ndim - 1,
            lambda j: f"{add}({self.shadow_of(k)}, first, {j}, {name}[{j}])",
        )

    def shadow_of(self, k):
        """Source of the adjoint of an array with an axis of the batch."""
        return f"shadows[{k}]"


def _scalars(ty):
    """The type of a result in one lane."""
    if isinstance(ty, types.BaseNamedTuple):
        members = [_scalars(t) for t in ty]
        if len(set(members)) == 1:
            return types.NamedUniTuple(members[0], len(members), ty.instance_class)
        return types.NamedTuple(members, ty.instance_class)
    if isinstance(ty, types.BaseTuple):
        return types.BaseTuple.from_types([_scalars(t) for t in ty])
    return ty.scalar if isinstance(ty, Varying) else types.unliteral(ty)


def _typed(ty, members):
    """The type of a tuple of a structure, with the next of `members` for each leaf."""
    if isinstance(ty, types.BaseTuple):
        return types.BaseTuple.from_types([_typed(t, members) for t in ty])
    return next(members)
