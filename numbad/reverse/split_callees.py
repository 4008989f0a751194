"""Which callees stay functions, as pairs of a forward and a reverse part, though they could be inlined.

The code of a callee stands in the sweeps once for each of its calls; LLVM takes more than twice the
time for twice the code. A pair is compiled once, but passes what the reverse part needs through the
tape: a small callee is faster in place. Four calls of a right-hand side of 64 products of quotients
took 5.7 s to compile in place and 2.7 s as a pair, at 1.2 times the run time; twelve calls took 20 s
and 3.4 s, at 0.7 times. Those of the Brusselator's (120 statements) ran 1.4 times as long as pairs.
"""

from numba.core import ir, types

from ..compilation.memo import remembered
from ..errors import NumbadError
from ..forward.promote import effects
from ..ir.capture import capture, result_type
from ..ir.function import is_expr
from ..ir.leaves import leaves
from ..rules.registry import generation
from .split import SplitSweep
from .switches import Switch

PAIRS = Switch("pairs", "large callees that are called from several places are compiled once")

STATEMENTS = 5000
"""Statements that all calls of a callee, in place, make together, from where on a pair is better."""

OF_ARRAYS = 50
"""What a statement of whole arrays, which becomes a loop, counts for."""


class Pairs:
    """Decides for the calls of one function; `taken` says whether any callee stays."""

    def __init__(self, pipeline):
        self.pipeline, self.taken = pipeline, False

    def stays(self, activity, op, arguments, calls):
        """Whether a callee with `calls` calls stays a function here, where it gets `arguments`."""
        fn = activity.fn
        tys = tuple(types.unliteral(fn.type_of(v)) for v in arguments)
        found = (
            calls > 1
            and PAIRS.is_on()
            and self.pipeline.dual is None  # such frames are wide, and second order rare
            and not (hasattr(op, "arguments") or getattr(op, "owner", None))
            and all(map(_is_plain, tys))
            and calls * statements(op.dispatcher, tys) >= STATEMENTS
            and _are_apart(activity, arguments, _changes(op.dispatcher, tys))
            and self._splits(op.dispatcher, tys)
        )
        self.taken |= found
        return found

    def _splits(self, dispatcher, argtypes):
        """Whether both parts can be made; what one call of them needs, another one may not."""
        known = remembered(dispatcher, "splits")
        key = generation(), argtypes
        if key not in known:
            known[key] = False  # for calls of it within itself
            known[key] = self._is_split(dispatcher, argtypes)
        return known[key]

    def _is_split(self, dispatcher, argtypes):
        wrt = tuple(k for k, ty in enumerate(argtypes) if leaves(ty))
        try:
            done = effects(dispatcher, range(len(argtypes)), argtypes)
            if done.random or not _is_plain(
                result_type(capture(dispatcher, argtypes)), tuples=True
            ):
                return False
            pipeline = type(self.pipeline)(dispatcher, argtypes, wrt)
            for part in ("build_forward", "build_reverse"):
                fn, *rest = pipeline.analyse(split=True)
                scope = ir.Scope(None, fn.loc)
                getattr(SplitSweep(fn, *rest, wrt, scope, None, _no_pair), part)()
        except NumbadError:
            return False
        return True


def _no_pair(*args):
    """Stands for the parts of callees within the callee, which are not called."""
    return print, print


def _is_plain(ty, tuples=False):
    """Whether a value is a number or an array of numbers in double precision, or a tuple of these."""
    if tuples and isinstance(ty, types.BaseTuple):
        return all(_is_plain(member, True) for member in ty)
    number = ty.dtype if type(ty) is types.Array else ty
    return number in (
        *(types.float64, types.complex128, types.int64, types.boolean),
        types.none,
    )


def _changes(dispatcher, argtypes):
    """Whether a callee may write to its arguments."""
    return bool(effects(dispatcher, range(len(argtypes)), argtypes).changed)


def _are_apart(activity, arguments, changed):
    """Whether none of the arrays is a constant, and no two may share memory that is written to."""
    arrays = [v.name for v in arguments if isinstance(activity.fn.type_of(v), types.Array)]
    nodes = [activity.node((name, ())) for name in arrays]
    known = all(
        name in activity.fn.definitions or name in activity.fn.parameters for name in arrays
    )
    constant = any(node in activity.constants for node in nodes)
    apart = not changed or len(set(nodes)) == len(nodes) == len(set(arrays))
    return known and not constant and apart


def statements(dispatcher, argtypes):
    """The number of statements of a function and, for each call, of its callees.

    One of whole arrays counts for many.
    """
    known = remembered(dispatcher, "statements")
    if argtypes not in known:
        known[argtypes] = 0  # for calls of it within itself
        known[argtypes] = _count(dispatcher, argtypes)
    return known[argtypes]


def _is_of_arrays(fn, s, value):
    """Whether a statement becomes a loop over arrays."""
    if isinstance(s, ir.Assign):
        made = is_expr(value, "binop", "inplace_binop", "unary", "call")
        return made and isinstance(fn.type_of(s.target), types.Array)
    return isinstance(s, ir.SetItem) and isinstance(fn.type_of(s.value), types.Array)


def _count(dispatcher, argtypes):
    try:
        fn = capture(dispatcher, argtypes)
    except Exception:  # what is wrong is told where the code is expanded
        return 0
    total = 0
    for _, s in fn.statements():
        value = getattr(s, "value", None)
        total += OF_ARRAYS if _is_of_arrays(fn, s, value) else 1
        if is_expr(value, "call") and isinstance(fn.type_of(value.func), types.Dispatcher):
            signature = fn.calls.get(value)
            if signature is not None:
                inner = tuple(map(types.unliteral, signature.args))
                total += statements(fn.type_of(value.func).dispatcher, inner)
    return total
