"""The sweeps of a function for several lanes at once: as for duals, generic code on another number type.

The adjoint of a function is code that knows no number type, so both sweeps compile for lanes as
they do for dual numbers, once the branches that lanes may take differently are flattened. Without
arguments to differentiate by there is a forward sweep alone, which is the function itself.
"""

from numba.core import types

from ..compilation.memo import remembered
from ..errors import UnsupportedError
from ..ir.expand import expand
from ..ir.leaves import leaves
from ..ir.loops import Control
from ..ir.normalize import normalize
from ..lanes.extrema import search_values
from ..lanes.flatten import flatten
from ..lanes.varying import Varying
from ..reverse.activity import Activity
from ..reverse.ops.objects import refuse_at_boundary
from ..reverse.parallel import body
from ..reverse.pipeline import (
    InnerCompiler,
    InnerDispatcher,
    Pipeline,
    Pull,
    returned,
    stub_dispatcher,
)
from ..reverse.try_blocks import refuse_raising
from ..reverse.value_tape import tape_type
from ..rules.registry import generation
from . import select_adjoint  # noqa: F401  (it tells reverse mode of `select`)


def one_lane(ty):
    """The type of an argument in one lane."""
    if isinstance(ty, Varying):
        return ty.scalar
    if isinstance(ty, types.Array) and isinstance(ty.dtype, Varying):
        return ty.copy(dtype=ty.dtype.scalar)
    return ty


class LanePipeline(Pipeline):
    """The stages, with one more: arguments number `batched` differ from lane to lane."""

    def __init__(self, dispatcher, argtypes, wrt, lanes, batched, fits):
        super().__init__(dispatcher, argtypes, wrt, lambda scalar: Varying(scalar, lanes))
        self.lanes, self.batched, self.fits = lanes, batched, fits

    def analyse(self, split=False):
        return self._analyse(split, None)

    def _analyse(self, split, stays):
        fn = _body(self.dispatcher, self.argtypes)
        root = ((self.dispatcher, self.argtypes),)
        # Everything that an argument's values go into is put in place, differentiated or not.
        every = range(len(fn.parameters))
        expand(fn, lambda f: Activity(f, _leaves(f, every), returned(f)), _body, root)
        flatten(fn, [fn.parameters[k] for k in self.batched], self.lanes, self.fits)
        normalize(fn)
        activity = expand(fn, lambda f: Activity(f, self.inputs(f), returned(f)), _body, root)
        activity.refuse_unknown()
        _refuse_draws(activity)
        refuse_raising(fn, activity, self.dispatcher.targetoptions)
        refuse_at_boundary(fn, activity, self.inputs(fn), returned(fn))
        return fn, activity, Control(fn, split)


def _body(dispatcher, argtypes):
    return search_values(body(dispatcher, argtypes))


def _refuse_draws(activity):
    """Lanes go through branches together: each would reach what only some of them take."""
    for op in activity.every():
        if getattr(op, "refused", False):
            raise op.refusal()


def _leaves(fn, numbers):
    return [
        (fn.parameters[k], leaf.path)
        for k in numbers
        for leaf in leaves(fn.type_of(fn.parameters[k]))
    ]


class LanePull(Pull):
    """A function, what to differentiate it by, and which arguments differ from lane to lane.

    `fits(function)`: whether a function may be called in a loop that some lanes have left.
    """

    def __init__(self, dispatcher, wrt, lanes, batched, fits):
        super().__init__(dispatcher, wrt)
        self.lanes, self.batched, self.fits = lanes, batched, fits

    def has_duals(self, argtypes):
        return False

    def pipeline(self, state):
        argtypes = tuple(map(one_lane, state.args[1]))
        return LanePipeline(
            self.dispatcher, argtypes, self.wrt, self.lanes, self.batched, self.fits
        )


def lane_sweep(f, wrt, lanes, batched, fits):
    """The dispatcher of both sweeps of `f` for `lanes` lanes, as `(tape, args, shadows, seed)`."""
    known = remembered(f, "lane_sweeps")
    key = generation(), wrt, lanes, batched, fits
    if key not in known:
        pull = LanePull(f, wrt, lanes, batched, fits)
        kinds = {"dispatcher": InnerDispatcher, "compiler": InnerCompiler}
        known[key] = stub_dispatcher(f, pull, "tape, args, shadows, seed", **kinds)
    return known[key]


def compiled_sweep(f, wrt, lanes, batched, argtypes, shadows, seed, fits):
    """The dispatcher of both sweeps, which generated code calls guarded, and the type of what it returns.

    Raises what compilation raises where lanes cannot go through the code of `f` together.
    """
    if hasattr(f, "numbad_pullback"):
        raise UnsupportedError(f"{f.py_func.__name__} has a derivative of its own")
    sweep = lane_sweep(f, wrt, lanes, batched, fits)
    given = (types.BaseTuple.from_types(tys) for tys in (argtypes, shadows))
    sig = (tape_type, *given, seed)
    sweep.compile(sig)
    return sweep, sweep.overloads[sig].signature.return_type
