"""Digests of functions and of all that they reach: equal in two processes where the code is.

What compiled code depends on is hashed: bytecode, constants, what globals and closures lead to,
the rules in force, the options of dispatchers, numbad itself. Where something has no content that
could be told from one process to the next, there is no digest.
"""

import enum
import hashlib
import inspect
import os
import re
import sys
import types as pytypes
from functools import cache
from pathlib import Path

import llvmlite
import numba
import numpy as np
from numba.core import config, types
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.core.registry import cpu_target
from numba.core.typing.templates import builtin_registry
from numba.experimental.jitclass.base import JitClassType
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc

from ..constants import announce, content_digest
from ..rules.functions import ScalarFunction
from ..rules.registry import GIVEN, JVP, SCALAR, VJP
from .classes import identify, is_importable
from .meaning import PLAIN, is_as_compiled, is_library, names_in, stands_in_library, text_of


class UndigestibleError(Exception):
    """A constant whose content cannot be told from one process to the next."""


class MetError(Exception):
    """One of the objects asked for was met."""


_PLAIN = (type(None), type(Ellipsis), str, bytes, bool, int, float, complex, range, slice)

# What classes hold that the code of overloads may read.
_HELD = (*_PLAIN, enum.Enum, tuple, list, dict, set, frozenset, np.ndarray, np.generic, type)
_HELD += (Dispatcher, pytypes.FunctionType)

# Settings that hold at run time and so are no part of compiled code.
_AT_RUN_TIME = {"NUMBAD_CACHE_DIR", "NUMBAD_CACHE_LIMIT", "NUMBAD_TAPE_LIMIT"}
_CONFIGURATION = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")

_ADDRESS = re.compile(r" at 0x[0-9a-f]+|#[0-9a-f]+")


