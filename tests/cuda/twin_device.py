"""A device that is the CPU: the LLVM code of a kernel, compiled for the host, run thread after thread.

All that a kernel does is tested so, its indices included; nothing of it but the number of the thread comes
from another place than on a GPU.
"""

import ctypes
import re

import numpy as np
from numba.core import types

from .on_cpu import CAPABILITY, engine_of

_REGISTERS = {"tid.x": "@twin_thread", "ctaid.x": "@twin_block", "ntid.x": "@twin_size"}
_STATE = """
@twin_thread = global i32 0
@twin_block = global i32 0
@twin_size = global i32 1
"""
_THREADS = 32


class Resident:
    """An array that poses as one on a GPU."""

    def __init__(self, array):
        self.array = array
        self.dtype, self.shape, self.size = array.dtype, array.shape, array.size

    __cuda_array_interface__ = None

    def is_c_contiguous(self):
        return self.array.flags.c_contiguous

    def reshape(self, *shape):
        return Resident(self.array.reshape(*shape))

    def view(self, dtype):
        return Resident(self.array.view(dtype))

    def __getitem__(self, at):
        return Resident(self.array[at])


class TwinDevice:
    """What `numbad.cuda.trajectories.accelerator.Accelerator` does, on the CPU."""

    launched = None  # the kernels that ran, where a test wants to know
    memory = 10**9  # bytes that are said to be free

    def __init__(self, stream=None):
        self.stream = stream

    def need(self, name, way_out):
        pass

    def free(self):
        return self.memory

    def is_resident(self, value):
        return isinstance(value, Resident)

    def borrowed(self, value):
        return value

    def copied(self, array, dtype):
        return Resident(np.array(array, dtype, order="C"))

    def empty(self, shape, dtype):
        # What nobody wrote is told from what somebody did.
        return Resident(np.full(shape, -77).astype(dtype))

    def several_empty(self, kinds):
        return [self.empty(*kind) for kind in kinds]

    def carved(self, memory, kinds):
        assert sum(np.prod(shape) * np.dtype(kind).itemsize for shape, kind in kinds) <= memory.size
        return self.several_empty(kinds)

    def several_copied(self, arrays):
        return [self.copied(array, array.dtype) for array in arrays]

    def fetched(self, array):
        return array.array.copy()

    def trajectories_first(self, array):
        return Resident(np.moveaxis(array.array, -1, 0))

    def launch(self, kernel, arguments, count):
        if self.launched is not None:
            self.launched.append(kernel)
        given = [a.array if isinstance(a, Resident) else a for a in arguments]
        run_on_host(kernel, given, count)


def run_on_host(kernel, arguments, count):
    """Run a kernel for `count` threads and as many more as fill the last block."""
    twin = _twin(kernel)
    passed = zip(kernel.argtypes, arguments, strict=True)
    given = [value for ty, argument in passed for value in _fields(ty, argument, kernel.precision)]
    function = ctypes.CFUNCTYPE(None, *map(type, given))(twin.address)
    twin.set("twin_size", _THREADS)
    for block in range(-(-count // _THREADS)):
        twin.set("twin_block", block)
        for thread in range(_THREADS):
            twin.set("twin_thread", thread)
            function(*given)


def _fields(ty, value, precision):
    if isinstance(ty, types.Array):
        assert value.ndim == ty.ndim
        fields = [0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]
        return [ctypes.c_int64(field) for field in fields]
    if isinstance(ty, types.UniTuple):
        return [field for member in value for field in _fields(ty.dtype, member, precision)]
    if ty == types.float64:
        return [(ctypes.c_float if precision == "float32" else ctypes.c_double)(value)]
    return [(ctypes.c_bool if ty == types.boolean else ctypes.c_int64)(value)]


class _Twin:
    def __init__(self, kernel):
        library = kernel.library(CAPABILITY)
        texts = [_on_host(text) for text in kernel.llvm(CAPABILITY)]
        self.engine = engine_of([_STATE, *texts])
        self.address = self.engine.get_function_address(library._entry_name)

    def set(self, name, value):
        address = self.engine.get_global_value_address(name)
        ctypes.c_int32.from_address(address).value = value


_twins = {}


def _twin(kernel):
    if kernel not in _twins:
        _twins[kernel] = _Twin(kernel)
    return _twins[kernel]


def _on_host(text):
    """The text with what a thread asks the GPU for taken from `_STATE`."""
    for register, place in _REGISTERS.items():
        name = f"llvm.nvvm.read.ptx.sreg.{register}"
        text = re.sub(rf'declare i32 @"?{re.escape(name)}"?\(\)[^\n]*\n', "", text)
        text = re.sub(rf'call i32 @"?{re.escape(name)}"?\(\)', f"load i32, i32* {place}", text)
    wanted = [place for place in _REGISTERS.values() if f"i32* {place}" in text]
    return "\n".join([*(f"{place} = external global i32" for place in wanted), text])
