"""A loop of a function in lanes: its iterations are the elements of a batch.

`reverse/lane_loops.py` finds such a loop. Its sums are added up in the order of the iterations, so that a
sum that each iteration adds to once has the bits that the loop gives it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from numba import njit
from numba.core import types
from numba.core.dispatcher import Dispatcher

from ..compilation import array_allocation
from ..lanes.extrema import search_values
from ..lanes.lane_functions import by_vectors
from ..lanes.varying import Varying
from ..operators.argument_structure import leaves, parse, render
from ..reverse.lane_loops import take_out_loops
from ..reverse.parallel import Effects, LoopDispatcher, PartDispatcher
from ..reverse.pipeline import analysed
from ..source import define
from . import blocks, integers, picks
from .batch_operator import LANES
from .in_lanes import Together

_SUMS = 2  # the number of the first argument that is a sum before the loop


def lane_loop(dispatcher, argtypes, iteration, wrt):
    """The dispatcher that runs a loop of a function in lanes, or None where they cannot go together."""
    part = PartDispatcher(dispatcher, argtypes, tuple(map(str, iteration.rows)), iteration)
    try:
        loop = LaneLoop(part)
        if not loop.effects.are_own():
            return None
        loop.pullback(wrt)
    except Exception:  # compilers fail in many ways; the loop stays where it is
        return None
    return loop


@dataclass(frozen=True)
class LaneLoops:
    """What reverse mode asks of `nd.vector_math()`; `make` is `lane_loop`, or stands for it."""

    make: Callable = lane_loop

    take_out = staticmethod(take_out_loops)
    search_values = staticmethod(search_values)

    def noting(self, found):
        """The same, which puts iterations into a list, and has all loops stay."""
        return LaneLoops(lambda *given, **more: found.append(given))


class LaneLoop(LoopDispatcher):
    """Runs all iterations of a loop, called as `(first, last, *sums before, *arguments)`."""

    how = "in lanes"

    def __init__(self, part):
        self.part, self._pullbacks = part, {}
        self.effects = IterationEffects(part, analysed)
        parameters = ", ".join(f"arg{k}" for k in range(len(part.outlined.given)))
        stub = define(f"def loop({parameters}):\n    raise NotImplementedError\n", {})
        super().__init__(stub, targetoptions={**part.options, "nopython": True})

    def compile(self, sig):
        """Its code is written here: where the sums come with their derivatives, nobody asks for it."""
        if not self.overloads:
            self._compiler.py_func = LoopCode(self.part, "arg{}").values(None)
        return super().compile(sig)

    def pullback(self, wrt):
        """`(args, shadows, seed) -> (sums, adjoints)` by the arguments `wrt`."""
        if wrt not in self._pullbacks:
            code = LoopCode(self.part, "args[{}]", wrt)
            pull = code.pullback(None, None, code.result_type)
            self._pullbacks[wrt] = njit(pull, **self.part.options)
        return self._pullbacks[wrt]


def is_float_sum(iteration, k):
    """Whether a sum is not one of integers, which lanes have as floats."""
    return iteration.given[_SUMS + k] == types.float64


class IterationEffects(Effects):
    """What an iteration does, and what becomes of the sums before the loop."""

    def __init__(self, part, analyse):
        super().__init__(part, analyse)
        iteration = part.outlined
        paths = [()] if iteration.sums == 1 else [(k,) for k in range(iteration.sums)]
        floats = {path for k, path in enumerate(paths) if is_float_sum(iteration, k)}
        flows = [((_SUMS + k, ()), (None, path)) for k, path in enumerate(paths) if path in floats]
        for source, target in self.flows:
            if source[0] < len(iteration.given) and (target[0] is not None or target[1] in floats):
                flows.append((source, target))
        self.flows = flows

    def are_own(self):
        """Whether nothing from outside is changed but what is an iteration's own."""
        own = {k for k, row in enumerate(self.part.outlined.rows) if row and row.is_written}
        return {k for k, _ in self.written} <= own and self.can_be_repeated()


