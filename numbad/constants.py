"""What compiled code refers to by address, found again in another process by its name.

Numba writes small constant arrays into the code, and the addresses of large or strided ones, which
mean nothing elsewhere. Here such an address stands in a cell at an external symbol that is named
after the content; whoever digests the array, as the cache does before it looks for code, gives the
symbol its meaning. Functions of C libraries stand in cells too; a module gives their symbols a meaning
as it is imported.
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
_modules = {}  # symbol of a function -> the module whose import gives it its meaning
_kept = []  # arrays and cells: code may refer to them as long as the process lives


def content_digest(array):
    """The hex digest of an array: its type and values, and how it lies in memory."""
    total = hashlib.sha256(f"{array.shape} {array.strides} {array.dtype!r}".encode())
    total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def is_small(array):
    """Whether Numba writes the values of an array into the code, rather than its address."""
    return (array.flags.c_contiguous or array.flags.f_contiguous) and array.nbytes <= _SMALL


def announce(array, digest):
    """Let code from the cache find an array by its digest; the symbols, if it has any."""
    if is_small(array):
        return ()
    names = tuple(f"{_OWN}{kind}.{digest[:32]}" for kind in ("data", "object"))
    if _names.get(id(array)) != names:  # new, or changed in place
        cells = ctypes.c_void_p(array.ctypes.data), ctypes.c_void_p(id(array))
        for name, cell in zip(names, cells, strict=True):
            llvm.add_symbol(name, ctypes.addressof(cell))
        _names[id(array)] = names
        _kept.append((array, cells))
    return names


def announce_address(name, address, module):
    """The symbol of the cell that holds the address of a C function, by the function's name.

    `module`, imported, announces the same function.
    """
    symbol = f"{_OWN}function.{name}"
    cell = ctypes.c_void_p(address)
    llvm.add_symbol(symbol, ctypes.addressof(cell))
    _modules[symbol] = module
    _kept.append(cell)
    return symbol


def are_found_again(code, announced):
    """Whether all that code, an LLVM module, refers to by address is known elsewhere: the symbols
    announced with its key, and those of Python's modules."""
    return all(name in announced or name in _modules for name in _dynamic(code))


def modules_of(code):
    """The modules to import before code runs in another process."""
    return sorted({_modules[name] for name in _dynamic(code) if name in _modules})


def _dynamic(code):
    names = (variable.name for variable in code.global_variables)
    return [name for name in names if name.startswith(_DYNAMIC)]


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
