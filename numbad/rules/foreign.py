"""C functions that compiled code calls by their addresses: through ctypes, cffi or Numba's own protocol.

A dispatcher stands for each, under which its rules are kept. SciPy's, whose addresses
`numba.extending.get_cython_function_address` gives, have names and the rules of `numbad.special`; what
`numba.cfunc` made is differentiated by its Python code.
"""

import ctypes
import gc
import importlib
from functools import cache

from numba import njit
from numba.core.ccallback import CFunc
from numba.core.types import CompileResultWAP, WrapperAddressProtocol
from numba.core.typing import cffi_utils

from numbad.source import define

from .registry import SCALAR, ScalarRule

FOREIGN = "a C function without a rule"
FOREIGN_WAY_OUT = (
    "give what compiled code calls a rule, as nd.scalar_rule(function, lambda ans, x: ...), or keep it "
    "out of the derivative with nd.stop_gradient"
)

_SPECIAL = "scipy.special.cython_special"
_NUMBERS = {"double", "int", "long", "Py_ssize_t"}

_KNOWN = {}  # (address, number of arguments) -> the dispatcher


def is_foreign(value):
    """Whether a value is a C function, as Numba calls it, whose arguments have types."""
    if isinstance(value, ctypes._CFuncPtr):
        return value.argtypes is not None
    if isinstance(value, WrapperAddressProtocol):
        return not isinstance(value, CompileResultWAP)
    if isinstance(value, CFunc):
        return True
    return cffi_utils.SUPPORTED and cffi_utils.is_cffi_func(value)


def dispatcher_of(value):
    """The dispatcher that stands for a C function; what is none comes back as it is."""
    if hasattr(value, "py_func") or not is_foreign(value):
        return value
    if isinstance(value, CFunc):
        return _with_code(value)
    key = _address_and_arity(value)
    if key not in _KNOWN:
        _KNOWN[key] = _made(value, *key)
    return _KNOWN[key]


def _with_code(value):
    """The dispatcher of the code of a `numba.cfunc`; the callback keeps it."""
    if not hasattr(value, "numbad_dispatcher"):
        options = value._compiler.targetoptions
        value.numbad_dispatcher = njit(value._sig, **options)(value._pyfunc)
    return value.numbad_dispatcher


def _address_and_arity(value):
    if isinstance(value, ctypes._CFuncPtr):
        return ctypes.cast(value, ctypes.c_void_p).value, len(value.argtypes)
    if isinstance(value, WrapperAddressProtocol):
        return value.__wrapper_address__(), len(value.signature().args)
    return cffi_utils.get_pointer(value), len(cffi_utils.make_function_type(value).sig.args)


def _made(value, address, arity):
    known, own = _special_functions().get(address), _shown(value)
    if getattr(own, "__module__", None) == _SPECIAL:  # `ctypes.CFUNCTYPE(double, double)(gammaln)`
        known = own.__name__, ("number",) * arity
    name = known[0] if known else getattr(own, "__name__", "function")
    name = name if name.isidentifier() else "function"
    names = ", ".join(f"x{k}" for k in range(arity))
    made = njit(define(f"def {name}({names}):\n    return call({names})\n", {"call": value}))
    made.numbad_foreign = True
    made.__module__ = _SPECIAL if known else None
    fits = known and known[1][:arity] == ("number",) * arity
    partials = _partials(name, arity) if fits else None
    if partials is not None:
        SCALAR[made] = ScalarRule(made, partials)
    return made


def _shown(value):
    """What has the name of a C function: its class, the Python function that it calls, or itself."""
    if isinstance(value, WrapperAddressProtocol):
        return type(value)
    thunk = (getattr(value, "_objects", None) or {}).get("0")
    behind = [] if isinstance(thunk, ctypes.CDLL) else gc.get_referents(thunk)
    functions = [o for o in behind if callable(o) and not isinstance(o, type)]
    return functions[0] if len(functions) == 1 else value


def _partials(name, arity):
    """The rule of `numbad.special` for a function of SciPy's; None where it has none."""
    importlib.import_module("numbad.special")  # it builds on these rules, and is loaded on demand
    from scipy import special

    from .special_functions import PARTIALS

    function = getattr(special, name, None)
    return PARTIALS.get(function) if getattr(function, "nin", None) == arity else None


@cache
def _special_functions():
    """Address -> name and kinds of arguments of each function of SciPy's that returns a double."""
    module = importlib.import_module(_SPECIAL)
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    found = {}
    for export, capsule in module.__pyx_capi__.items():
        signature = name_of(capsule)
        result, _, parameters = signature.decode().rstrip(")").partition(" (")
        kinds = tuple("number" if p in _NUMBERS else p for p in parameters.split(", "))
        name = export.removeprefix("__pyx_fuse_").lstrip("0123456789_") or export
        if result == "double":
            found[pointer_of(capsule, signature)] = name, kinds
    return found
