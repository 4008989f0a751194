"""Both sweeps of a function among dual numbers, for a GPU: forward over reverse.

They are the blocks that reverse mode makes for the CPU, with the functions meant for dual numbers put where
they name the usual ones, as `SweepCompiler` of `reverse.pipeline` does; there are no allocations to promote.
"""

from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.core.ir_utils import build_definitions
from numba.core.untyped_passes import FixupArgs, TranslateByteCode

from ..forward.dualize import ReplaceFunctions
from ..forward.promote import refresh
from ..ir.capture import Capture
from ..reverse.pipeline import Pull
from ..source import define
from .dual_code import untyped_ir
from .precision import stages_of


def sweep_of_duals(pullback, argtypes):
    """The blocks of a pullback for `(tape, arguments, shadows, seed)` of these types."""
    stub = define("def sweep(tape, args, shadows, seed):\n    return None\n", {})
    stub.__numbad_pull__ = _DualPull(pullback)
    return untyped_ir(stub, argtypes, UntypedSweep).blocks


class _DualPull(Pull):
    """A function and what to differentiate it by, on a GPU."""

    allocates = False

    def __init__(self, pullback):
        super().__init__(pullback.f, pullback.wrt)
        self.stages = pullback.stages

    def blocks(self, state, scope):
        pipeline = self.pipeline(state)
        pipeline.stages = (*self.stages, *stages_of(pipeline.argtypes))
        return pipeline.run(scope)


@register_pass(mutates_CFG=True, analysis_only=False)
class PutSweep(FunctionPass):
    """Puts both sweeps in place of the code of a stub."""

    _name = "numbad_cuda_put_sweep"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        func_ir = state.func_ir
        scope = next(iter(func_ir.blocks.values())).scope
        func_ir.blocks = state.func_id.func.__numbad_pull__.blocks(state, scope)
        func_ir._definitions = build_definitions(func_ir.blocks)
        refresh(state)
        return True


class UntypedSweep(CompilerBase):
    """The passes up to the inference of types."""

    def define_pipelines(self):
        pm = PassManager("numbad sweep of duals for a GPU")
        for stage in (TranslateByteCode, FixupArgs, PutSweep, ReplaceFunctions, Capture):
            pm.add_pass(stage, stage.__name__)
        pm.finalize()
        return [pm]
