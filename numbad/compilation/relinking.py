"""What is compiled around users' functions is typed and lowered once, and linked with each of them.

A solver's loop is the same code for every right-hand side of the same types: Numba would infer its types
and lower it again for each. Here the lowered code of a function that calls users' functions, before LLVM
optimises it, is kept as a template, `LoweredCode`, with those calls: from one function to the next nothing
but their symbols differs. For other functions the calls are resolved anew, and where they return what they
returned, the template is linked with what they resolve to. LLVM optimises it with the functions' code, as it
does whatever is compiled afresh.
"""

import copy
import io
import pickle
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from llvmlite.binding import parse_bitcode
from numba.core import types
from numba.core.bytecode import FunctionIdentity
from numba.core.compiler import compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.environment import Environment, lookup_environment

from .fingerprint import depends
from .linking import PLAIN, Wrapper, environments_read, waits
from .symbols import Renumbering

_recordings = []  # what is being compiled around users' functions, innermost last

KNOWN = list(PLAIN)
"""The classes of dispatchers whose code is that of a Python function and of what that leads to."""


@dataclass(frozen=True)
class Noted:
    """A call of a user's function, or of what is made of one, and what it was resolved to."""

    how: Any  # see `note_call`
    function: bytes  # see `_reference`
    types: tuple
    form: Any
    target: tuple  # what callers know of the compiled callee
    symbol: str


@dataclass(frozen=True)
class LoweredCode:
    """Code around users' functions, lowered, for other functions."""

    calls: tuple
    code: bytes  # LLVM's bitcode, with all that it calls but for these functions
    wrappers: tuple  # what Python and C call
    reload_init: tuple
    fndesc: Any
    constants: tuple
    environments: tuple  # of other functions in the code
    return_type: types.Type


@contextmanager
def recording():
    """Note the calls that `note_call` is told of in what is compiled within, but for what that compiles."""
    with global_compiler_lock:
        _recordings.append({})
        try:
            yield
        finally:
            _recordings.pop()


def recorded():
    """`(how, function, types) -> call` of what is being compiled."""
    return _recordings[-1]


def is_recording():
    """Whether what is being compiled may be linked with other functions later: so it must suit any."""
    return bool(_recordings)


def note_call(how, function, argtypes, call):
    """Note how a call of a dispatcher was resolved, if what calls it is being recorded.

    `how.resolve(typingctx, types.Dispatcher(function), *argtypes)` has returned `call`, an object with the
    attributes `callee`, a dispatcher, and `given`, the types that this is called with; `call.form()` is all
    else that the code around the call depends on. For calls that Numba resolves nothing need be noted.
    """
    if _recordings:
        _recordings[-1][how, function, argtypes] = call


@dataclass(frozen=True)
class DirectCall:
    """A call of a dispatcher as it stands in the code."""

    callee: Any
    given: tuple

    def form(self):
        return None


@dataclass(frozen=True)
class _Plainly:
    def resolve(self, typingctx, function_type, *argtypes):
        return DirectCall(function_type.dispatcher, argtypes)


PLAINLY = _Plainly()
"""How Numba resolves a call of a dispatcher: for `note_call`."""


# -- from some functions -----------------------------------------------------------------------


def template_of(compiled, functions, calls):
    """The template of a compiled function, and its LLVM module; None where it serves no other functions.

    `functions` are the user's, and `calls` what has been noted.
    """
    library, fndesc = compiled.library, compiled.fndesc
    if not waits(library) or library.when_linked is not None:
        return None
    if fndesc.global_dict is not None or compiled.objectmode:
        return None
    calls = calls | _plain_calls(fndesc, functions)
    typingctx = compiled.typing_context
    own = {_compiled(call, typingctx).library for call in calls.values()}
    if not all(_serves_others(part, functions) for part in library.parts(own)):
        return None
    try:
        noted = tuple(_called(*each, call, typingctx, functions) for each, call in calls.items())
    except (pickle.PicklingError, TypeError, AttributeError):
        return None
    code = library.lowered(own)
    environments = _environments(code, fndesc.env_name)
    if environments is None:
        return None
    template = LoweredCode(
        calls=noted,
        code=code.as_bitcode(),
        wrappers=tuple(Wrapper.of(module) for module in library.entries),
        reload_init=library.initialisers(own),
        fndesc=_with_types(fndesc, None),
        constants=tuple(compiled.environment.consts),
        environments=environments,
        return_type=compiled.signature.return_type,
    )
    return template, code


def _environments(code, own):
    """What code reads as environments of functions but its own; None where another process has no such."""
    found = [lookup_environment(name) for name in environments_read(code) if name != own]
    return tuple(found) if all(one is not None and one.can_cache() for one in found) else None


def _plain_calls(fndesc, functions):
    """The calls in the typed code of what depends on the functions."""
    found, known = {}, {}
    for expr, signature in fndesc.calltypes.items():
        if getattr(expr, "op", None) != "call":
            continue
        called = getattr(fndesc.typemap[expr.func.name], "dispatcher", None)
        if called is not None:
            if called not in known:
                known[called] = depends(called, functions)
            if known[called]:
                call = DirectCall(called, signature.args)
                found[PLAINLY, called, signature.args] = call
    return found


