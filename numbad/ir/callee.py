"""Which function a call expression means, and the Python code behind it."""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import _Intrinsic
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc

from ..rules.foreign import dispatcher_of, is_foreign
from ..rules.intrinsics import bring_rule
from ..rules.registry import JVP, SCALAR, VJP
from .gufuncs import code_of

_READING = (len, range, enumerate, zip, sum, min, max, sorted, list, print, bool, int, float, abs)


def only_reads(function):
    """Whether a function of Python's or NumPy's is known to change nothing that it is given."""
    return any(function is reading for reading in (*_READING, np.empty_like))


@dataclass(frozen=True)
class Callee:
    """`kind` is "dispatcher", "function", "ufunc", "method", "class", "foreign" or "unknown".

    `key` is the dispatcher, the Python callable, what `numba.vectorize` made, the method's name,
    the class, or the dispatcher that stands for a C function without a rule; `owner` the variable
    whose method it is.
    """

    kind: str
    key: object
    owner: object = None


def callee_of(fn, call):
    """The `Callee` of a call expression of a `Function`."""
    ty = fn.type_of(call.func)
    if isinstance(ty, types.RecursiveCall):
        return Callee("dispatcher", ty.dispatcher_type.dispatcher)
    if isinstance(ty, types.Dispatcher):
        return Callee("dispatcher", ty.dispatcher)
    if isinstance(ty, types.BoundFunction):
        owner = fn.definition(call.func)
        if getattr(owner, "op", None) == "getattr":
            return Callee("method", owner.attr, owner.value)
        return Callee("unknown", ty)
    if isinstance(ty, types.NumberClass):
        return Callee("function", _number_class(ty))
    if isinstance(ty, types.NamedTupleClass):
        return Callee("class", ty.instance_class)
    if isinstance(ty, types.ClassType):
        return Callee("class", ty)
    if isinstance(ty, types.Function):
        return _gufunc(fn, call, ty.typing_key) or _function(ty.typing_key)
    if isinstance(ty, types.ExternalFunctionPointer | types.FunctionType):
        return _foreign(fn.constant(call.func), ty)
    if ty is None:
        found = fn.constant(call.func)
        return _function(found) if found is not None else Callee("unknown", None)
    return Callee("unknown", ty)


def _foreign(value, ty):
    """A C function: a dispatcher stands for it, whose code is entered if it is a callback's."""
    if value is None or not is_foreign(value):
        return Callee("unknown", ty)
    key = dispatcher_of(value)
    known = not hasattr(key, "numbad_foreign") or any(key in rules for rules in (SCALAR, JVP, VJP))
    return Callee("dispatcher" if known else "foreign", key)


def _gufunc(fn, call, key):
    """What `numba.guvectorize` made: the loops around its function, where they are known."""
    if not isinstance(key, GUFunc) or call.kws or call.vararg is not None:
        return None
    found = code_of(key, tuple(types.unliteral(fn.type_of(v)) for v in call.args))
    return found and Callee("dispatcher", found)


def _function(key):
    if isinstance(key, DUFunc):
        return Callee("ufunc", key)
    if isinstance(key, _Intrinsic):
        bring_rule(key)
    return Callee("function", key) if callable(key) else Callee("unknown", key)


def _number_class(ty):
    number = ty.instance_type
    names = {types.boolean: np.bool_}
    return names.get(number) or getattr(np, number.name, float)


_IMPLEMENTATIONS = {}
_OPTIONS = {
    "error_model",
    "fastmath",
}  # what an overload may ask for that changes what its code does


def implementation(fn, call, callee):
    """The dispatcher with the Python code of an `@overload`ed function or method, or None.

    Returns `(dispatcher, takes_owner)`.
    """
    typingctx = cpu_target.typing_context
    signature = fn.calls.get(call)
    if signature is None:
        return None
    if callee.kind == "method":
        owner = fn.type_of(callee.owner)
        for template in typingctx._get_attribute_templates(owner):
            if getattr(template, "is_method", False) and template._attr == callee.key:
                return overloaded_code(template, (owner, *_given(fn, call)), _keywords(fn, call))
        return None
    if callee.kind != "function":
        return None
    ty = fn.type_of(call.func)
    for template in getattr(ty, "templates", ()):
        if getattr(template, "_overload_func", None) is None:
            continue
        found = overloaded_code(template, _given(fn, call), _keywords(fn, call))
        if found is not None:
            return found
    return None


def attribute_code(owner, name):
    """The dispatcher with the Python code of an `@overload_attribute`, or None."""
    for template in cpu_target.typing_context._get_attribute_templates(owner):
        code = getattr(template, "_overload_func", None)
        method = getattr(template, "is_method", False)
        if code is not None and not method and template._attr == name:
            return overloaded_code(template, (owner,), ())
    return None


def _given(fn, call):
    return tuple(fn.type_of(v) for v in call.args)


def _keywords(fn, call):
    return tuple((name, fn.type_of(v)) for name, v in call.kws)


def overloaded_code(template, argtypes, keywords):
    """What the typing function of an `@overload` returns for the types, as a dispatcher, or None."""
    overload = template._overload_func
    given = getattr(template, "_jit_options", {})  # methods and attributes have none
    options = {k: v for k, v in given.items() if k in _OPTIONS}
    plain = tuple(map(types.unliteral, argtypes))
    plain_keywords = tuple((name, types.unliteral(ty)) for name, ty in keywords)
    choices = [(plain, plain_keywords), (argtypes, keywords)]  # in the order of Numba's
    for types_, named in choices[::-1] if getattr(template, "prefer_literal", False) else choices:
        key = overload, types_, named
        if key not in _IMPLEMENTATIONS:
            try:
                found = overload(*types_, **dict(named))
            except Exception:  # typing functions reject types in many ways
                found = None
            if isinstance(found, tuple):
                found = found[1]
            _IMPLEMENTATIONS[key] = None if found is None else njit(**options)(found)
        if _IMPLEMENTATIONS[key] is not None:
            return _IMPLEMENTATIONS[key]
    return None