@dataclass(frozen=True)
class IterationBatch:
    """An iteration as what a batch is made of."""

    f: Dispatcher

    fits = staticmethod(by_vectors)

    @property
    def axes(self):
        """The axis of what iterations have their own of: of elements, there is no other."""
        rows = self.f.outlined.rows
        return tuple(row and (0 if row.fixed is not None else row.axis) for row in rows)

    @cached_property
    def names(self):
        """What the user calls the arguments."""
        names = self.f.outlined.function.parameters
        return [name.partition(".")[2] if name.startswith("$row") else name for name in names]


class LoopCode(Together):
    """The code that goes through a loop in blocks of lanes; `entry` is the form of an argument's source."""

    def __init__(self, part, entry, wrt=()):
        self.iteration, self.entry = part.outlined, entry
        entries = [entry.format(k) for k in range(len(self.iteration.given))]
        self.shadows = {k: f"shadows[{k}]" for k in wrt}
        tys = map(_of_floats, self.iteration.given, self.iteration.rows)
        super().__init__(IterationBatch(part), entries, tuple(tys), LANES, wrt)
        if self.iteration.number:
            numbers = self.constant("numbers", blocks.numbers(LANES))
            lane = Varying(types.float64, LANES)
            self.batched += (len(self.given),)
            self.given.append((f"{numbers}(begin, first, count)", lane))

    @property
    def result_type(self):
        """The type of the cotangents of the sums."""
        floats = [is_float_sum(self.iteration, k) for k in range(self.iteration.sums)]
        tys = [types.float64 if is_float else types.none for is_float in floats]
        if not tys:
            return types.none
        return tys[0] if len(tys) == 1 else types.BaseTuple.from_types(tys)

    def refuse_changed(self):
        """What an iteration changes has been looked for."""

    def count(self):
        self.namespace["IndexError"] = IndexError
        begin, end = self.entries[:_SUMS]
        self.before += [f"begin = {begin}", f"count = max({end} - begin, 0)"]
        for k in self.batched:
            row = self.iteration.rows[k]
            if row.by is not None:
                self._pick(k, row)
                continue
            if row.term is not None:
                self._compute(k, row.term)
                continue
            if self.iteration.inner[k] and row.step is None:
                self._allow_none(k, f"begin + {row.offset} + count", row.axis)
            if self.is_whole(k) and row.step is None:
                self._check_size(self.entries[k], row)
            self.before.append(f"rows{k} = {self._rows(self.entries[k], row)}")
            if k in self.wrt:
                self.before.append(f"adjoint_rows{k} = {self._rows(self.shadows[k], row)}")
            self.entries[k] = f"rows{k}"

    def _check_size(self, source, row):
        """Lines that raise the error of an array without elements for all iterations."""
        name = row.array.partition(".")[0]
        told = f"index is out of bounds for axis {row.axis} of '{name}'"
        size = f"{source}.shape[{row.axis}]"
        self.before.append(f"if count > 0 and {size} < begin + {row.offset} + count:")
        self.before.append(f"    raise IndexError({told!r})")

    def _compute(self, k, term):
        """Lines for the arrays and numbers that iterations compute an integer from."""
        names = []
        for part in term.parts:
            names.append(f"part{k}_{len(names)}")
            source = (
                str(part) if isinstance(part, int) else self._entry_of(getattr(part, "array", part))
            )
            if not isinstance(part, int | str):
                if self.iteration.inner[k]:
                    given = self.constant("given_or_zeros", blocks.given_or_zeros)
                    source = f"{given}({source}, begin + {part.offset} + count, {part.axis})"
                if self.is_whole(k):
                    self._check_size(source, part)
                source = self._rows(source, part)
            self.before.append(f"{names[-1]} = {source}")
        self.entries[k] = self.tuple_of(names)

    def _allow_none(self, k, size, axis):
        """Lines that put zeros in place of an array without elements, of which nothing is read."""
        given = self.constant("given_or_zeros", blocks.given_or_zeros)
        self.before.append(f"given{k} = {given}({self.entries[k]}, {size}, {axis})")
        self.entries[k] = f"given{k}"
        if k in self.wrt:
            self.before.append(f"adjoint_given{k} = {given}({self.shadows[k]}, {size}, {axis})")
            self.shadows[k] = f"adjoint_given{k}"

    def is_whole(self, k):
        return self.iteration.whole[k]

    def _pick(self, k, row):
        """Lines for rows whose numbers are integers of the iterations' own."""
        part = f"[:, {row.fixed[0]}]" if row.fixed else ""
        self.before.append(f"picks{k} = {self._rows(self._entry_of(row.by.array), row.by)}")
        if self.iteration.inner[k]:
            largest = self.constant("largest", picks.largest)
            self._allow_none(k, f"{largest}(picks{k}) + {row.offset + 1}", 0)
        self.before.append(f"rows{k} = {self.entries[k]}{part}")
        if k in self.wrt:
            self.before.append(f"adjoint_rows{k} = {self.shadows[k]}{part}")
        self.entries[k] = f"rows{k}"
        if self.is_whole(k):
            check = self.constant("check", picks.check_picks)
            self.before.append(f"{check}(picks{k}, {row.offset}, rows{k}.shape[0], count)")

    def _picked(self, k):
        """`(source, type)` of these rows in a block."""
        row, ty, source = self.iteration.rows[k], self.tys[k], self.entries[k]
        load, lane = (
            self.constant("load", picks.load_picked(self.lanes, self.is_whole(k))),
            Varying(ty.dtype, self.lanes),
        )
        given = f"{load}({source}, picks{k}, {row.offset}, first, "
        if ty.ndim == 1:
            return f"{given}())", lane
        name = f"block{k}"
        self._make_array(name, source, 0, ty, lane)
        self.body += self.over_elements(name, ty.ndim - 1, lambda j: f"{name}[{j}] = {given}{j})")
        return name, types.Array(lane, ty.ndim - 1, "C")

    def _computed(self, k, term):
        """`(source, type)` of an integer that iterations compute, in a block."""
        load = self.constant("load", integers.load_term(term, self.lanes, self.is_whole(k)))
        return f"{load}({self.entries[k]}, first)", Varying(types.float64, self.lanes)

    def _deliver_batched(self, k, leaf):
        row = self.iteration.rows[k]
        if row.by is None:
            super()._deliver_batched(k, leaf)
            return
        add = self.constant("add", picks.add_picked(self.lanes, self.is_whole(k)))
        given = f"{add}({self.shadow_of(k)}, picks{k}, {row.offset}, first, "
        if leaf.type.ndim == 1:
            self.body.append(f"{given}(), {self.kept(f'adjoints[{k}]')})")
            return
        name = self._name_of_shadow(leaf)
        self.body += self.over_elements(
            name, leaf.type.ndim - 1, lambda j: f"{given}{j}, {name}[{j}])"
        )

    def _entry_of(self, name):
        return self.entries[self.iteration.function.parameters.index(name)]

    def _rows(self, source, row):
        ndim = self._dimensions(row.array)
        if row.step is not None:
            step = self._entry_of(row.step)
            return f"{self.constant('stretched', blocks.stretched)}({source}, count, {step})"
        index = list(row.fixed or [":"] * (ndim - 1))
        begin = f"begin + {row.offset}"
        index.insert(row.axis, f"{begin}:{begin} + count")
        return f"{source}[{', '.join(map(str, index))}]"

    def _dimensions(self, array):
        return self.iteration.function.type_of(array).ndim

    def parameters(self):
        return ", ".join(self.entry.format(k) for k in range(len(self.tys)))

    def shadow_of(self, k):
        return f"adjoint_rows{k}"

    # -- what an iteration writes --------------------------------------------------------------------

    def _argument(self, k):
        if not self._is_written(k):
            row = self.iteration.rows[k]
            if row and row.term:
                return self._computed(k, row.term)
            return self._picked(k) if row and row.by else super()._argument(k)
        source = None if self.iteration.filled[k] else self.entries[k]
        return self._block(k, "block", source)

    def _shadow(self, k):
        if not self._is_written(k):
            return super()._shadow(k)
        if k not in self.wrt:
            return "None", types.none
        return self._block(k, "shadow_block", self.shadow_of(k), self.kept)

    def _is_written(self, k):
        row = self.iteration.rows[k]
        return row is not None and row.is_written

    def _block(self, k, kind, source, change=str):
        """`(name, type)` of an array of lanes with what is in a block of an array, `change` of each element.

        What is in it does not matter without a `source`.
        """
        ty, name = self.tys[k], f"{kind}{k}"
        lane, ndim = Varying(ty.dtype, self.lanes), max(ty.ndim - 1, 1)
        rest = [f"{self.entries[k]}.shape[{d}]" for d in range(ty.ndim) if d != self.axes[k]]
        empty = self.constant("empty", array_allocation.empty)
        self.before.append(f"{name} = {empty}({self.tuple_of(rest or '1')}, {self.dtype(lane)})")
        if source is not None:
            load = blocks.load_lanes(self.axes[k], self.lanes, self.is_whole(k))
            load = self.constant("load", load)
            self._each(
                k, name, lambda j, at: f"{name}[{j}] = " + change(f"{load}({source}, first, {at})")
            )
        return name, types.Array(lane, ndim, "C")

    def _each(self, k, name, line):
        """Lines for all elements of a block; `line(index in the block, index in the array)`."""
        ndim = self.tys[k].ndim - 1
        if ndim:
            self.body += self.over_elements(name, ndim, lambda j: line(j, j))
        else:
            self.body.append(line("0", "()"))

    def _put_back(self, k, name, target):
        store = self.constant("store", blocks.store_lanes(self.lanes, self.axes[k]))
        self._each(k, name, lambda j, at: f"{store}({target}, first, {at}, {name}[{j}])")

    # -- sums ----------------------------------------------------------------------------------------

    def make_results(self, ty):
        if not self.iteration.sums:
            self.result = []
            return "None"
        self.result = parse(ty, "value")
        names = []
        for k, _ in enumerate(leaves(self.result)):
            before, is_float = self.entries[_SUMS + k], is_float_sum(self.iteration, k)
            names.append(f"sum_{k}" if is_float else f"{before} + int(sum_{k})")
            self.before.append(f"sum_{k} = {before}" if is_float else f"sum_{k} = 0.0")
        found = iter(names)
        return render(self.result, lambda leaf: next(found), self.namespace)

    def store(self):
        add = self.constant("add", blocks.add_each(self.lanes))
        for k, leaf in enumerate(leaves(self.result) if self.iteration.sums else ()):
            self.body.append(f"sum_{k} = {add}(sum_{k}, {leaf.source}, first, count)")
        if self.wrt:
            return  # the array has these values, or others by now
        for k in filter(self._is_written, range(len(self.tys))):
            self._put_back(k, f"block{k}", self.entries[k])

    def seed(self, ty, of_number):
        if not self.iteration.sums:
            return "None"
        found = [
            self.kept(leaf.source if leaf.type == types.float64 else "0.0")
            for leaf in leaves(parse(ty, "seed"))
        ]
        return found[0] if len(found) == 1 else self.tuple_of(found)

    def seed_type(self, ty):
        if not self.iteration.sums:
            return types.none
        lane = Varying(types.float64, self.lanes)
        return types.UniTuple(lane, len(ty)) if isinstance(ty, types.BaseTuple) else lane

    def deliver(self, k):
        """The adjoint of a sum before the loop is that of the sum after it."""
        place = k - _SUMS
        if self._is_written(k):
            self._put_back(k, f"shadow_block{k}", self.shadow_of(k))
            return "None"
        if not 0 <= place < self.iteration.sums:
            return super().deliver(k)
        return "seed" if self.iteration.sums == 1 else f"seed[{place}]"


def _of_floats(ty, row):
    """The type of an argument in the code of the loop, where iterations have their own of floats alone."""
    if row is None:
        return ty
    dtype = ty.dtype if isinstance(ty.dtype, types.Float) else types.float64
    if row.fixed is not None:
        return types.Array(dtype, 1, "A")
    return ty if dtype == ty.dtype else types.Array(dtype, ty.ndim, "A")
