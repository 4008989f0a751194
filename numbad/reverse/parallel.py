"""Parallel loops, `prange` in functions with `parallel=True`: both sweeps of their iterations in parallel.

Such a loop is taken out of its function (`ir/outline.py`). Its range is cut into one piece a thread; each
piece has its own tape, sums of its own, and its own array for the adjoint of an array that several
pieces may read the same elements of. What the pieces give is added in their order, so that the result
depends on the number of threads alone. Nothing of an iteration is kept: a loop that makes nothing but
one sum is reversed along with the forward sweep, as if the adjoint of the sum were one; any other is
run again in the reverse sweep.
"""

import operator
from functools import cached_property

from numba import njit
from numba.core import ir, types
from numba.core.registry import CPUDispatcher

from ..compilation.inherited import inherited_options
from ..compilation.memo import remembered
from ..elementary.option import asked
from ..errors import NumbadError, UnsupportedError
from ..forward.promote import effects
from ..ir.capture import capture
from ..ir.function import duplicate, is_expr
from ..ir.leaves import HANDLES, leaves
from ..ir.normalize import normalize
from ..ir.outline import FIRST, as_ranges, outline
from ..rules.registry import generation
from ..source import define
from .dropped import does_tell_nan
from .ops.array import Load, Store, View
from .parallel_code import write_primal, write_pullback
from .pullbacks import pullback
from .switches import Switch

PARALLEL = Switch("parallel", "parallel loops have parallel sweeps")

# Loops alone: pieces, not elements, are what threads are given.
_OTHERS = "comprehension", "reduction", "inplace_binop", "setitem", "numpy", "stencil", "fusion"
_LOOPS_ALONE = {**dict.fromkeys(_OTHERS, False), "prange": True}


def body(dispatcher, argtypes, stages=()):
    """The normalised code of a dispatcher, for one thread; `stages` as of `capture`."""
    return as_ranges(normalize(capture(dispatcher, argtypes, stages)))


def with_loops_apart(dispatcher, argtypes, stages=(), *, analyse):
    """The normalised code of a dispatcher, its parallel loops taken out.

    `analyse(part, argtypes, wrt)` gives the function, the activity and the control flow of a loop.
    """
    if not dispatcher.targetoptions.get("parallel") or not PARALLEL.is_on():
        return body(dispatcher, argtypes, stages)
    known = remembered(dispatcher, "outlined")
    key = generation(), argtypes, stages
    if key not in known:
        fn = normalize(capture(dispatcher, argtypes, stages))
        fn.tells_nan = does_tell_nan(fn)
        if not effects(dispatcher, (), argtypes).random:  # a second evaluation has to draw the same
            loops = _Loops(dispatcher, argtypes, analyse)
            outline(fn, loops.make)
        as_ranges(fn)
        known[key] = fn
    return duplicate(known[key])


class _Loops:
    """Makes the dispatchers of the parallel loops of a function."""

    def __init__(self, dispatcher, argtypes, analyse):
        self.dispatcher, self.argtypes, self.analyse = dispatcher, argtypes, analyse
        self.count = 0

    def make(self, outlined):
        """The dispatcher of a loop, or None where its code cannot be reversed by itself."""
        part = PartDispatcher(self.dispatcher, self.argtypes, self.count, outlined)
        self.count += 1
        try:
            loop = ParallelLoop(part, self.analyse)
        except NumbadError:  # what cannot be analysed by itself is left in its place
            return None
        return loop if loop.effects.can_be_repeated() else None


class PartDispatcher(CPUDispatcher):
    """`part(first, last, *arguments)`: some iterations of a parallel loop, for one list of types."""

    def __init__(self, dispatcher, argtypes, number, outlined):
        parameters = ", ".join(f"a{k}" for k in range(len(outlined.argtypes)))
        # All that its code depends on, for who takes a digest of it.
        source = f"def part({parameters}):\n    return of, {number}, argtypes\n"
        stub = define(source, {"of": dispatcher, "argtypes": argtypes})
        self.outlined, self.options = outlined, inherited_options(dispatcher)
        super().__init__(stub, targetoptions={**self.options, "nopython": True})
        self.numbad_code = outlined.function
        self.natural = (FIRST,) if outlined.natural else ()  # parameters that are not negative


