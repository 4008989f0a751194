"""Calls of a function while it, or another version of it, is being compiled.

What is compiled by then is called as any other function. Numba takes each such call for recursive, and calls
it by its address, to be found by a name that has the caller's options in it, not the callee's: an integral in
an integral is such a call, since the loops over points are the same function, of another integrand. The
address of what is not compiled yet is put in once it is, whatever the name.

Where two functions call each other, Numba infers the one with what the other returns where it calls nobody,
and does not look again: after `return 1` it takes the bits of a float for those of an int. Here the guess may
be a better one, and a wrong one is an error.
"""

from numba.core import types
from numba.core.errors import TypingError
from numba.core.funcdesc import default_mangler
from numba.core.lowering import Lower
from numba.core.typeinfer import TypeInferer

GUESSES = []  # functions of a context, what seems to be returned, and the types of the arguments: what is

_NAMES = (
    "__numbad_looked_for__"  # types of arguments -> the names by which code looks for a dispatcher
)
_PROMISED = "__numbad_promised__"  # types of arguments -> what code that exists takes a dispatcher to return

_numbas_call = Lower._lower_call_RecursiveCall
_numbas_partial = TypeInferer.return_types_from_partial


def lower_call(lower, fnty, expr, signature):
    """Numba's `Lower._lower_call_RecursiveCall`, but what is compiled by now is called by its name."""
    callee, args = fnty.dispatcher_type, tuple(signature.args)
    if args in callee.dispatcher.overloads:
        return lower._lower_call_normal(callee, expr, signature)
    promised = vars(callee.dispatcher).setdefault(_PROMISED, {})
    promised.setdefault(args, set()).add(signature.return_type)
    names = vars(callee.dispatcher).setdefault(_NAMES, {})
    names.setdefault(args, set()).add(_name(lower, fnty, args))
    lower.library.calls_itself = True
    return _numbas_call(lower, fnty, expr, signature)


def _name(lower, fnty, args):
    """The name by which Numba looks for the address."""
    mangler, overload = lower.context.mangler or default_mangler, fnty.get_overloads(args)
    return mangler(overload.qualname, args, abi_tags=lower.fndesc.abi_tags, uid=overload.uid)


def put_in_addresses(dispatcher, compiled, linker):
    """Let what looks for a function by names that are not its own find it."""
    own = compiled.fndesc.mangled_name
    for name in vars(dispatcher).get(_NAMES, {}).pop(tuple(compiled.signature.args), ()):
        place = None if name == own else linker._unresolved.pop(name, None)
        if place is not None:
            place.value = compiled.library.get_pointer_to_function(own)
            linker._resolved.append((name, place))  # which keeps it


def check_promise(dispatcher, compiled):
    """Raise `TypingError` where a function returns another type than those that call it were told."""
    told = vars(dispatcher).get(_PROMISED, {}).get(tuple(compiled.signature.args), ())
    found = types.unliteral(compiled.signature.return_type)
    for ty in told:
        if types.unliteral(ty) != found:
            name = dispatcher.py_func.__name__
            raise TypingError(
                f"{name} calls a function that calls {name}: it returns {ty} where it calls none, and "
                f"{found} elsewhere. Way out: return one type everywhere, 1.0 in place of 1, say"
            )


def partial_types(inferer):
    """Numba's `TypeInferer.return_types_from_partial`, for a function that another one calls back."""
    found = _numbas_partial(inferer)
    if found is None or inferer.context.callstack[0].typeinfer is inferer:
        return found
    args = [v.type for name, v in inferer.typevars.items() if name.startswith("arg.") and v.defined]
    for guess in GUESSES:
        found = guess(inferer.context, found, args)
    return found


class DirectCalls:
    """Within it, Numba lowers and infers recursive calls as above."""

    def __enter__(self):
        Lower._lower_call_RecursiveCall = lower_call
        TypeInferer.return_types_from_partial = partial_types

    def __exit__(self, *_):
        Lower._lower_call_RecursiveCall = _numbas_call
        TypeInferer.return_types_from_partial = _numbas_partial
