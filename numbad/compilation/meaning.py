"""What the names in code mean now: whether what was made of the code earlier still holds.

Numba takes globals, closure cells and global arrays for constants. What was derived from the code of a
function holds as long as these mean the same, for the function, its callees, and theirs.
"""

import builtins
import sys
from dis import get_instructions
from itertools import count
from types import CellType, CodeType, FunctionType, ModuleType
from weakref import ref

import numpy as np
from numba.core import ir
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc
from numba.np.ufunc.ufuncbuilder import UFuncDispatcher

from ..constants import is_small

# Their versions are known, and their functions do not change.
_LIBRARIES = {"llvmlite", "numba", "numpy", "scipy"} | set(sys.stdlib_module_names)

_NAMES = "__numbad_names__"
_COMPILED = "__numbad_compiled__"
_NUMBAS = CPUDispatcher, UFuncDispatcher  # of `njit` and of `vectorize`
_PLAIN = (str, bytes, bool, int, float, complex, range, slice, np.generic)
# Of a tuple of these alone, such as a pattern of thousands of numbers, members need no look one by one.
PLAIN = frozenset({type(None), str, bytes, bool, int, float, complex})

_versions = count(1)
_latest = 0  # the newest version: while it stays, nothing has been seen to change


def _globals_in(code):
    """Every name that a code object, and the functions defined within it, looks up in its globals."""
    names = {i.argval for i in get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _globals_in(constant)
    return names


def names_in(code):
    """Every global or attribute name in a code object and the functions defined within it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= names_in(constant)
    return names


def is_library(module):
    """Whether a module, by name, belongs to what has a version of its own."""
    return module.startswith("numbad.") or module.partition(".")[0] in _LIBRARIES


def stands_in_library(function):
    """Whether a function is written in a library, rather than generated with globals of its own."""
    name = function.__module__ or ""
    return is_library(name) and getattr(sys.modules.get(name), "__dict__", None) is (
        function.__globals__
    )


# -- values ------------------------------------------------------------------------------------


class _Absent:
    """What a name means that nobody has given a value."""


class _Array:
    """A copy of an array that Numba writes into the code, as it does with small ones."""

    def __init__(self, array):
        self.array = array.copy(order="K")
        self.layout = array.shape, array.dtype, array.strides

    def is_same(self, now):
        if not isinstance(now, np.ndarray) or (now.shape, now.dtype, now.strides) != self.layout:
            return False
        return now.tobytes("A") == self.array.tobytes("A")


class _Tuple:
    """A tuple whose members have names, or may change."""

    def __init__(self, value):
        self.kind, self.members = type(value), tuple(map(_kept, value))

    def is_same(self, now):
        if not isinstance(now, tuple) or len(now) != len(self.members):
            return False
        return _layout(type(now)) == _layout(self.kind) and all(map(_is_same, self.members, now))

    @property
    def value(self):
        members = map(_value, self.members)
        return self.kind(*members) if hasattr(self.kind, "_fields") else tuple(members)


def _layout(kind):
    """What code makes of the class of a tuple: a namedtuple's may be defined anew, with other fields."""
    return kind.__name__, getattr(kind, "_fields", None)


def _kept(value):
    """What tells later whether a value is still the same."""
    if isinstance(value, np.ndarray) and is_small(value) and not value.dtype.hasobject:
        return _Array(value)
    if isinstance(value, np.void):
        return value.copy()
    if isinstance(value, tuple) and (
        type(value) is not tuple or any(isinstance(v, tuple | np.ndarray) for v in value)
    ):
        return _Tuple(value)
    return value


def text_of(value):
    """What tells a number or a text from others, whatever its class says of it: None for other values."""
    if isinstance(value, np.generic):
        return repr((value.dtype.str, value.tobytes()))
    for kind in _PLAIN:
        if isinstance(value, kind):
            return kind.__repr__(value)
    return None


def _is_same(kept, now):
    if isinstance(kept, _Array | _Tuple):
        return kept.is_same(now)
    if isinstance(kept, np.void):
        return type(now) is type(kept) and now.tobytes() == kept.tobytes()
    if kept is now:
        return True
    if type(kept) is type(now) is tuple:
        return len(kept) == len(now) and all(map(_is_same, kept, now))
    if type(kept) is not type(now) or not isinstance(kept, _PLAIN):
        return False
    return text_of(kept) == text_of(now)


def _value(kept):
    """The value that was kept, as code takes it."""
    if isinstance(kept, _Array):
        return kept.array
    return kept.value if isinstance(kept, _Tuple) else kept


# -- names -------------------------------------------------------------------------------------


def _read(place, name):
    """What stands in a place: a cell, the globals of a function, the names of a module."""
    if isinstance(place, CellType):
        try:
            return place.cell_contents
        except ValueError:
            return _Absent
    return place.get(name, _Absent)


def _places(function):
    """`(place, name)` of everything that the code of a function may read."""
    for cell, name in zip(function.__closure__ or (), function.__code__.co_freevars, strict=True):
        yield cell, name
        yield from _attributes(_read(cell, name), function)
    scope = function.__globals__
    for name in sorted(_globals_in(function.__code__)):
        if name in scope or not hasattr(builtins, name):
            yield scope, name
            yield from _attributes(scope.get(name), function)


def _attributes(module, function, within=()):
    """What a function may read of a module of the user's."""
    if not isinstance(module, ModuleType) or is_library(module.__name__) or module in within:
        return
    for name in sorted(names_in(function.__code__)):
        if name in vars(module):
            yield vars(module), name
            yield from _attributes(vars(module)[name], function, (*within, module))


def _functions(value):
    """The functions in a value, those of libraries aside."""
    if isinstance(value, tuple | list):
        if not PLAIN.issuperset(map(type, value)):  # thousands of numbers, a pattern for one
            for member in value:
                yield from _functions(member)
    elif isinstance(value, DUFunc | GUFunc):
        yield value._dispatcher
    elif isinstance(value, Dispatcher | FunctionType):
        yield value


class _Names:
    """What the names in the code of one function meant when they were last looked at."""

    def __init__(self, function):
        self._function = ref(function)
        self._take(function)

    def __reduce__(self):
        return type(None), ()  # a copy of the function is looked at itself

    def _take(self, function):
        global _latest
        self._code = function.__code__
        self._defaults = _kept(function.__defaults__)
        self.places = tuple(_places(function))
        values = [_read(*place) for place in self.places]
        self.kept = tuple(map(_kept, values))
        self._reached = tuple(map(ref, _functions(values)))
        self.version = _latest = next(_versions)

    def looked_at(self, function):
        """These names, taken anew where one, or the function itself, means something else now."""
        same = self._code is function.__code__ and _is_same(self._defaults, function.__defaults__)
        if not (same and self.hold()):
            self._take(function)
        return self

    def hold(self):
        """Whether all names mean what they did."""
        return all(
            _is_same(kept, _read(*place))
            for place, kept in zip(self.places, self.kept, strict=True)
        )

    def reached(self):
        """The functions that the names lead to."""
        return [function for function in (one() for one in self._reached) if function is not None]

    def belong_to(self, function):
        """Whether they are a function's own: `functools.wraps` copies what a function has."""
        return self._function() is function


def _names_of(function):
    known = vars(function).get(_NAMES)
    if known is None or not known.belong_to(function):
        known = vars(function)[_NAMES] = _Names(function)
        return known
    return known.looked_at(function)


def _leads_to(function):
    """The version of a function's names, and the functions that they lead to."""
    operator = getattr(function, "operator", None) if isinstance(function, Dispatcher) else None
    python = getattr(function, "py_func", function)
    others = [] if operator is None else [operator.f]
    if stands_in_library(python):
        cells = [_read(cell, "") for cell in python.__closure__ or ()]
        return 0, [*_functions(cells), *others]
    names = _names_of(python)
    return names.version, [*names.reached(), *others]


def reached(function):
    """All functions that a function leads to, itself first, with the versions of their names."""
    found, pending = {}, [function]
    while pending:
        one = pending.pop()
        if one not in found:
            found[one], others = _leads_to(one)
            pending += others
    return found


def meaning(function):
    """A number that another one takes the place of when the function comes to mean something else."""
    return max(reached(function).values())


def latest():
    """The newest of these numbers."""
    return _latest


# -- what Numba has compiled -------------------------------------------------------------------


def note_compiled(dispatcher, argtypes):
    """Keep what the names of a dispatcher's code meant when Numba compiled it for these types."""
    if _is_noted(dispatcher):
        names = _names_of(dispatcher.py_func)
        vars(dispatcher).setdefault(_COMPILED, {})[argtypes] = names.places, names.kept


def _is_noted(dispatcher):
    return type(dispatcher) in _NUMBAS and not stands_in_library(dispatcher.py_func)


def _noted(dispatcher):
    """Argument types -> the places of names, and what these meant when Numba compiled the code."""
    if not _is_noted(dispatcher):
        return {}
    known = vars(dispatcher).setdefault(_COMPILED, {})
    for signature, cres in list(dispatcher.overloads.items()):
        argtypes = tuple(getattr(signature, "args", signature))
        if argtypes not in known:
            known[argtypes] = _read_off(cres, dispatcher.py_func)
    return known


def _read_off(cres, function):
    """The same, read off what was compiled before numbad was imported: all but what arrays held."""
    blocks = getattr(cres.type_annotation, "blocks", {})  # none in what comes from Numba's cache
    assigned = [s for block in blocks.values() for s in block.find_insts(ir.Assign)]
    then = {
        s.value.name: _Absent if s.value.value is ir.UNDEFINED else s.value.value
        for s in assigned
        if isinstance(s.value, ir.Global | ir.FreeVar) and not _is_numbas_own(s)
    }
    places = tuple(_places(function))
    scopes = [function.__globals__, *(function.__closure__ or ())]
    own = {id(scope) for scope in scopes}
    values = [
        then[name] if id(place) in own and name in then else _read(place, name)
        for place, name in places
    ]
    return places, tuple(map(_kept, values))


def _is_numbas_own(statement):
    """Whether it gives Numba the `bool` that decides an `if`, whatever the module calls by this name."""
    return statement.target.name.startswith("$bool")


def forget_compiled(dispatcher):
    """Numba is to compile the dispatcher anew: to its callers it comes to mean what its names mean now."""
    vars(dispatcher).pop(_COMPILED, None)
    vars(dispatcher.py_func).pop(_NAMES, None)


def is_as_compiled(dispatcher):
    """Whether the names of a dispatcher mean what they did for all that Numba has compiled of it."""
    return all(_changes(dispatcher, *compiled) is None for compiled in _noted(dispatcher).values())


def as_compiled(dispatcher, argtypes):
    """The Python function of a dispatcher, with its names meaning what Numba compiled for these types.

    So a derivative goes with the values that the function returns, which Numba has frozen.
    """
    function, known = dispatcher.py_func, _noted(dispatcher)
    if not known:
        return function
    if _is_complete(dispatcher, argtypes, known):
        argtypes = next(iter(known))
    changes = _changes(dispatcher, *known[argtypes]) if argtypes in known else None
    return function if changes is None else _with(function, changes)


def _is_complete(dispatcher, argtypes, known):
    """Whether Numba compiles nothing more of it, as its signatures are given, but casts the arguments."""
    if isinstance(dispatcher, UFuncDispatcher):  # what a call needs was compiled when it was typed
        return argtypes not in known
    return not dispatcher._can_compile


def _changes(dispatcher, places, kept):
    """The names that mean something else by now: id of a place -> name -> value then; None if none."""
    kept = [
        _where_absent(dispatcher, place) if then is _Absent else then
        for place, then in zip(places, kept, strict=True)
    ]
    if all(_is_same(then, _read(*place)) for place, then in zip(places, kept, strict=True)):
        return None
    changes, copies = {}, {}
    for (place, name), then in reversed(list(zip(places, kept, strict=True))):
        now = _read(place, name)
        if isinstance(then, ModuleType) and id(vars(then)) in changes:
            then = copies.setdefault(id(then), _module_with(then, changes[id(vars(then))]))
        elif _is_same(then, now):
            continue
        changes.setdefault(id(place), {})[name] = _value(then)
    return changes


def _where_absent(dispatcher, place):
    """What Numba took for a name without a value: the function itself, which has been defined since."""
    return dispatcher if place[1] == dispatcher.py_func.__name__ else _read(*place)


def _module_with(module, changes):
    copy = ModuleType(module.__name__)
    vars(copy).update(vars(module))
    vars(copy).update(changes)
    return copy


def _with(function, changes):
    """A function with the same code, whose names mean something else."""
    scope = function.__globals__
    changed = changes.get(id(scope))
    cells = [
        CellType(*changes[id(cell)].values()) if id(cell) in changes else cell
        for cell in function.__closure__ or ()
    ]
    copy = FunctionType(
        function.__code__,
        scope if changed is None else {**scope, **changed},
        function.__name__,
        function.__defaults__,
        tuple(cells) or None,
    )
    copy.__kwdefaults__, copy.__module__ = function.__kwdefaults__, function.__module__
    copy.__qualname__ = function.__qualname__
    return copy


# -- hooks -------------------------------------------------------------------------------------


def _add_overload(dispatcher, cres):
    """Enter compiled code, and note what its names meant."""
    _numbas_add_overload(dispatcher, cres)
    note_compiled(dispatcher, tuple(cres.signature.args))


def _compile_core(dispatcher, *args):
    """Compile what `numba.vectorize` made for numbers of some types, and note what its names meant."""
    known = len(dispatcher.overloads)
    cres = _numbas_compile_core(dispatcher, *args)
    if len(dispatcher.overloads) > known:
        note_compiled(dispatcher, tuple(cres.signature.args))
    return cres


_numbas_add_overload, Dispatcher.add_overload = Dispatcher.add_overload, _add_overload
_numbas_compile_core = UFuncDispatcher._compile_core
UFuncDispatcher._compile_core = _compile_core
