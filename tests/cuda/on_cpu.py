"""Runs device functions on the CPU: the LLVM IR that numba-cuda makes for a GPU, compiled for the host.

It needs no driver. Functions of NVIDIA's device library are taken from the host's C library.
"""

import ctypes
import ctypes.util
import re

import llvmlite.binding as llvm
import numpy as np
from numba import types
from numba.cuda import compiler, dispatcher

CAPABILITY = (8, 0)


def without_gpu(monkeypatch):
    """Let nested device functions compile where there is no GPU to ask for its capability."""
    device = type("Device", (), {"compute_capability": CAPABILITY})
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: device)


class DeviceFunction:
    """A Python function, compiled for argument types as a device function.

    A call returns the error code and the floats of the result, in order.
    """

    def __init__(self, py_func, argtypes, debug=False):
        options = {"opt": 0 if debug else 3}
        self.argtypes = argtypes
        self.result = compiler.compile_cuda(
            py_func, None, argtypes, cc=CAPABILITY, debug=debug, nvvm_options=options
        )
        self._engine = engine_of(self.result.library.llvm_strs)
        name = self.result.fndesc.llvm_func_name
        self._address = self._engine.get_function_address(name)

    def __call__(self, *args):
        ty = self.result.signature.return_type
        returned = np.full(_floats(ty), -1.0, _dtype(ty))
        given = [ctypes.c_void_p(returned.ctypes.data)]
        for ty, value in zip(self.argtypes, args, strict=True):
            given += _passed(ty, value)
        kinds = [type(value) for value in given]
        code = ctypes.CFUNCTYPE(ctypes.c_int32, *kinds)(self._address)(*given)
        return code, returned

    def place(self, *indices):
        """Set the indices of the thread and of its block, and how many of each there are."""
        for name, index in zip(_INDICES, indices, strict=True):
            address = self._engine.get_global_value_address(name)
            ctypes.c_int32.from_address(address).value = index

    @property
    def ptx(self):
        """The same code for a GPU."""
        return self.result.library.get_asm_str(cc=CAPABILITY)

    @property
    def exceptions(self):
        """Error code -> (class, arguments, place), as a kernel looks them up."""
        return self.result.call_helper.exceptions


# The indices of a thread, which a kernel asks for: numbers that a test sets.
_INDICES = "tid", "ctaid", "ntid", "nctaid"
_INDEX_CODE = "".join(
    f"@{name} = global i32 0\ndefine i32 @read_{name}() {{\n  %x = load i32, ptr @{name}\n  ret i32 %x\n}}\n"
    for name in _INDICES
)
# What NVIDIA's library has and the host's has not.
_DEVICE_LIBRARY = """
define double @__nv_dmul_rn(double %x, double %y) {
  %product = fmul double %x, %y
  ret double %product
}
define i32 @__nv_isnand(double %x) {
  %odd = fcmp uno double %x, %x
  %found = zext i1 %odd to i32
  ret i32 %found
}
define i32 @__nv_isnanf(float %x) {
  %odd = fcmp uno float %x, %x
  %found = zext i1 %odd to i32
  ret i32 %found
}
"""


def run_kernel(kernel, argtypes, args, blocks=1, threads=1):
    """Run a kernel's code on the CPU, thread by thread."""
    run = DeviceFunction(kernel, argtypes)
    for block in range(blocks):
        for thread in range(threads):
            run.place(thread, block, threads, blocks)
            assert run(*args)[0] == 0


def engine_of(texts):
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = None
    for text in [_INDEX_CODE + _DEVICE_LIBRARY, *texts]:
        text = re.sub(r'target (triple|datalayout) = "[^"]*"', "", text)
        text = re.sub(r'@"?llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.x"?', r"@read_\1", text)
        part = llvm.parse_assembly(text)
        if module is None:
            module = part
        else:
            module.link_in(part)
    _find_device_library(module)
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    module.triple = llvm.get_default_triple()
    module.data_layout = str(machine.target_data)
    module.verify()
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


def _find_device_library(module):
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    for function in module.functions:
        if function.is_declaration and function.name.startswith("__nv_"):
            found = getattr(library, function.name.removeprefix("__nv_"))
            llvm.add_symbol(function.name, ctypes.cast(found, ctypes.c_void_p).value)


def _floats(ty):
    """The number of floats in a result; arrays in it are not counted, and must come last."""
    if isinstance(ty, types.BaseTuple):
        return sum(map(_floats, ty))
    return 1


def _dtype(ty):
    """The one type of the floats in a result."""
    while isinstance(ty, types.BaseTuple):
        ty = ty[0]
    return np.float32 if ty == types.float32 else np.float64


def _passed(ty, value):
    """A value as numba-cuda passes it: an array as its fields, with neither owner nor parent."""
    if isinstance(ty, types.Array):
        fields = [0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]
        return [ctypes.c_int64(field) for field in fields]
    if isinstance(ty, types.Integer):
        return [ctypes.c_int64(value)]
    return [(ctypes.c_float if ty == types.float32 else ctypes.c_double)(value)]
