"""Compiled code kept on disk, keyed by content: the function's own, its callees', and its constants'.

Numba's cache is keyed by the file that a function stands in, which generated functions do not have,
and does not see that a callee in another file has changed. Here the key is a digest of the bytecode
and constants of the function and of everything that it reaches through globals and closures, of
numbad itself and of the rules in force. What cannot be digested is compiled anew in every process.

The folder is `NUMBAD_CACHE_DIR`, or `numbad` in the user's cache folder; `NUMBAD_CACHE_DIR=off`
turns the cache off.
"""

import hashlib
import os
import sys
import types as pytypes
from functools import cache
from pathlib import Path

import numpy as np
from numba import njit
from numba.core import caching, types
from numba.core.dispatcher import Dispatcher

from .rules.registry import JVP, SCALAR, VJP


class UndigestibleError(Exception):
    """A constant whose content cannot be told from one process to the next."""


class Fingerprint:
    """A digest under construction, over functions and the objects that they reach."""

    def __init__(self):
        self._hash = hashlib.sha256(_own_version().encode())
        self._seen = {}

    def add(self, value):
        """Add an object; returns the fingerprint, for chains."""
        if id(value) in self._seen:
            self._text(f"again {self._seen[id(value)][0]}")
            return self
        self._seen[id(value)] = len(self._seen), value  # the reference keeps the id from reuse
        self._text(type(value).__name__)
        self._content(value)
        return self

    def hexdigest(self):
        return self._hash.hexdigest()

    def _text(self, text):
        self._hash.update(text.encode() + b"\0")

    def _content(self, value):
        if (
            value is None
            or value is Ellipsis
            or isinstance(value, str | bytes | bool | int | float | complex)
        ):
            self._text(repr(value))
        elif isinstance(value, tuple | list | frozenset | set):
            items = sorted(value, key=repr) if isinstance(value, frozenset | set) else value
            self._text(str(len(items)))
            for item in items:
                self.add(item)
        elif isinstance(value, dict):
            self.add(list(value.items()))
        elif isinstance(value, np.ndarray | np.generic):
            self._array(np.asarray(value))
        elif isinstance(value, Dispatcher):
            self._dispatcher(value)
        elif isinstance(value, pytypes.FunctionType):
            self._function(value)
        elif isinstance(value, pytypes.CodeType):
            self._code(value)
        elif isinstance(value, pytypes.ModuleType):
            self._text(f"{value.__name__} {getattr(value, '__version__', '')}")
        elif isinstance(value, type | types.Type | pytypes.BuiltinFunctionType | np.ufunc):
            self._named(value)
        else:
            raise UndigestibleError(repr(value))

    def _named(self, value):
        if isinstance(value, types.Type):
            self._text(repr(value))
            return
        self._text(f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}")
        if isinstance(value, type) and hasattr(value, "_fields"):  # a namedtuple's layout
            self._text(repr(value._fields))

    def _array(self, value):
        if value.dtype.hasobject:
            raise UndigestibleError("an array of Python objects")
        self._text(f"{value.shape} {value.dtype.str}")
        self._hash.update(np.ascontiguousarray(value).tobytes())

    def _dispatcher(self, value):
        self._text(repr(sorted((k, repr(v)) for k, v in value.targetoptions.items())))
        if hasattr(value, "operator"):
            self._text(repr(value.operator.key()))
            self.add(value.operator.f)
        else:
            self.add(value.py_func)
        for rule in (SCALAR.get(value), JVP.get(value), VJP.get(value)):
            if rule is not None:
                self.add(getattr(rule, "partials", rule))

    def _function(self, value):
        self.add(value.__code__)
        self.add(value.__defaults__)
        for cell in value.__closure__ or ():
            try:
                self.add(cell.cell_contents)
            except ValueError:
                raise UndigestibleError("an empty closure cell") from None
        for name in sorted(_names(value.__code__)):
            if name in value.__globals__:
                self._text(name)
                self._global(value, value.__globals__[name])

    def _global(self, function, value):
        self.add(value)
        if isinstance(value, pytypes.ModuleType) and not _is_library(value):
            for name in sorted(_names(function.__code__)):
                member = getattr(value, name, None)
                if isinstance(member, Dispatcher | pytypes.FunctionType | int | float | np.ndarray):
                    self.add(member)

    def _code(self, code):
        self._hash.update(code.co_code)
        self._text(repr((code.co_names, code.co_varnames, code.co_freevars, code.co_argcount)))
        self.add(code.co_consts)


