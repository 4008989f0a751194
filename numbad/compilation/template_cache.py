"""Templates of what is compiled around users' functions, kept in this process and on disk by content.

Their key is that of compiled code, `caching`'s, but for the users' functions, which they do not hold.
"""

import contextlib
import pickle
from collections import OrderedDict
from importlib import import_module

from numba.core import serialize, sigutils
from numba.core.compiler import Flags
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack

from .. import constants
from ..debugging import debugging
from . import folder
from .caching import FORMAT, ContentCache, means_the_same
from .fingerprint import Fingerprint, UndigestibleError, digested
from .relinking import recorded, relinked, template_of

MOST = 32
"""How many keys have their templates in memory, the longest unused going first: 0.1 to 1 MiB each."""

VARIANTS = 4
"""How many templates a key has: a user's function may return a float where another one returns an int."""

_templates = OrderedDict()  # key -> templates


class TemplateCache(ContentCache):
    """The disk cache of a dispatcher around users' functions, and templates where it has no entry.

    `around(argtypes)` gives what the code for these types depends on but for the functions, which stand in
    it, and the functions; None where other functions have other code.
    """

    def __init__(self, name, contents, around, options):
        super().__init__(name, contents)
        self._around = around
        self._options = options  # of the dispatcher
        self._missed = {}  # the keys of what is being compiled, by the signature

    def load_overload(self, sig, target_context):
        found = super().load_overload(sig, target_context)
        if found is not None or debugging():
            return found
        argtypes = tuple(sigutils.normalize_signature(sig)[0])
        around = self._around(argtypes)
        if around is None:
            return None
        contents, functions = around
        if any(map(_is_inlined, functions)):
            return None
        key = self._key(sig, target_context, contents, functions)
        self._missed[sig] = key, functions
        with self._flags():
            tried = (
                relinked(template, functions, argtypes, target_context)
                for template in self._known(key)
            )
            found = next((one for one in tried if one is not None), None)
        if found is None:
            recorded().clear()
        else:
            del self._missed[sig]
            super().save_overload(sig, found)
        return found

    def save_overload(self, sig, compiled):
        super().save_overload(sig, compiled)
        key, functions = self._missed.pop(sig, (None, ()))
        made = None if key is None else template_of(compiled, functions, recorded())
        if made is not None:
            template, code = made
            known = [template, *self._known(key)][:VARIANTS]
            _remember(key, known)
            self._write(key, known, code)

    def _flags(self):
        """A context in which users' functions are compiled as they are within the dispatcher's code."""
        flags = Flags()
        cpu_target.options.parse_as_flags(flags, self._options)
        return ConfigStack().enter(flags)

    def _key(self, sig, target_context, contents, functions):
        """A digest of all but the users' functions, and the symbols that it announces; None without one."""
        digest, symbols = digested(*contents, standing_for=functions)
        if digest is None:
            return None
        argtypes, return_type = sigutils.normalize_signature(sig)
        total = Fingerprint()
        try:
            total.add(digest).add(self._name).add(repr(self.inherited()))
            total.add(repr(target_context.codegen().magic_tuple()))
            total.add(tuple(argtypes)).add(return_type)
        except UndigestibleError:
            return None
        return total.hexdigest(), frozenset(symbols)

    def _known(self, key):
        if key not in _templates:
            _remember(key, [] if key is None else self._read(key))
        _templates.move_to_end(key)
        return _templates[key]

    # -- on disk -----------------------------------------------------------------------------

    def _place(self, key):
        place = folder.cache_folder()
        if place is None or not folder.is_trusted(place):
            return None
        return place / f"{self._name}-{key[0][:56]}{folder.ENTRY}"

    def _read(self, key):
        place = self._place(key)
        data = folder.read(place) if place is not None else b""
        if not data.startswith(FORMAT):
            return []
        try:
            modules, known = pickle.loads(data[len(FORMAT) :])
            for module in modules:
                import_module(module)
        except Exception:  # a damaged file, or a module gone
            return []
        return known

    def _write(self, key, known, code):
        place = self._place(key)
        if place is None or not means_the_same(code, key[1]):
            return
        # A full disk, or a type that is known to this process alone, must not stop anyone.
        with contextlib.suppress(OSError, pickle.PicklingError, TypeError, AttributeError):
            content = constants.modules_of(code), known
            folder.write(place, FORMAT + serialize.dumps(content))


def _is_inlined(function):
    """Whether Numba may put a function's own code in place of a call, where no other's can take its place."""
    return getattr(function, "targetoptions", {}).get("inline", "never") != "never"


def _remember(key, known):
    _templates[key] = known
    while len(_templates) > MOST:
        _templates.popitem(last=False)