class LoopDispatcher(CPUDispatcher):
    """Runs all iterations of a loop that was taken out of its function.

    `effects` says what they do, `kernel(wrt)` is the pullback for dual numbers, `pullback(wrt)` any other,
    and `how` tells a reader how they run.
    """

    how = "in parallel"


class ParallelLoop(LoopDispatcher):
    """Runs all iterations of a parallel loop, in as many pieces as there are threads."""

    def __init__(self, part, analyse):
        self.part, self.effects, self._pullbacks = part, Effects(part, analyse), {}
        self.argtypes = part.outlined.argtypes
        primal = self._written(write_primal(self.argtypes, self.effects.result), self.kernel(()))
        options = {**part.options, "nopython": True, "parallel": _LOOPS_ALONE}
        super().__init__(primal, targetoptions=options)

    def pullback(self, wrt):
        """`(args, shadows, seed) -> (sums, adjoints)` by the arguments `wrt`, in pieces if that is right."""
        if not self.effects.can_be_reversed_in_pieces(wrt):
            return self.kernel(wrt)
        if wrt not in self._pullbacks:
            reach = {**dict.fromkeys(self.effects.written, 0), **self.effects.reach}
            source = write_pullback(self.argtypes, self.effects.result, wrt, reach)
            pull = self._written(source, self.kernel(wrt))
            self._pullbacks[wrt] = njit(pull, parallel=_LOOPS_ALONE, **self.part.options)
        return self._pullbacks[wrt]

    def kernel(self, wrt):
        """The pullback of one piece, or of all iterations in one."""
        return pullback(self.part, wrt, lanes=asked())

    @staticmethod
    def _written(source, kernel):
        return define(source.text, {"kernel": kernel, **source.names})


