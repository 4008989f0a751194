"""Arrays that compiled code refers to by address, found again by their content in another process.

Numba writes small constant arrays into the code, and the addresses of large or strided ones, which
mean nothing elsewhere. Here such an address stands in a cell at an external symbol that is named
after the content; whoever digests the array, as the cache does before it looks for code, gives the
symbol its meaning.
"""

import ctypes
import functools
import hashlib

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils

_DYNAMIC = "numba.dynamic.globals."  # so that Numba's own cache, which announces nothing, declines
_OWN = _DYNAMIC + "numbad."

_SMALL = 10**6  # bytes that Numba copies into the code

_names = {}  # id of an array -> its symbols, of the data and of the array itself
_kept = []  # arrays and cells: code may refer to them as long as the process lives


def content_digest(array):
    """The hex digest of an array: its type and values, and how it lies in memory."""
    total = hashlib.sha256(f"{array.shape} {array.strides} {array.dtype!r}".encode())
    total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def announce(array, digest):
    """Let code from the cache find an array by its digest; the symbols, if it has any."""
    contiguous = array.flags.c_contiguous or array.flags.f_contiguous
    if contiguous and array.nbytes <= _SMALL:
        return ()
    names = tuple(f"{_OWN}{kind}.{digest[:32]}" for kind in ("data", "object"))
    if _names.get(id(array)) != names:  # new, or changed in place
        cells = ctypes.c_void_p(array.ctypes.data), ctypes.c_void_p(id(array))
        for name, cell in zip(names, cells, strict=True):
            llvm.add_symbol(name, ctypes.addressof(cell))
        _names[id(array)] = names
        _kept.append((array, cells))
    return names


def are_found_again(library, announced):
    """Whether all that a library refers to by address is among the symbols announced with its key."""
    names = {variable.name for variable in library._final_module.global_variables}
    return all(name in announced for name in names if name.startswith(_DYNAMIC))


def by_symbols(context):
    """Let code compiled in a target context refer to announced arrays by their symbols."""
    context.make_constant_array = functools.partial(_make_constant_array, context)


def _make_constant_array(context, builder, ty, array):
    make = type(context).make_constant_array
    if id(array) not in _names:
        return make(context, builder, ty, array)
    addresses = array.ctypes.data, id(array)
    symbols = dict(zip(addresses, _names[id(array)], strict=True))
    context.add_dynamic_addr = lambda builder, address, info: _load(builder, symbols[address])
    try:
        return make(context, builder, ty, array)
    finally:
        del context.add_dynamic_addr


def _load(builder, name):
    cell = builder.module.globals.get(name)
    if cell is None:
        cell = cgutils.add_global_variable(builder.module, ir.IntType(8).as_pointer(), name)
    return builder.load(cell)
