"""`inspect_adjoint`: what reverse mode makes of a function, as a listing that a person can follow."""

from numba import njit, typeof
from numba.core import types
from numba.core.compiler import Flags
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target

from ..forward.refuse import refusing
from ..ir.callee import type_call
from ..ir.capture import Capture
from ..ir.leaves import HANDLES, leaves
from ..ir.typing import Inference
from ..source import define
from .pipeline import Pull, SweepCompiler
from .show.text import Listing
from .tape import tape_type


def inspect_adjoint(f, *args, argnums=None):
    """What reverse mode makes of a function, as text."""
    function = f if isinstance(f, Dispatcher) else njit(f)
    argtypes = tuple(typeof(a) for a in args)
    wrt = tuple(k for k, ty in enumerate(argtypes) if leaves(ty))
    pull = _Shown(function, wrt)
    state = _typed(pull, argtypes)
    return Listing(pull.stages.sweep, state.typemap, state.calltypes, argtypes).text()


class _Shown(Pull):
    """A pullback that keeps its stages, to be shown."""

    def pipeline(self, state):
        self.stages = super().pipeline(state)
        return self.stages


class _ShownCompiler(SweepCompiler):
    """The compiler of both sweeps; it stops when all types are known."""

    def define_pipelines(self):
        pipelines = super().define_pipelines()
        for pm in pipelines:
            pm._finalized = False
            pm.add_pass_after(Capture, Inference)
            pm.finalize()
        return pipelines


def _typed(pull, argtypes):
    """The state of the compilation of both sweeps, up to their types."""
    result = type_call(pull.dispatcher, argtypes).return_type
    shadows = [
        _cotangent(ty, HANDLES) if k in pull.wrt else types.none for k, ty in enumerate(argtypes)
    ]
    seed = _cotangent(result, ("scalar", *HANDLES))
    given = tape_type, types.Tuple(argtypes), types.Tuple(shadows), seed
    stub = define("def sweep(tape, args, shadows, seed):\n    return None\n", {})
    stub.__numbad_pull__ = pull
    flags = Flags()
    flags.nrt = True
    flags.error_model = "python"
    contexts = cpu_target.typing_context, cpu_target.target_context
    with refusing(pull.dispatcher.py_func):
        return _ShownCompiler(*contexts, None, given, None, flags, {}).compile_extra(stub)


def _cotangent(ty, kinds):
    """The type of the cotangent of a value: None but for leaves of these kinds."""
    ty = ty.type if isinstance(ty, types.Optional) else types.unliteral(ty)
    if isinstance(ty, types.BaseTuple):
        return types.Tuple([_cotangent(t, kinds) for t in ty.types])
    if not leaves(ty) or leaves(ty)[0].kind not in kinds:
        return types.none
    return ty.copy(readonly=False) if isinstance(ty, types.Array) else ty
