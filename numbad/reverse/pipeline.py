"""The stages that make the adjoint of a function, in order, and the dispatchers that run them."""

from functools import partial

from numba.core import ir, types
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.core.cpu_options import FastMathOptions
from numba.core.errors import NumbaError
from numba.core.ir_utils import build_definitions
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import (
    AnnotateTypes,
    NoPythonBackend,
    NoPythonSupportedFeatureValidation,
)
from numba.core.untyped_passes import FixupArgs, TranslateByteCode

from ..compilation import caching
from ..compilation.inherited import inherited_options
from ..compilation.linking import compiled
from ..compilation.memo import enter, remembered
from ..constants import by_symbols
from ..debugging import debugging
from ..errors import NumbadError
from ..forward import dual as d
from ..forward.checked_stores import CheckStores
from ..forward.complex_parts import CopyParts
from ..forward.dualize import ReplaceFunctions, without_wrappers
from ..forward.promote import PromoteAllocations
from ..forward.refuse import refusing
from ..ir.capture import capture
from ..ir.expand import expand
from ..ir.extension_types import holds_parts
from ..ir.flat_results import holds_numbers, warn_of_flat_result
from ..ir.function import duplicate
from ..ir.hoisting import hoist_parts
from ..ir.leaves import leaves
from ..ir.loops import Control
from ..ir.searches import warn_of_searches
from ..ir.switching_lines import warn_of_switches
from ..ir.typing import Inference
from ..ir.unwind import nopython_pipeline
from ..rules.registry import generation
from ..source import define
from .activity import Activity
from .cotangents import Lanes, RowSeed
from .fusion import fuse
from .lowering import NATURAL, PlaceDels, SweepLowering
from .nonnegative import natural_indices
from .ops.objects import refuse_at_boundary
from .ops.parallel_loop import Parallel
from .options import Options
from .parallel import PartDispatcher, body, with_loops_apart
from .pullbacks import of_code
from .row_seeds import refuse_lanes
from .separate_memory import Apart, written_apart
from .split import SplitSweep
from .split_callees import Pairs
from .stack import STACK
from .sweep import Sweep
from .switches import Switch
from .try_blocks import refuse_raising
from .value_tape import call_guarded, call_guarded_in_place

LANE_LOOPS = Switch(
    "lane_loops",
    "within nd.vector_math(), loops whose iterations meet only in sums, or write what is theirs, go in lanes",
)