class Fingerprint:
    """A digest under construction, over functions and the objects that they reach."""

    def __init__(self):
        self._hash = hashlib.sha256()
        self._seen = {}
        self._asked_for = {}
        self.symbols = set()  # of the arrays met that code refers to

    def stand_for(self, values):
        """Take no account of what these objects hold."""
        for value in values:
            self._seen[id(value)] = len(self._seen), value
        return self

    def ask_for(self, values):
        """Raise `MetError` as soon as one of these objects is met."""
        self._asked_for = {id(value): value for value in values}
        return self

    def add(self, value):
        """Add an object; returns the fingerprint, for chains."""
        if id(value) in self._asked_for:
            raise MetError
        self._text(type(value).__name__)
        if isinstance(value, enum.Enum):
            return self.add(type(value)).add(value.name)
        if isinstance(value, _PLAIN):  # whether equal ones are one object differs between processes
            self._text(repr(value) if type(value) in _PLAIN else text_of(value))
            if type(value) not in _PLAIN:
                self.add(type(value))
        elif type(value) is tuple and PLAIN.issuperset(map(type, value)):
            self._text(repr(value))  # at once: a pattern has thousands of numbers
        elif isinstance(value, tuple):
            if type(value) is not tuple:  # the members of a namedtuple are read by their names
                self.add(type(value))
            self._items(value)
        elif id(value) in self._seen:
            self._text(f"again {self._seen[id(value)][0]}")
        else:
            self._seen[id(value)] = len(self._seen), value  # the reference keeps the id from reuse
            self._content(value)
        return self

    def hexdigest(self):
        return self._hash.hexdigest()

    def _text(self, text):
        self._hash.update(text.encode("utf-8", "surrogatepass") + b"\0")

    def _items(self, values):
        self._text(str(len(values)))
        for value in values:
            self.add(value)

    def _content(self, value):
        for kinds, method in _CONTENT:
            if isinstance(value, kinds):
                method(self, value)
                return
        raise UndigestibleError(f"an object of class {type(value).__qualname__}")

    def _set(self, value):
        self._items(sorted(value, key=repr))

    def _dict(self, value):
        self._items(list(value.items()))

    def _array(self, value):
        array = np.asarray(value)
        if array.dtype.hasobject:
            raise UndigestibleError("an array of Python objects")
        digest = content_digest(array)
        self._text(digest)
        if array is value:
            self.symbols.update(announce(array, digest))

    def _dtype(self, value):
        self._text(repr(value))

    # -- functions ---------------------------------------------------------------------------

    def _dispatcher(self, value):
        if not is_as_compiled(value):
            raise UndigestibleError(f"{value!r}, compiled when its names meant something else")
        self._items(sorted(value.targetoptions.items()))
        self._items(sorted(getattr(value, "locals", {}).items()))
        if not getattr(value, "_can_compile", True):  # signatures were given: they convert results
            self._text(" ".join(sorted(map(str, value.nopython_signatures))))
        if hasattr(value, "operator"):
            self._text(repr(value.operator.key()))
            self.add(value.operator.f)
        else:
            self.add(value.py_func)
        for rule in _rules(value):
            self.add(rule)

    def _ufunc(self, value):
        if isinstance(value, GUFunc):
            self._text(value.gufunc_builder.signature)
        self.add(value._dispatcher)

    def _intrinsic(self, value):
        self.add(value._defn)

    def _function(self, value):
        self.add(value.__defaults__).add(value.__kwdefaults__)
        names = sorted(names_in(value.__code__))
        for cell in value.__closure__ or ():
            try:
                self._global(cell.cell_contents, names)
            except ValueError:
                raise UndigestibleError("an empty closure cell") from None
        if stands_in_library(value):
            self._text(f"{value.__module__}.{value.__qualname__} {value.__code__.co_firstlineno}")
            self._hash.update(value.__code__.co_code)
            return
        self.add(value.__code__)
        for name in names:
            if name in value.__globals__:
                self._text(name)
                self._global(value.__globals__[name], names)
        for implementation in _overloads(value):
            self.add(implementation)

    def _global(self, value, names, within=()):
        """Add a global, and of a module or class of the user's what the function may take from it."""
        self.add(value)
        if isinstance(value, pytypes.ModuleType) and not is_library(value.__name__):
            held = {name: getattr(value, name) for name in names if hasattr(value, name)}
        elif isinstance(value, type) and not is_library(value.__module__):
            found = inspect.getmembers_static(value)
            held = {k: v for k, v in found if k in names and isinstance(v, _HELD)}
        else:
            return
        for name, member in held.items():
            self._text(name)
            if not any(
                member is one for one in within
            ):  # modules and classes may lead to each other
                self._global(member, names, (*within, value))

    def _module(self, value):
        root = sys.modules.get(value.__name__.partition(".")[0], value)
        self._text(f"{value.__name__} {getattr(root, '__version__', '')}")

    def _code(self, code):
        self._hash.update(code.co_code)
        self._text(repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)))
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
        self._text(repr((*counts, code.co_flags, getattr(code, "co_exceptiontable", b""))))
        self.add(code.co_consts)

    # -- types -------------------------------------------------------------------------------

    def _named(self, value):
        self._text(f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}")

    def _class(self, value):
        """A class of Python's: its name, and what compiled code holds of it."""
        self._named(value)
        if hasattr(value, "_fields"):  # a namedtuple's layout
            self._text(repr(value._fields))
        if isinstance(value, enum.EnumMeta):
            self._items([(name, member.value) for name, member in value.__members__.items()])
        self._items([base for base in value.__bases__ if base is not object])
        if not is_importable(value) and not identify(value):
            raise UndigestibleError(f"one of several classes {value.__qualname__}")

    def _jitclass(self, value):
        self.add(value.class_type)

    def _type(self, value):
        if isinstance(value, types.Dispatcher):
            self.add(value.dispatcher)
        elif isinstance(value, types.ClassInstanceType):
            self.add(value.class_type)
        elif isinstance(value, types.ClassType):
            methods = value.jit_methods, value.jit_props, value.jit_static_methods
            self._text(value.class_name)
            self._items([list(value.struct.items()), *(sorted(m.items()) for m in methods)])
        elif isinstance(value, types.Omitted):
            self.add(value.value)
        else:
            self._type_by_name(value)

    def _type_by_name(self, value):
        """Numba knows most types by name; what is not in the name is in their attributes."""
        if not is_library(type(value).__module__):
            raise UndigestibleError(f"{value!r}, of which Numba has learnt from elsewhere")
        text = repr(value)
        members = [v for v in vars(value).values() if isinstance(v, (types.Type, type, tuple))]
        members = [m for m in members if not isinstance(m, tuple) or _holds_types(m)]
        if isinstance(value, types.FunctionType | types.FunctionPrototype) or (
            _ADDRESS.search(text) and not members
        ):
            raise UndigestibleError(text)
        self._text(_ADDRESS.sub("", text))
        self._items(members)