def _serves_others(part, functions):
    """Whether the code of a library is the same whatever the functions are.

    It is not if one of them is among its arguments: code for another one would have the same name.
    """
    made_of = getattr(part, "made_of", None)
    if made_of is None:
        return "Dispatcher" not in part.name  # Numba's own
    dispatcher, argtypes = made_of[0](), made_of[1]
    of_dispatchers = [ty for ty in argtypes if "Dispatcher" in str(ty)]
    return isinstance(dispatcher, tuple(KNOWN)) and not any(
        depends(each, functions) for each in (dispatcher, *of_dispatchers)
    )


def _compiled(call, typingctx):
    """The compiled function that a call was resolved to."""
    argtypes = types.Dispatcher(call.callee).get_call_type(typingctx, call.given, {}).args
    return call.callee.overloads[tuple(argtypes)]


def _called(how, function, argtypes, call, typingctx, functions):
    compiled = _compiled(call, typingctx)
    reference = _reference(function, functions)
    symbol = compiled.fndesc.llvm_func_name
    return Noted(how, reference, argtypes, call.form(), _target(compiled), symbol)


def _target(compiled):
    """What the code of a caller depends on of a compiled function, besides its symbol."""
    fndesc = compiled.fndesc
    return tuple(fndesc.argtypes), fndesc.restype, fndesc.inline, fndesc.noalias


def _with_types(fndesc, argtypes):
    own = copy.copy(fndesc)
    own.argtypes, own.typemap, own.calltypes = argtypes, {}, {}
    return own


# -- to others ---------------------------------------------------------------------------------


def relinked(template, functions, argtypes, target_context):
    """What a template was made of, around other functions; None where the types of its calls are others."""
    codegen = target_context.codegen()
    if "create_library" not in vars(codegen):  # a part of nothing: see `linking`
        return None
    found = _resolved(template, functions, target_context.typing_context)
    if found is None:
        return None
    symbols, libraries = found
    for initialise in template.reload_init:
        initialise()
    renumber = Renumbering(template.fndesc.uid, next(FunctionIdentity._unique_ids))
    fndesc = _renamed(template.fndesc, renumber, argtypes)
    library = codegen.create_library(fndesc.mangled_name)
    library.enable_object_caching()
    library.add_lowered(parse_bitcode(template.code), symbols, renumber)
    library.entries.extend(wrapper.renamed(renumber) for wrapper in template.wrappers)
    for part in libraries:
        library.add_linking_library(part)
    library.add_environments(template.environments)
    library.add_initialisers(template.reload_init)
    library.finalize()
    environment = Environment.from_fndesc(fndesc)
    environment.consts.extend(template.constants)
    return compile_result(
        typing_context=target_context.typing_context,
        target_context=target_context,
        entry_point=target_context.get_executable(library, fndesc, environment),
        type_annotation="",
        signature=template.return_type(*argtypes),
        objectmode=False,
        lifted=(),
        fndesc=fndesc,
        library=library,
        environment=environment,
        reload_init=list(template.reload_init),
        referenced_envs=(),
    )


def _resolved(template, functions, typingctx):
    """The symbols to put in place of the template's, and the libraries that define them."""
    symbols, libraries = {}, {}
    for called in template.calls:
        try:
            function = types.Dispatcher(_referred_to(called.function, functions))
            call = called.how.resolve(typingctx, function, *called.types)
            compiled = _compiled(call, typingctx)
        except Exception:  # what is wrong is told where it is compiled afresh
            return None
        if call.form() != called.form or _target(compiled) != called.target:
            return None
        symbol = compiled.fndesc.llvm_func_name
        if symbols.setdefault(called.symbol, symbol) != symbol:
            return None
        libraries[compiled.library] = None
    return symbols, libraries


def _renamed(fndesc, renumber, argtypes):
    own = _with_types(fndesc, argtypes)
    for name in ("mangled_name", "env_name", "unique_name"):
        setattr(own, name, renumber(getattr(fndesc, name)))
    own.uid = renumber.number
    return own


# -- what is made of the functions -------------------------------------------------------------


class _Pickler(pickle.Pickler):
    """Pickles what is made of functions by how it is made, and these by their numbers.

    A dispatcher tells how it is made, as a function and its arguments, by `__reduce__` or in `made_by`.
    """

    def __init__(self, file, functions):
        super().__init__(file)
        self._functions = functions

    def persistent_id(self, value):
        for k, function in enumerate(self._functions):
            if value is function:
                return k
        return None

    def reducer_override(self, value):
        if not isinstance(value, Dispatcher):
            return NotImplemented
        made_by = vars(value).get("made_by")
        if made_by is None and type(value) in PLAIN:
            raise pickle.PicklingError(f"{value!r} is neither one of them nor made by numbad")
        return NotImplemented if made_by is None else made_by


class _Unpickler(pickle.Unpickler):
    def __init__(self, file, functions):
        super().__init__(file)
        self._functions = functions

    def persistent_load(self, number):
        return self._functions[number]


def _reference(dispatcher, functions):
    """How a dispatcher is made of functions: for `_referred_to`."""
    file = io.BytesIO()
    _Pickler(file, functions).dump(dispatcher)
    return file.getvalue()


def _referred_to(reference, functions):
    """The dispatcher that is made of other functions in the same way."""
    dispatcher = _Unpickler(io.BytesIO(reference), functions).load()
    if not isinstance(dispatcher, Dispatcher):
        raise TypeError(f"a call of {dispatcher!r}")
    return dispatcher