def _names(code):
    """Every global or attribute name in a code object and the functions defined within it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, pytypes.CodeType):
            names |= _names(constant)
    return names


def _is_library(module):
    """Whether a module belongs to a package with a version, or to Python, rather than to the user."""
    root = sys.modules.get(module.__name__.partition(".")[0])
    return (
        hasattr(root, "__version__") or module.__name__.partition(".")[0] in sys.stdlib_module_names
    )


@cache
def _own_version():
    """numbad's version and the state of its files, so that a changed numbad recompiles."""
    from numba import __version__ as numba_version

    root = Path(__file__).parent
    files = sorted(root.rglob("*.py"))
    stamps = [f"{f.relative_to(root)} {f.stat().st_mtime_ns} {f.stat().st_size}" for f in files]
    return "\n".join([numba_version, np.__version__, sys.version, *stamps])


SWITCHED_OFF = "NUMBAD_REVERSE_OFF"
"""The environment variable that names the optimisations to leave out: `reverse/switches.py`."""


def fingerprint(*values):
    """The hex digest of objects and all they reach, or None where something has no stable content."""
    total = Fingerprint()
    try:
        total.add(os.environ.get(SWITCHED_OFF, ""))
        for value in values:
            total.add(value)
    except UndigestibleError:
        return None
    return total.hexdigest()


def cache_folder():
    """The folder for compiled code, or None where the cache is off."""
    chosen = os.environ.get("NUMBAD_CACHE_DIR")
    if chosen:
        return None if chosen == "off" else Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "numbad"


def _locator(digest, folder):
    """A class that tells Numba's cache where, and under which name, to keep a function."""

    class ContentLocator(caching._CacheLocator):
        _py_file = "numbad"

        def get_cache_path(self):
            return str(folder)

        def get_source_stamp(self):
            return digest

        def get_disambiguator(self):
            return digest[:24]

        @classmethod
        def from_function(cls, py_func, py_file):
            return cls()

    return ContentLocator


class ContentCache:
    """Numba's disk cache for one dispatcher, set up when it is first asked for something."""

    def __init__(self, py_func, contents):
        self._py_func = py_func
        self._contents = contents  # a function that returns the objects to digest
        self._cache = None

    @property
    def cache_path(self):
        return str(cache_folder() or "")

    def load_overload(self, sig, target_context):
        found = self._open(sig)
        if found is None:
            return None
        try:
            return found.load_overload(sig, target_context)
        except Exception:  # a damaged or foreign file: compile, as if there were none
            return None

    def save_overload(self, sig, data):
        found = self._open(sig)
        if found is None:
            return
        try:
            found.save_overload(sig, data)
        except OSError:  # a full or read-only disk must not stop anyone
            self._cache = False

    def enable(self):
        pass

    def flush(self):
        if self._cache:
            self._cache.flush()

    def _open(self, sig):
        if any(isinstance(ty, types.Dispatcher | types.FunctionType) for ty in sig):
            return None  # the functions passed are not part of the digest
        if self._cache is None:
            self._cache = self._create() or False
        return self._cache or None

    def _create(self):
        folder = cache_folder()
        digest = fingerprint(*self._contents()) if folder is not None else None
        if digest is None:
            return None

        class Implementation(caching.CompileResultCacheImpl):
            _locator_classes = (_locator(digest, folder),)

            def check_cachable(self, compiled):
                """As Numba's own, without its warning: not to be cached is no fault of the user's."""
                lifted = all(block.can_cache for block in compiled.lifted)
                return lifted and not compiled.library.has_dynamic_globals

            def get_filename_base(self, fullname, abiflags):
                name = fullname.rpartition(".")[2]  # what precedes it numbers generated files
                return super().get_filename_base(name, abiflags)

        class Kept(caching.Cache):
            _impl_class = Implementation

        try:
            return Kept(self._py_func)
        except (OSError, RuntimeError):
            return None


def enable(dispatcher, contents=None):
    """Give a dispatcher a disk cache keyed by content; returns the dispatcher."""
    py_func = dispatcher.py_func
    dispatcher._cache = ContentCache(
        py_func, contents or (lambda: (py_func, dispatcher.targetoptions))
    )
    return dispatcher


def jit(function=None, **options):
    """`numba.njit` with compiled code kept on disk by content; for generated functions too.

    >>> from numbad.caching import jit
    >>> @jit
    ... def double(x):
    ...     return 2.0 * x
    >>> double(4.0)
    8.0
    """
    if function is None:
        return lambda f: jit(f, **options)
    return enable(njit(function, **options))
