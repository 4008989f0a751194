"""The vector-Jacobian product of a right-hand side or a step on a GPU: what `nd.cuda.grad` is made of."""

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
    given = slope.wrapper(), slope.differentiated_by(by_args), slope.fun
    return device_pull(*given, tuple_stages(slope.fun))


def device_pull(f, wrt, origin, stages=()):
    """The device function `pull(args, shadows, seed) -> (value, adjoints)` of a dispatcher.

    It is by the arguments `wrt`; `origin` is the user's function, and `stages` those of `device_pullback`.
    """
    evaluated = _evaluation(device_pullback(f, wrt, stages))

    def pull(args, shadows, seed):
        return evaluated(args, shadows, seed)

    parameters = "args", "shadows", "seed"
    code = DeviceCode(
        "pull_stage", parameters, lambda given: untyped_ir(pull, given).blocks, origin=origin
    )
    return DeviceFunction(code.stub, code)


def _evaluation(pullback):
    """The intrinsic that calls a pullback.

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