class Effects:
    """What the iterations of a parallel loop do to their arguments, whichever are differentiated."""

    def __init__(self, part, analyse):
        self.part, argtypes = part, part.outlined.argtypes
        wrt = tuple(k for k, ty in enumerate(argtypes) if leaves(ty))
        self.fn, self.activity, self.control = analyse(part, argtypes, wrt)
        self.result = _returned(self.fn)
        self.flows = self._find_flows()
        self.written = {leaf for leaf in self._handles() if self._is_written(leaf)}
        self.read = {leaf for leaf in self._handles() if self._is_read(leaf)}
        reach = {leaf: self._find_reach(leaf) for leaf in self._handles() if self._has_rows(leaf)}
        self.reach = {leaf: steps for leaf, steps in reach.items() if steps is not None}

    def _leaves(self, k):
        name = self.fn.parameters[k]
        return [(k, leaf) for leaf in leaves(self.fn.type_of(name))]

    def _handles(self):
        every = [x for k in range(len(self.fn.parameters)) for x in self._leaves(k)]
        return [(k, leaf.path) for k, leaf in every if leaf.kind in HANDLES]

    def _node(self, leaf):
        k, path = leaf
        return self.activity.node((self.fn.parameters[k], path))

    def _is_written(self, leaf):
        return self._node(leaf) in self.activity.written

    def _is_read(self, leaf):
        return any(not isinstance(op, Store) for op in self._ops_on(leaf))

    def _find_flows(self):
        """Pairs of leaves, `(argument, path)`, `None` for the result: the second depends on the first."""
        edges = {}
        for op in self.activity.every():
            for source, target in op.flows:
                edges.setdefault(self.activity.node(source), set()).add(self.activity.node(target))
        ends = {self._node(leaf): leaf for leaf in self._handles()}
        for name, path in self.activity.returned:
            ends[self.activity.node((name, path))] = None, path
        found = []
        for k in range(len(self.fn.parameters)):
            for _, leaf in self._leaves(k):
                reached = _reached(self._node((k, leaf.path)), edges)
                found += [((k, leaf.path), ends[node]) for node in reached & ends.keys()]
        return found

    def can_be_repeated(self):
        """Whether a second evaluation leaves arrays of integers as they are: of those there are no copies."""
        names = {name for name in self.fn.parameters if self._holds_integers(name)}
        for _, s in self.fn.statements():
            if isinstance(s, ir.SetItem | ir.StaticSetItem):
                if isinstance(self.fn.type_of(s.target), types.Array) and not leaves(
                    self.fn.type_of(s.target)
                ):
                    return False
            elif is_expr(getattr(s, "value", None), "call") and self._passes(s.value, names):
                return False
        return True

    def _holds_integers(self, name):
        ty = self.fn.type_of(name)
        return isinstance(ty, types.Array | types.BaseTuple) and not leaves(ty)

    def _passes(self, call, names):
        """Whether a callee whose code is not here gets one of the arrays named."""
        called = isinstance(self.fn.type_of(call.func), types.Dispatcher)
        return called and any(v.name in names for v in call.args)

    # -- which adjoints of arrays the pieces may share ----------------------------------------

    def can_be_reversed_in_pieces(self, wrt):
        """Whether no adjoint that a piece needs is another one's to change."""
        return all(
            self.reach.get(leaf) == 0 or leaf not in self.written or leaf not in self.read
            for leaf in self._handles()
            if leaf[0] in wrt
        )

    def _ops_on(self, leaf):
        node = self._node(leaf)
        for op in self.activity.every():
            touched = [*op.reads(), *(x for pair in (*op.flows, *op.aliases) for x in pair)]
            if any(self.activity.node(x) == node for x in (*touched, *op.stores, *op.defined())):
                yield op

    def _has_rows(self, leaf):
        """Whether rows of an array share no memory: what is read-only may be a view of `np.broadcast_to`."""
        k, path = leaf
        (ty,) = (found.type for _, found in self._leaves(k) if found.path == path)
        return not isinstance(ty, types.Array) or ty.mutable

    def _find_reach(self, leaf):
        """How far from its own number, as first index, an iteration touches an array; None: anywhere."""
        every, reach = list(self._ops_on(leaf)), 0
        own = {op.target for op in every if isinstance(op, View)}  # blocks come in any order
        for op in every:
            if not isinstance(op, View | Load | Store):
                return None
            base, access = _access(op)
            if base.name not in own:
                offset = self._offset(access)
                if offset is None:
                    return None
                reach = max(reach, abs(offset))
        return reach

    def _offset(self, access):
        """The first index of an access less the number of the iteration, if that is a constant."""
        if not is_expr(access, "getitem") and not isinstance(access, ir.SetItem):
            return None
        index = access.index
        tuple_ = self.fn.definition(index)
        first = tuple_.items[0] if is_expr(tuple_, "build_tuple") and tuple_.items else index
        return self._beyond_number(first)

    def _beyond_number(self, index):
        if index.name in self._numbers:
            return 0
        value = self.fn.definition(index)
        if not is_expr(value, "binop") or value.fn not in (operator.add, operator.sub):
            return None
        if value.lhs.name not in self._numbers:
            return None
        step = self.fn.constant(value.rhs)
        return step if type(step) is int else None

    @cached_property
    def _numbers(self):
        """The names of the number of an iteration."""
        found = set()
        for _, s in self.fn.statements():
            value = getattr(s, "value", None)
            if is_expr(value, "pair_first") and self._counts_iterations(value.value):
                found.add(s.target.name)
        return found

    def _counts_iterations(self, pair):
        step = self.fn.definition(pair)
        getiter = self.fn.definition(step.value) if is_expr(step, "iternext") else None
        call = self.fn.definition(getiter.value) if is_expr(getiter, "getiter") else None
        return is_expr(call, "call") and call.args[0].name == self.fn.parameters[0] == FIRST


def _access(op):
    """The array that a statement reads, writes or shows, and the node that holds the index."""
    if isinstance(op, Store):
        return op.statement.target, op.statement
    return (op.base if isinstance(op, View) else op.expr.value), op.expr


def _returned(fn):
    for _, s in fn.statements():
        if isinstance(s, ir.Return):
            return types.unliteral(fn.type_of(s.value))
    raise UnsupportedError(f"{fn.name} never ends")


def _reached(start, edges):
    seen, pending = set(), [start]
    while pending:
        for node in edges.get(pending.pop(), ()):
            if node not in seen:
                seen.add(node)
                pending.append(node)
    return seen