class Pipeline:
    """From a Python function and argument types to the blocks of both sweeps."""

    stages = ()  # further ones of `capture`, over the code before its types are known

    def __init__(
        self,
        dispatcher,
        argtypes,
        wrt,
        dual=None,
        allocates=True,
        snapshots=None,
        lanes=None,
        seed=None,
    ):
        self.dispatcher, self.argtypes, self.wrt, self.dual = dispatcher, argtypes, wrt, dual
        self.snapshots = snapshots  # see `nd.checkpoint`
        self.lanes = lanes  # what runs a loop in lanes, see `lane_loops.py`
        self.seed = seed  # the type of the cotangent, where it is known
        self.gathers = True
        self.allocates = allocates  # whether the target has new arrays

    def analyse(self, split=False):
        """The expanded function, its activity and its control flow."""
        pairs = Pairs(self)
        try:
            return self._analyse(split, pairs.stays)
        except NumbadError:
            if not pairs.taken:
                raise
        return self._analyse(split, None)

    def _analyse(self, split, stays):
        apart = self.allocates and not debugging()  # an error in a thread does not tell what it is
        body_of = partial(with_loops_apart, analyse=analysed) if apart else body
        plain = self.dual is None or isinstance(self.dual, Lanes)
        stages = self.stages if plain else (*self.stages, CopyParts)
        takes_lanes = self._takes_lanes() and not split
        if takes_lanes:
            body_of = self._searching_values(body_of)
        fn, activity = self._expanded(partial(body_of, stages=stages), stays)
        parallel = [op for op in activity.every() if isinstance(op, Parallel)]
        apart = Apart(fn, activity, Control(fn)) if parallel else None
        if not all(written_apart(op, apart) for op in parallel):
            fn, activity = self._expanded(partial(body, stages=stages), stays)
        activity.refuse_unknown()
        refuse_raising(fn, activity, self.dispatcher.targetoptions)
        refuse_at_boundary(fn, activity, [] if split else self.inputs(fn), returned(fn))
        self._warn(fn, activity)
        if takes_lanes and not fn.checked:
            fn, activity = self._with_lanes(fn, activity)
        return fn, activity, Control(fn, split)

    def _takes_lanes(self):
        """Whether loops may go in lanes, where indices are not checked and errors do not tell their place."""
        checked = self.dispatcher.targetoptions.get("boundscheck") or debugging()
        return self.lanes and LANE_LOOPS.is_on() and self.dual is None and not checked

    def _searching_values(self, body_of):
        """What gives the code of a dispatcher, with extrema found by value: see `lanes/extrema.py`."""
        return lambda *given, **more: self.lanes.search_values(body_of(*given, **more))

    def _with_lanes(self, fn, activity):
        """The function with loops in lanes, where there are such, and its activity."""

        def analyse(fn):
            return self._activity(fn)

        def of_all(fn):
            return Activity(fuse(fn), all_leaves(fn), returned(fn))

        other, root = duplicate(fn), ((self.dispatcher, self.argtypes),)
        natural = getattr(self.dispatcher, "natural", ())
        make = partial(self.lanes.make, self.dispatcher, self.argtypes)
        try:
            # What carries no derivative is put in place, too: its code tells what it writes to.
            expand(other, of_all, self._searching_values(body), root)
            taken = self.lanes.take_out(other, analyse, make, natural)
        except (NumbaError, NumbadError):
            return fn, activity
        return (other, analyse(other)) if taken else (fn, activity)

    def _warn(self, fn, activity):
        is_varied, *kinds = _kinds(fn, activity)
        warn_of_searches(fn.blocks, is_varied, *kinds)
        warn_of_switches(fn.blocks, is_varied)
        kinds = is_varied, lambda name: holds_numbers(fn.type_of(name))
        code = self.dispatcher.py_func.__code__
        warn_of_flat_result(code, fn.blocks, kinds, callee=partial(_called, fn))

    def _expanded(self, body_of, stays):
        """The function, its active callees put in place, and its activity."""
        try:
            fn = body_of(self.dispatcher, self.argtypes)
        except NumbaError as error:
            error.of_the_primal = True
            raise
        root = ((self.dispatcher, self.argtypes),)
        return fn, expand(
            fn,
            lambda f: self._activity(fuse(hoist_parts(f))),
            body_of,
            root,
            stays,
        )

    def run(self, scope):
        """The blocks of both sweeps, `(tape, args, shadows, seed) -> (value, adjoints)`."""
        self.fn, *rest = self.analyse()
        if isinstance(self.dual, Lanes):
            refuse_lanes(self.fn, rest[0])
        shared = isinstance(self.dispatcher, PartDispatcher)
        stack = self.allocates and STACK.is_on()
        options = Options(stack, self.snapshots, shared, self.allocates and self.gathers)
        self.sweep = Sweep(self.fn, *rest, self.wrt, scope, self.dual, pair_of, options)
        return self.sweep.build()

    def _activity(self, fn):
        seeded = [
            leaf for leaf in returned(fn) if self.seed is None or _reaches(self.seed, leaf[1])
        ]
        return Activity(fn, self.inputs(fn), returned(fn), seeded)

    def inputs(self, fn):
        """The leaves of the parameters to differentiate by."""
        return [
            (fn.parameters[k], leaf.path)
            for k in self.wrt
            for leaf in leaves(fn.type_of(fn.parameters[k]))
        ]


