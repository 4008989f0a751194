"""Kernels whose precision is chosen when they are compiled, and that compile without a GPU."""

from functools import cached_property

from numba.core import types
from numba.cuda.compiler import compile_cuda, kernel_fixup
from numba.cuda.cudadrv import driver
from numba.cuda.dispatcher import _Kernel

from ..errors import NumbadError, UnsupportedError
from ..ode.complaint import CANNOT_COMPILE
from .narrowing import narrowed

SINGLE, DOUBLE = "float32", "float64"

_REFUSED = (
    "a function cannot be compiled for the GPU. It and its callees must be what numba-cuda compiles: without "
    "arrays (np.array, np.zeros: return and keep tuples), with functions of math rather than of NumPy or "
    "SciPy. numba-cuda says:"
)
# 0.0 + x is x where the sign of a zero does not count, and a sweep begins each of its sums so.
_SUM, _UNSIGNED_SUM = " = fadd ", " = fadd nsz "


class Kernel:
    """A kernel for argument types, in which floats are float64 whatever the `precision` it is to have.

    In float32 it takes arrays of float32 in their place. Without `signed_zeros`, sums may be -0.0 for 0.0.
    It is compiled for a compute capability, such as (9, 0), to LLVM and PTX; only a launch needs a GPU.
    """

    def __init__(self, py_func, argtypes, precision=DOUBLE, signed_zeros=True):
        self.py_func, self.argtypes, self.precision = py_func, tuple(argtypes), precision
        self.signed_zeros = signed_zeros
        self._made, self._ready = {}, {}

    def library(self, capability):
        """What numba-cuda makes of the kernel for a capability."""
        if capability not in self._made:
            self._made[capability] = self._compile(capability)
        return self._made[capability].library

    def _compile(self, capability):
        try:
            made = compile_cuda(
                self.py_func, types.void, self.argtypes, cc=capability, nvvm_options={"opt": 3}
            )
        except Exception as error:
            if isinstance(error, NumbadError) and not str(error).startswith(CANNOT_COMPILE):
                raise
            raise UnsupportedError(f"{_REFUSED}\n{error}") from error
        library = made.library
        entry = library.get_function(made.fndesc.llvm_func_name)
        library._entry_name = entry.name
        kernel_fixup(entry, False)
        if not self.signed_zeros:
            library._llvm_strs = [text.replace(_SUM, _UNSIGNED_SUM) for text in library.llvm_strs]
        if self.precision == SINGLE:
            library._llvm_strs = [narrowed(text) for text in library.llvm_strs]
        return made

    def llvm(self, capability):
        """The texts of its LLVM modules."""
        return self.library(capability).llvm_strs

    def ptx(self, capability):
        """Its PTX."""
        return self.library(capability).get_asm_str(cc=capability)

    @cached_property
    def name(self):
        return self.py_func.__name__

    def launch(self, arguments, blocks, threads, stream):
        """Queue it on the current device."""
        from numba import cuda

        device = cuda.get_current_device()
        if device.id not in self._ready:
            self._ready[device.id] = self._bound(device.compute_capability)
        ready, queue = self._ready[device.id], driver._to_core_stream(stream)
        ready.launch(arguments, (blocks, 1, 1), (threads, 1, 1), queue)

    def _bound(self, capability):
        kernel = self.rebuilt(capability)
        kernel.bind()
        return kernel

    def rebuilt(self, capability):
        """numba-cuda's object for the kernel, of the library as it is here."""
        self.library(capability)
        made = self._made[capability]
        kernel = _Kernel._rebuild(
            cooperative=False,
            name=made.library._entry_name,
            signature=self._passed(made.signature),
            codelibrary=made.library,
            debug=False,
            lineinfo=False,
            call_helper=made.call_helper,
            extensions=[],
        )
        kernel.target_context = made.target_context
        return kernel

    def _passed(self, signature):
        """The signature by which arguments are passed: floats in the kernel's precision."""
        if self.precision == DOUBLE:
            return signature
        return signature.return_type(*map(_in_single, signature.args))


def _in_single(ty):
    """The type of a number, or of a tuple of such, with float32 for float64; any other as it is."""
    if isinstance(ty, types.UniTuple):
        return types.UniTuple(_in_single(ty.dtype), ty.count)
    return types.float32 if ty == types.float64 else ty
