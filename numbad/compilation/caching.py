"""Compiled code kept on disk, keyed by content: the function's own, its callees', and its constants'.

Numba's cache is keyed by the file that a function stands in, which generated functions do not have,
and does not see that a callee in another file has changed. Here the key is a digest (`fingerprint`)
of the function, of everything that it reaches, of numbad itself, of the rules in force, and of the
argument types, with the functions among the arguments. What cannot be digested is compiled anew in
every process.

Every signature has a file of its own, written elsewhere and then renamed: processes that write the
same entry at once write the same, and a reader sees all of it or nothing.

The folder is `NUMBAD_CACHE_DIR`, or `numbad` in the user's cache folder; `NUMBAD_CACHE_DIR=off`
turns the cache off. Entries are pickles: what a folder or an entry must be to be read is told in `folder`.
"""

import contextlib
import copy
import pickle
from functools import partial
from importlib import import_module

from numba import njit
from numba.core import compiler, serialize, sigutils, typing
from numba.core.targetconfig import ConfigStack

from .. import constants
from . import folder, notices, symbols
from .fingerprint import Fingerprint, UndigestibleError, digested
from .linking import UNRESOLVED, LinkingDispatcher, finish_parts, waits
from .switched_off import refuse_without_compiler

FORMAT = b"numbad 4\n"

SWITCHED_OFF = "NUMBAD_REVERSE_OFF"
"""The environment variable that names the optimisations to leave out: `reverse/switches.py`.

As every variable of numbad's by which code is generated, it is part of the key: `fingerprint.settings`.
"""


before_loading = []
"""Functions to be called once, before the first compiled code is loaded."""


class ContentCache:
    """The disk cache of one dispatcher, as Numba's dispatchers ask for it."""

    def __init__(self, name, contents):
        self._name = name
        self._contents = contents  # a function that returns the objects to digest
        self._symbols = set()
        self._paths = {}  # of what is being compiled, by the signature
        self._begun = {}  # when its compilation began, in terms of what there was to warn of

    @property
    def cache_path(self):
        return str(folder.cache_folder() or "")

    def load_overload(self, sig, target_context):
        """The compiled function for a signature, or None."""
        # Globals may mean something else once it is compiled, or for the next signature.
        path = self._paths[sig] = self._path(sig, target_context)
        self._begun[sig] = notices.mark()
        data = folder.read(path) if path is not None else b""
        if not data.startswith(FORMAT):
            return None
        target_context.refresh()
        while before_loading:
            before_loading.pop()()
        try:
            found, payload = pickle.loads(data[len(FORMAT) :])
            rebuilt = _rebuilt(payload, sig, target_context)
        except Exception:  # a damaged file, or a module gone: compile, as if there were none
            return None
        notices.tell_again(found)
        return rebuilt

    def save_overload(self, sig, compiled):
        """Keep a compiled function; where that is not possible, nothing happens."""
        path = self._paths.pop(sig, None)
        found = notices.since(self._begun.pop(sig, notices.mark()))
        if path is not None and waits(compiled.library):  # it may never be more than a part
            compiled.library.when_finished.append(partial(self._save, path, sig, compiled, found))
        elif path is not None:
            self._save(path, sig, compiled, found)

    def _save(self, path, sig, compiled, found):
        if not _can_keep(compiled, self._symbols):
            finish_parts(compiled.library)  # they perhaps can be kept
            return
        # A full disk, or a type that is known to this process alone, must not stop anyone.
        with contextlib.suppress(OSError, pickle.PicklingError, TypeError, AttributeError):
            folder.write(path, FORMAT + serialize.dumps((found, _reduced(compiled, sig))))

    def enable(self):
        pass

    def flush(self):
        """Forget what is kept of this dispatcher."""
        place = folder.cache_folder()
        digest = self._fingerprint() if place is not None else None
        if digest:
            for path in place.glob(f"*-{digest[:24]}-*.nbc"):
                path.unlink(missing_ok=True)

    @staticmethod
    def inherited():
        """The options that a compilation takes from the function that is being compiled around it."""
        around = ConfigStack.top_or_none()
        if around is None:
            return [], "python", True, False
        return sorted(around.fastmath.flags), around.error_model, around.nrt, around.forceinline

    def _fingerprint(self):
        digest, symbols = digested(*self._contents())
        self._symbols |= symbols
        return digest

    def _path(self, sig, target_context):
        place = folder.cache_folder()
        if place is None or not folder.is_trusted(place):
            return None
        digest = self._fingerprint()
        if not digest:
            return None
        argtypes, return_type = sigutils.normalize_signature(sig)
        machine = target_context.codegen().magic_tuple()
        total = Fingerprint()
        try:
            total.add(digest).add(repr((machine, self.inherited())))
            total.add(tuple(argtypes)).add(return_type)
        except UndigestibleError:
            return None
        return place / f"{self._name}-{digest[:24]}-{total.hexdigest()[:32]}.nbc"