def all_leaves(fn):
    """The leaves of all parameters."""
    return [(name, leaf.path) for name in fn.parameters for leaf in leaves(fn.type_of(name))]


def analysed(dispatcher, argtypes, wrt):
    """The function, the activity and the control flow of code that is to be differentiated."""
    return Pipeline(dispatcher, argtypes, wrt).analyse()


def has_lane_loops(dispatcher, argtypes, wrt, lanes):
    """Whether a function is known to have loops that may go in lanes, worth while to be reversed so."""
    found = []
    try:
        Pipeline(dispatcher, argtypes, wrt, lanes=lanes.noting(found)).analyse()
    except Exception:  # reverse mode, when it is asked for, tells what is wrong
        return False
    return bool(found)


def _kinds(fn, activity):
    """Whether a name stands for something that depends on the inputs; a number; an array or list of them."""
    varied = {name for name, _ in activity.varied}

    def is_varied(name):
        own = ((name, leaf.path) for leaf in leaves(fn.type_of(name)))
        return name in varied or any(activity.node(leaf) in activity.varied for leaf in own)

    def holds_floats(name):
        return isinstance(getattr(fn.type_of(name), "dtype", None), types.Float)

    return is_varied, lambda name: isinstance(fn.type_of(name), types.Float), holds_floats


def _called(fn, dispatcher, call):
    """The code of a callee that returns an index: its blocks, and which names stand for floats and numbers.

    None of the floats is an element of a constant there, as all that it compares may depend on the inputs.
    """
    if call not in fn.calls:
        return None
    try:
        callee = capture(dispatcher, tuple(fn.calls[call].args))
    except (NumbaError, NumbadError):  # it is not differentiated
        return None

    def holds_floats(name):
        ty = callee.type_of(name)
        return isinstance(getattr(ty, "dtype", ty), types.Float)

    return callee.blocks, holds_floats, lambda name: holds_numbers(callee.type_of(name))


class PairPart:
    """One of the two functions of a recursive callee: "forward" or "reverse"."""

    def __init__(self, pipeline, part):
        self.pipeline, self.part = pipeline, part
        self.dispatcher = pipeline.dispatcher

    def has_duals(self, argtypes):
        return self.pipeline.dual is not None

    def blocks(self, state, scope):
        """The blocks of this part."""
        p = self.pipeline
        fn, *rest = p.analyse(split=True)
        self.strict, self.checked, self.of_parts = fn.strict, fn.checked, _has_parts(fn)
        sweep = SplitSweep(fn, *rest, p.wrt, scope, p.dual, pair_of)
        self.natural = natural_indices(sweep.plan)
        return sweep.build_forward() if self.part == "forward" else sweep.build_reverse()


def pair_of(dispatcher, argtypes, wrt, dual):
    """The dispatchers of the forward and the reverse part of a recursive function.

    With `dual`, all its numbers are dual numbers.
    """
    known = remembered(dispatcher, "pairs")
    key = generation(), argtypes, wrt, dual and dual(types.float64)
    if key not in known:
        pipeline = Pipeline(dispatcher, argtypes, wrt, dual)
        known[key] = tuple(
            stub_dispatcher(dispatcher, PairPart(pipeline, part), parameters)
            for part, parameters in (
                ("forward", "tape, top, args, shadows"),
                ("reverse", "tape, top, seed"),
            )
        )
    return known[key]


def _has_parts(fn):
    """Whether there are namedtuples that stand for extension types."""
    return any(map(holds_parts, set(fn.types.values())))


def returned(fn):
    """The leaves of what the function returns."""
    found = []
    for _, s in fn.statements():
        if isinstance(s, ir.Return):
            found += [(s.value.name, leaf.path) for leaf in leaves(fn.type_of(s.value))]
    return found


def _reaches(seed, path):
    """Whether a cotangent of a type has a part for a leaf of the result: None stands for no part."""
    for k in path:
        if not isinstance(seed, types.BaseTuple):
            break
        seed = seed[k]
    return not isinstance(seed, types.NoneType)


