"""The vector-Jacobian product of a right-hand side on a GPU: what `nd.cuda.grad` is made of, at a stage."""

from numba.cuda import cgutils
from numba.cuda.core.imputils import impl_ret_borrowed
from numba.cuda.extending import intrinsic

from numbad.cuda.compiler import DeviceCode
from numbad.cuda.device_function import DeviceFunction
from numbad.cuda.dual_code import untyped_ir
from numbad.cuda.pullback import device_pullback
from numbad.cuda.tape import TAPE_BYTES, new_tape
from numbad.cuda.trajectories.listed_returns import tuple_stages


def stage_pull(slope, by_args):
    """The device function `pull(args, shadows, seed) -> (value, adjoints)` of a `Slope`."""
    given = slope.wrapper(), slope.differentiated_by(by_args), tuple_stages(slope.fun)
    evaluated = evaluation(device_pullback(*given))

    def pull(args, shadows, seed):
        return evaluated(args, shadows, seed)

    parameters = "args", "shadows", "seed"
    code = DeviceCode(
        "pull_stage", parameters, lambda given: untyped_ir(pull, given).blocks, origin=slope.fun
    )
    return DeviceFunction(code.stub, code)


def evaluation(pullback):
    """The intrinsic `evaluated(args, shadows, seed)` that calls a pullback.

    Where a user's function raises, or a tape is full, the thread ends.
    """

    @intrinsic
    def evaluated(typingctx, args, shadows, seed):
        result = pullback.result(args, shadows, seed)

        def codegen(context, builder, signature, arguments):
            compiled = pullback.compile(args, shadows, seed)
            context.active_code_library.add_linking_library(compiled.library)
            given = [new_tape(builder, TAPE_BYTES), *arguments]
            status, returned = context.call_internal_no_propagate(
                builder, compiled.fndesc, compiled.signature, given
            )
            with cgutils.if_unlikely(builder, status.is_error):
                context.fndesc.call_conv.return_status_propagate(builder, status)
            return impl_ret_borrowed(context, builder, result, returned)

        return result(args, shadows, seed), codegen

    return evaluated