def _can_keep(compiled, announced):
    """Whether compiled code means the same in another process.

    What functions that call each other are called by is an address of this process.
    """
    code = compiled.library._final_module
    if any(variable.name.startswith(UNRESOLVED) for variable in code.global_variables):
        return False
    return all(block.can_cache for block in compiled.lifted) and means_the_same(code, announced)


def means_the_same(code, announced):
    """Whether an LLVM module does so, where the symbols announced have their meaning."""
    return constants.are_found_again(code, announced) and symbols.are_unique(code)


def _reduced(compiled, sig):
    """A compiled function as plain data, without the types of its arguments if they are the caller's.

    A type may hold a function or class of this process, and the caller has its own.
    """
    library, fndesc, environment, signature, *rest = compiled._reduce()
    argtypes, _ = sigutils.normalize_signature(sig)
    if tuple(argtypes) == tuple(signature.args) == tuple(fndesc.argtypes):
        fndesc = copy.copy(fndesc)
        fndesc.argtypes = None
        signature = signature.return_type
    modules = constants.modules_of(compiled.library._final_module)
    return modules, library, fndesc, environment, signature, *rest


def _rebuilt(payload, sig, target_context):
    modules, library, fndesc, environment, signature, *rest = payload
    for module in modules:
        import_module(module)
    if not isinstance(signature, typing.Signature):
        argtypes, _ = sigutils.normalize_signature(sig)
        signature = typing.signature(signature, *argtypes)
        fndesc.argtypes = tuple(argtypes)
    rebuild = compiler.CompileResult._rebuild
    found = rebuild(target_context, library, fndesc, environment, signature, *rest)
    # Numba tells the library nothing of it, so that its callers, kept in turn, would lack it.
    vars(found.library).get("_reload_init", set()).update(found.reload_init or ())
    return found


def enable(dispatcher, contents=None):
    """Give a dispatcher a disk cache keyed by content; returns the dispatcher."""
    refuse_without_compiler()
    py_func = dispatcher.py_func
    name = "".join(c if c.isalnum() or c == "_" else "" for c in py_func.__name__)[:40]
    contents = contents or (lambda: (py_func, dispatcher.targetoptions))
    dispatcher._cache = ContentCache(name, contents)
    return dispatcher


def jit(function=None, **options):
    """`numba.njit` for numbad's own functions: optimised with their callees, kept on disk by content.

    >>> from numbad.compilation.caching import jit
    >>> @jit
    ... def double(x):
    ...     return 2.0 * x
    >>> double(4.0)
    8.0
    """
    if function is None:
        return lambda f: jit(f, **options)
    return enable(LinkingDispatcher(function, targetoptions={"nopython": True, **options}))


def user_jit(function=None, **options):
    """The same for a user's plain function: a dispatcher as `numba.njit` makes it, which is known as such."""
    if function is None:
        return lambda f: user_jit(f, **options)
    return enable(njit(function, **options))