_CONTENT = (
    (list, Fingerprint._items),
    ((set, frozenset), Fingerprint._set),
    (dict, Fingerprint._dict),
    ((np.ndarray, np.generic), Fingerprint._array),
    (np.dtype, Fingerprint._dtype),
    (Dispatcher, Fingerprint._dispatcher),
    (DUFunc | GUFunc, Fingerprint._ufunc),
    (_Intrinsic, Fingerprint._intrinsic),
    (pytypes.FunctionType, Fingerprint._function),
    (pytypes.CodeType, Fingerprint._code),
    (pytypes.ModuleType, Fingerprint._module),
    (types.Type, Fingerprint._type),
    (JitClassType, Fingerprint._jitclass),
    (type, Fingerprint._class),
    ((pytypes.BuiltinFunctionType, np.ufunc, ScalarFunction), Fingerprint._named),
)


def _holds_types(values):
    return bool(values) and all(isinstance(v, types.Type | type) for v in values)


def _overloads(function):
    """The user's implementations of a Python function for compiled code (`numba.extending`)."""
    context = cpu_target.typing_context
    context.refresh()
    known = context._lookup_global(function)
    for template in getattr(known, "templates", ()):
        found = getattr(template, "_overload_func", None)
        if found is not None:
            yield found


def _methods():
    """The user's implementations of methods and attributes, which no function names."""
    for template in builtin_registry.attributes:
        found = getattr(template, "_overload_func", None)
        if found is not None and not stands_in_library(found):
            yield found


def _rules(function):
    """What the rules of a function consist of."""
    found = SCALAR.get(function), JVP.get(function), VJP.get(function)
    return [getattr(rule, "partials", rule) for rule in found if rule is not None]


@cache
def versions():
    """All versions, and the state of numbad's own files, so that a changed numbad recompiles."""
    root = Path(__file__).parents[1]
    files = sorted(root.rglob("*.py"))
    stamps = [f"{f.relative_to(root)} {f.stat().st_mtime_ns} {f.stat().st_size}" for f in files]
    libraries = numba.__version__, llvmlite.__version__, np.__version__
    return "\n".join([*libraries, sys.version, *stamps])


def settings():
    """What the user has set that code is generated by."""
    chosen = {k: v for k, v in os.environ.items() if k.startswith("NUMBAD_")}
    own = sorted((k, v) for k, v in chosen.items() if k not in _AT_RUN_TIME)
    return repr((own, [(name, getattr(config, name, None)) for name in _CONFIGURATION]))


def depends(value, functions):
    """Whether compiled code of a dispatcher, or for a type, may depend on the code of other dispatchers."""
    codes = (getattr(function, "py_func", None) for function in functions)
    asked_for = [value for value in (*functions, *codes) if value is not None]
    try:
        Fingerprint().ask_for(asked_for).add(value)
    except (MetError, UndigestibleError):
        return True
    return False


def fingerprint(*values):
    """The hex digest of objects and all they reach, or None where something has no stable content."""
    return digested(*values)[0]


def digested(*values, standing_for=()):
    """The digest as of `fingerprint`, and the symbols of the arrays met: see `constants`.

    It is the same whatever stands where objects in `standing_for` do.
    """
    total = Fingerprint().stand_for(standing_for)
    try:
        total.add(versions()).add(settings())
        for function in GIVEN:
            for rule in _rules(function):
                total.add(function).add(rule)
        for method in _methods():
            total.add(method)
        for value in values:
            total.add(value)
    except UndigestibleError:
        return None, set()
    return total.hexdigest(), total.symbols
