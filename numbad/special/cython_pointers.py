"""SciPy's special functions as C functions: where they are in this process, and calls of them.

`scipy.special.cython_special` exports a capsule for every function and every choice of types, named
`__pyx_fuse_1erf`, say, where types are fused; the number is an accident of the build, so the
signature in the capsule decides. Compiled code finds an address in a cell at an external symbol, which
has the same name in every process (`numbad.constants`), so that it can be kept on disk.
"""

import ctypes
import re
from functools import cache
from typing import NamedTuple

from llvmlite import ir
from numba.core import cgutils
from scipy.special import cython_special

from ..constants import announce_address

_FUSED = re.compile(r"__pyx_fuse_(?:\d_)*\d(?=\D)")
_SKIP_DISPATCH = "int __pyx_skip_dispatch"

DOUBLE = ir.DoubleType()
_LLVM = {"double": DOUBLE, "Py_ssize_t": ir.IntType(8 * ctypes.sizeof(ctypes.c_ssize_t))}


class Pointer(NamedTuple):
    """A C function: the symbol of its cell, the types of its inputs, how many outputs it fills, and
    what follows the inputs: arguments of Cython's own, all zero."""

    symbol: str
    inputs: tuple
    outputs: int
    trailing: tuple


@cache
def _variants():
    """name -> (result, parameters, capsule) of every export of that name."""
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    found = {}
    for export, capsule in cython_special.__pyx_capi__.items():
        result, _, parameters = name_of(capsule).decode().partition(" (")
        parameters = tuple(parameters.rstrip(")").split(", "))
        found.setdefault(_FUSED.sub("", export), []).append((result, parameters, capsule))
    return found


def _address(capsule):
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer_of(capsule, name_of(capsule))


@cache
def find(name, nin, nout=1):
    """The `Pointer` of a function of `nin` doubles (or integers before them); None if there is none."""
    variants = _variants().get(name, ())
    for result, parameters, capsule in sorted(variants, key=lambda v: v[1][0] != "double"):
        inputs, rest = parameters[:nin], parameters[nin:]
        returns = ("double", ()) if nout == 1 else ("void", ("double *",) * nout)
        if (
            result != returns[0]
            or not _are_numbers(inputs)
            or rest[: len(returns[1])] != returns[1]
        ):
            continue
        trailing = rest[len(returns[1]) :]
        if all(p == _SKIP_DISPATCH or p.endswith("*__pyx_optional_args") for p in trailing):
            symbol = announce_address(f"{name}.{nin}", _address(capsule), __name__)
            return Pointer(symbol, inputs, 0 if nout == 1 else nout, trailing)
    return None


def _are_numbers(inputs):
    """Whether a function takes doubles, after at most one integer."""
    return inputs[1:] == ("double",) * (len(inputs) - 1) and inputs[0] in _LLVM


def call(builder, pointer, doubles):
    """The results of a C function of doubles, as a list."""
    inputs = [_as(builder, p, x) for p, x in zip(pointer.inputs, doubles, strict=True)]
    slots = [cgutils.alloca_once(builder, DOUBLE) for _ in range(pointer.outputs)]
    trailing = [ir.Constant(_trailing_type(p), None) for p in pointer.trailing]
    arguments = [*inputs, *slots, *trailing]
    result = ir.VoidType() if slots else DOUBLE
    signature = ir.FunctionType(result, [a.type for a in arguments])
    function = builder.bitcast(_load(builder, pointer.symbol), signature.as_pointer())
    returned = builder.call(function, arguments, attrs=("nounwind",))
    if not slots:  # nothing but the result: the same for the same arguments, and not needed unused
        set.update(returned.attributes, ("readnone", "willreturn"))  # llvmlite knows not the latter
    return [builder.load(slot) for slot in slots] or [returned]


def _as(builder, parameter, x):
    ty = _LLVM[parameter]
    return x if ty == DOUBLE else builder.fptosi(x, ty)


def _trailing_type(parameter):
    return ir.IntType(32) if parameter == _SKIP_DISPATCH else ir.IntType(8).as_pointer()


def _load(builder, symbol):
    cell = builder.module.globals.get(symbol)
    if cell is None:
        cell = cgutils.add_global_variable(builder.module, ir.IntType(8).as_pointer(), symbol)
    address = builder.load(cell)
    address.set_metadata("invariant.load", builder.module.add_metadata([]))
    return address