@register_pass(mutates_CFG=True, analysis_only=False)
class Differentiate(FunctionPass):
    """Puts both sweeps in place of a stub's code."""

    _name = "numbad_differentiate"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        func_ir = state.func_ir
        scope = next(iter(func_ir.blocks.values())).scope
        pull = state.func_id.func.__numbad_pull__
        func_ir.blocks = pull.blocks(state, scope)
        setattr(func_ir, NATURAL, pull.natural)
        fastmath = state.targetctx.fastmath
        state.targetctx.fastmath = _without_promises(fastmath) if not pull.strict else False
        if pull.checked:
            state.targetctx.enable_boundscheck = True
        func_ir._definitions = build_definitions(func_ir.blocks)
        by_symbols(state.targetctx)
        state.typingctx.refresh()
        state.targetctx.refresh()
        return True


def _without_promises(fastmath):
    """What `fastmath` allows but for taking no number to be infinite or nan.

    That is said of the function; its derivative may meet an infinite slope beside a zero.
    """
    flags = fastmath.flags if fastmath else set()
    if "fast" in flags:
        flags = {"nsz", "arcp", "contract", "afn", "reassoc"}
    return FastMathOptions(flags - {"nnan", "ninf"})


@register_pass(mutates_CFG=False, analysis_only=False)
class ReplaceBesideParts(ReplaceFunctions):
    """What stands for extension types is known to the functions meant for duals."""

    _name = "numbad_replace_beside_parts"

    def run_pass(self, state):
        return state.func_id.func.__numbad_pull__.of_parts and super().run_pass(state)


def _joined(state, duals):
    """What makes the type of adjoints beside dual numbers; None without."""
    if not duals:
        return None
    joined = duals[0]
    for other in duals[1:]:
        joined = d.join(state.typingctx, joined, other)
    return lambda scalar: _real_as(scalar, d.join(state.typingctx, scalar, joined))


def _real_as(scalar, joined):
    """The type of adjoints of real numbers, beside complex ones too."""
    base = d.base_scalar(joined)
    if isinstance(base, types.Complex) and not isinstance(d.base_scalar(scalar), types.Complex):
        return d.with_base(joined, base.underlying_float)
    return joined


class SweepCompiler(CompilerBase):
    """Numba's nopython pipeline for blocks that need no analysis any more."""

    def define_pipelines(self):
        without_wrappers(self.state)
        pm = PassManager("numbad sweep")
        pull = self.state.func_id.func.__numbad_pull__
        dual = pull.has_duals(self.state.args)
        stages = [TranslateByteCode, FixupArgs, Differentiate]
        stages += [ReplaceFunctions, PromoteAllocations] if dual else [ReplaceBesideParts]
        stages += [Inference, *([CheckStores] if dual else [])]
        stages += [NoPythonSupportedFeatureValidation]
        stages += [PlaceDels, AnnotateTypes, SweepLowering, NoPythonBackend]
        for stage in stages:
            pm.add_pass(stage, stage.__name__)
        pm.finalize()
        return [pm]


class SweepDispatcher(CPUDispatcher):
    """Both sweeps of a function, called as `(tape, args, shadows, seed)` by the guard."""

    handles_duals = True

    def compile(self, sig):
        with refusing(self.py_func.__numbad_pull__.dispatcher.py_func, self, generated=True):
            return super().compile(sig)


class InnerCompiler(SweepCompiler):
    """For sweeps that nothing but their guard calls: optimised as a part of the caller, once."""

    def define_pipelines(self):
        flags = self.state.flags
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        return super().define_pipelines()


class InnerDispatcher(SweepDispatcher):
    """A sweep without an entry of its own."""

    def add_overload(self, cres):
        self.overloads[tuple(cres.signature.args)] = cres
        enter(self, cres)


