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

_symbols = {}  # address -> name of the symbol
_kept = []  # arrays and cells: code may refer to them as long as the process lives


def content_digest(array):
    """The hex digest of an array: its type and values, and how it lies in memory."""
    total = hashlib.sha256(f"{array.shape} {array.strides} {array.dtype!r}".encode())
    total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def announce(array, digest):
    """Let code from the cache find an array by its digest, where it is one that Numba refers to."""
    contiguous = array.flags.c_contiguous or array.flags.f_contiguous
    if (contiguous and array.nbytes <= _SMALL) or array.ctypes.data in _symbols:
        return
    for kind, address in (("data", array.ctypes.data), ("object", id(array))):
        name = f"{_OWN}{kind}.{digest[:32]}"
        cell = ctypes.c_void_p(address)
        llvm.add_symbol(name, ctypes.addressof(cell))
        _symbols[address] = name
        _kept.append((array, cell))


def by_symbols(context):
    """Let code compiled in a target context refer to announced arrays by their symbols."""
    context.add_dynamic_addr = functools.partial(_add_address, context)


def are_found_again(library):
    """Whether all that a library refers to by address is announced in another process as well."""
    names = [variable.name for variable in library._final_module.global_variables]
    return all(name.startswith(_OWN) for name in names if name.startswith(_DYNAMIC))


def _add_address(context, builder, address, info):
    name = _symbols.get(address)
    if name is None:
        return type(context).add_dynamic_addr(context, builder, address, info)
    cell = builder.module.globals.get(name)
    if cell is None:
        cell = cgutils.add_global_variable(builder.module, ir.IntType(8).as_pointer(), name)
    return builder.load(cell)
