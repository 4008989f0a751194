"""The adjoint's blocks, compiled by numba-cuda as a device function.

The code of a function is captured and transformed once for all targets; here its blocks take the
place of a stub's in numba-cuda's own pipeline, with the flags of the kernel that calls it.
"""

from numba.core import ir
from numba.core.compiler import Compiler
from numba.core.dispatcher import Dispatcher
from numba.cuda.compiler import (
    CreateLibrary,
    CUDABackend,
    CUDANativeLowering,
    CUDATranslateBytecode,
    compile_extra,
)
from numba.cuda.core.callconv import CUDACallConv
from numba.cuda.core.compiler import CompilerBase
from numba.cuda.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.cuda.core.targetconfig import ConfigStack
from numba.cuda.core.typed_passes import (
    AnnotateTypes,
    InlineOverloads,
    IRLegalization,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.cuda.core.untyped_passes import FixupArgs, IRProcessing
from numba.cuda.cudadrv.error import CudaSupportError
from numba.cuda.descriptor import cuda_target

from ..errors import DeviceError, NumbadError, UnsupportedError
from ..forward.refuse import place_of_def, reason
from ..ir.fence import place
from ..source import define
from .retarget import Copies

HELD = "_CUDATypingContext__dispatcher"
"""Where numba-cuda looks for the device function that stands for a dispatcher of the CPU's."""

_WAY_OUT = (
    "Way out: a kernel has no memory for new arrays (np.empty, np.zeros, x.copy(), arithmetic of whole "
    "arrays). Keep numbers in variables and tuples, or take work arrays as arguments, with tangents "
    "(nd.cuda.jvp) where they are to hold differentiated numbers. Differentiated arrays are read and "
    "written by indices; functions are those of math, or NumPy's of numbers."
)


@register_pass(mutates_CFG=True, analysis_only=False)
class PutBlocks(FunctionPass):
    """Puts blocks of Numba's IR, made for the argument types, in place of the stub's."""

    _name = "numbad_cuda_put_blocks"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        func_ir = state.func_ir
        code = state.func_id.func.__numbad_code__
        blocks = code.blocks_for(state.args)
        _refuse_own_code(blocks, code.stands_for)
        state.numbad_copies = Copies(func_ir.arg_names)
        func_ir.blocks = state.numbad_copies.blocks(blocks)
        state.typingctx.refresh()  # the stages have made intrinsics
        state.targetctx.refresh()
        return True


def _refuse_own_code(blocks, stands_for):
    """Refuse calls of functions whose code is not their source: numba-cuda would compile a stub.

    `stands_for` are the classes of dispatchers for which it finds a device function.
    """
    for block in blocks.values():
        for statement in block.find_insts(ir.Assign):
            held = isinstance(statement.value, ir.Global | ir.FreeVar)
            called = statement.value.value if held else None
            if not isinstance(called, Dispatcher) or isinstance(called, stands_for):
                continue
            if called._compiler.pipeline_class is not Compiler:
                raise UnsupportedError(
                    f"{called.py_func.__name__} cannot be called on a GPU: {place(statement.loc)}\n"
                    "Way out: recursive functions, solvers and results of operators run on the CPU only; "
                    "write recursion as a loop."
                )


@register_pass(mutates_CFG=False, analysis_only=False)
class UseTypes(FunctionPass):
    """Lets the code change what the types say more about."""

    _name = "numbad_cuda_use_types"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        state.func_id.func.__numbad_code__.typed(state, state.numbad_copies)
        return True


class BlocksCompiler(CompilerBase):
    """numba-cuda's pipeline for blocks that need no SSA and no inlining of closures."""

    def define_pipelines(self):
        pm = PassManager("numbad_cuda")
        for step in (
            *(CUDATranslateBytecode, FixupArgs, PutBlocks, IRProcessing),
            *(NopythonTypeInference, UseTypes, PreLowerStripPhis, InlineOverloads),
            *(IRLegalization, AnnotateTypes, CreateLibrary, CUDANativeLowering, CUDABackend),
        ):
            pm.add_pass(step, step.__name__)
        pm.finalize()
        return [pm]


class DeviceCode:
    """What `blocks_for(argument types)` gives, compiled for argument types and flags, once each."""

    stands_for = ()  # see `_refuse_own_code`

    def __init__(self, name, parameters, blocks_for, fastmath=False, origin=None):
        stub = define(f"def {name}({', '.join(parameters)}):\n    raise NotImplementedError\n", {})
        stub.__numbad_code__ = self
        self.stub = stub
        self.blocks_for = blocks_for
        self.fastmath = fastmath
        self.origin = origin  # the user's function
        self.compiled = {}

    def typed(self, state, copies):
        """What is to be done once the types are known; `copies` are those of Numba's own IR."""

    def compile(self, argtypes):
        """The compile result for the flags of the function that is being compiled."""
        flags = ConfigStack.top_or_none().copy()
        flags.inline = "never"
        if not flags.debuginfo:
            flags.forceinline = True  # so that the tape's bookkeeping becomes registers
        if self.fastmath:
            flags.fastmath = self.fastmath
        key = argtypes, flags.summary()
        if key not in self.compiled:
            try:
                self.compiled[key] = self._compile(argtypes, flags)
            except NumbadError:
                raise
            except CudaSupportError as error:
                raise DeviceError(self._no_driver(error)) from error
            except Exception as error:
                raise UnsupportedError(self._refusal(error)) from error
        return self.compiled[key]

    def _no_driver(self, error):
        return (
            f"{self._name} cannot be compiled for a GPU here: numba-cuda compiles functions that kernels "
            f"call for the GPU that it finds, and finds none ({' '.join(str(error).split())}) Way out: call "
            "what nd.cuda returns from Python, where it runs on the CPU; kernels of nd.cuda.grad alone "
            "compile to PTX without a driver (numba.cuda.compile_ptx)"
        )

    @property
    def _name(self):
        return getattr(self.origin, "__name__", "the code")

    def _refusal(self, error):
        where = f": {place(place_of_def(self.origin))}" if self.origin is not None else ""
        return f"{self._name} cannot be compiled for the GPU{where}\n{reason(error)}\n{_WAY_OUT}"

    def _compile(self, argtypes, flags):
        context = cuda_target.target_context
        return compile_extra(
            typingctx=cuda_target.typing_context,
            targetctx=context,
            func=self.stub,
            args=argtypes,
            return_type=None,
            flags=flags,
            locals={},
            pipeline_class=BlocksCompiler,
            call_conv=CUDACallConv(context),
            abi_info={},
        )


def in_debug_mode():
    """Whether the function that is being compiled reports exceptions."""
    return ConfigStack.top_or_none().error_model == "python"