class GuardCompiler(CompilerBase):
    """Numba's nopython pipeline; what takes or returns duals has no entry from Python."""

    def define_pipelines(self):
        without_wrappers(self.state)
        return [nopython_pipeline(self.state, SweepLowering)]


class PullDispatcher(CPUDispatcher):
    """The guard of a sweep: it owns the tape."""

    handles_duals = True

    @property
    def pulled(self):
        """The function whose pullback this is."""
        return self.py_func.__numbad_pull__.dispatcher

    def compile(self, sig):
        with refusing(self.py_func.__numbad_pull__.dispatcher.py_func, self, generated=True):
            return compiled(self, super().compile, sig)


class Pull:
    """A function and the arguments to differentiate it by."""

    allocates = True  # whether the target has new arrays

    def __init__(self, dispatcher, wrt, snapshots=None, lanes=None):
        self.dispatcher, self.wrt, self.snapshots = dispatcher, wrt, snapshots
        self.lanes = lanes  # what runs a loop in lanes, see `lane_loops.py`

    def has_duals(self, argtypes):
        """Whether there are dual numbers among the arguments."""
        return any(True for ty in argtypes for _ in d.duals_in(ty))

    def pipeline(self, state):
        """The stages for the argument types of a compilation."""
        args, shadows, seed = state.args[1:]
        duals = [t for ty in (args, shadows, seed) for t in d.duals_in(ty)]
        argtypes = tuple(map(d.primal_type, args))
        dual = Lanes(seed) if isinstance(seed, RowSeed) else _joined(state, duals)
        given = self.dispatcher, argtypes, self.wrt, dual, self.allocates
        seed = None if isinstance(seed, RowSeed) else seed
        return Pipeline(*given, snapshots=self.snapshots, lanes=self.lanes, seed=seed)

    def blocks(self, state, scope):
        """The blocks of both sweeps for the argument types of a compilation."""
        pipeline = self.pipeline(state)
        blocks = pipeline.run(scope)
        fn = pipeline.fn
        self.strict, self.checked, self.of_parts = fn.strict, fn.checked, _has_parts(fn)
        self.natural = natural_indices(pipeline.sweep.plan)
        return blocks


def written_call(pull, name, given, namespace, in_place=False):
    """Source of the call of a pullback, by its sweep itself if it has one; `name` stands for it.

    The code of a sweep stands `in_place` of its call where little of it may be needed.
    """
    sweep = getattr(pull, "sweep", None)
    namespace[name] = pull if sweep is None else sweep
    if sweep is None:
        return f"{name}({given})"
    namespace["call_guarded"] = call_guarded_in_place if in_place else call_guarded
    return f"call_guarded({name}, {given})"


@of_code
def _pullback(f, wrt, snapshots, lanes):
    pull = Pull(f, wrt, snapshots, lanes)
    kinds = {"dispatcher": InnerDispatcher, "compiler": InnerCompiler}
    sweep = stub_dispatcher(f, pull, "tape, args, shadows, seed", **kinds)
    options = sweep.targetoptions
    source = "def pull(args, shadows, seed):\n    return call_guarded(sweep, args, shadows, seed)\n"
    guard = define(source, {"call_guarded": call_guarded, "sweep": sweep})
    guard.__numbad_pull__ = pull
    outer = PullDispatcher(guard, targetoptions=options, pipeline_class=GuardCompiler)
    outer.sweep = sweep
    return caching.enable(outer, lambda: ("pull", wrt, options, snapshots, bool(lanes), f))


def stub_dispatcher(f, pull, parameters, dispatcher=SweepDispatcher, compiler=SweepCompiler):
    """A dispatcher whose code `pull.blocks` gives when the types are known."""
    name = f.py_func.__name__.replace("<lambda>", "lambda")
    stub = define(f"def sweep_{name}({parameters}):\n    return None\n", {})
    stub.__numbad_pull__ = pull
    options = inherited_options(f)
    options["nopython"] = True
    return dispatcher(stub, targetoptions=options, pipeline_class=compiler)
