"""The rules that a user gives: `scalar_rule` and `rule`."""

import operator
from types import FunctionType
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.np.ufunc.dufunc import DUFunc

from ..errors import RuleError
from .constant import WITHOUT_FLOATS
from .foreign import dispatcher_of
from .function_of_ufunc import function_of_ufunc
from .registry import CONSTANT, JVP, SCALAR, STRUCTURAL, VJP, ScalarRule, announce, name_of
from .tracing import arity

_TABLES = SCALAR, JVP, VJP
_WAY_OUT = (
    "would not see the rule. Way out: an @njit function of your own that calls it, with the rule"
)
_SHARING = WeakKeyDictionary()
"""A function -> the dispatchers made of its code, which have its rules as well."""


def scalar_rule(fn, partials):
    """Give the partial derivatives of a function of scalars, once, for both modes.

    `partials(ans, x, y, ...)` returns the partial by each argument as a tuple (for one argument
    the expression itself will do); `ans` is the function's value. It is called once, with
    symbols: operators, `math.*`, `np.*` and jitted functions of the symbols work, a branch is
    `np.where(condition, a, b)`. Raises RuleError where the rule cannot be used.

    >>> import math, numbad as nd
    >>> from numba import njit
    >>> @njit
    ... def softplus(x):
    ...     return math.log1p(math.exp(x))
    >>> nd.scalar_rule(softplus, lambda ans, x: 1.0 / (1.0 + math.exp(-x)))
    """
    fn = _named(fn)
    of_arrays = type(fn) is type(np.clip) and fn not in CONSTANT and fn not in SCALAR
    if of_arrays or fn in STRUCTURAL:
        raise RuleError(
            f"rule for {name_of(fn)}: it takes more than scalars. Way out: nd.rule, with a jvp and a vjp"
        )
    if not isinstance(partials, FunctionType):
        raise RuleError(f"rule for {name_of(fn)}: the partials must be a Python function")
    rule_ = ScalarRule(fn, partials)
    rule_.trace(_common_arity(fn, partials))
    give(fn, rule_)


def rule(fn, jvp=None, vjp=None):
    """Give a function's derivative as code: a `jvp`, or a `vjp`, or both.

    `jvp(primals, tangents)` returns `(value, tangent)`. `vjp` is a pair: `forward(*args)` returns
    `(value, residuals)`, and `backward(residuals, cotangent)` the cotangents. Without a `vjp`,
    reverse mode differentiates the `jvp` by its tangents. The rule gets every argument in its
    place, also by keyword and by default. A function that changes an argument has
    no rule: its derivatives are refused. Raises RuleError where the rule cannot be used.

    >>> import numbad as nd
    >>> from numba import njit
    >>> @njit
    ... def cube(x):
    ...     return x * x * x
    >>> nd.rule(cube, jvp=lambda primals, tangents: (
    ...     cube(primals[0]), 3.0 * primals[0] ** 2 * tangents[0]))
    """
    fn = _named(fn)
    if jvp is None and vjp is None:
        raise RuleError(f"rule for {name_of(fn)}: give jvp=, vjp= or both")
    if jvp is not None:
        _check_takes(fn, "jvp", jvp, 2, "(primals, tangents)")
    if vjp is not None:
        _check_vjp(fn, vjp)
    give(fn, None, jvp, None if vjp is None else tuple(vjp))


def give(fn, scalar, jvp=None, vjp=None):
    """Record a rule that was found right: a ScalarRule, or parts of one in code."""
    _forget(fn)
    CONSTANT.discard(fn)
    for table, part in zip(_TABLES, (scalar, jvp, vjp), strict=True):
        if part is not None:
            table[fn] = part
    _tell(fn)


def _named(fn):
    """The function under which a rule is kept.

    That is a dispatcher for a C function called by its address, and what `numba.vectorize` broadcasts.
    """
    fn = function_of_ufunc(fn) if isinstance(fn, DUFunc) else dispatcher_of(fn)
    _check_callable(fn, "the function")
    if fn in WITHOUT_FLOATS:
        raise RuleError(f"rule for {name_of(fn)}: it returns no float, and {_WAY_OUT}")
    if getattr(fn, "__module__", None) == operator.add.__module__:
        raise RuleError(
            f"rule for {name_of(fn)}: numbad has code of its own for it, and {_WAY_OUT}"
        )
    return fn


def _check_callable(fn, what):
    if isinstance(fn, int):
        raise RuleError(
            f"{what} of a rule must be callable, not {fn!r}; of a function by its address, give what "
            "compiled code calls: ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)"
        )
    if not callable(fn):
        raise RuleError(f"{what} of a rule must be callable, not {fn!r}")
    try:
        hash(fn)
    except TypeError:
        raise RuleError(f"{what} of a rule must be hashable: {fn!r} is not") from None


def _check_compilable(fn, role, function):
    """Raise RuleError where a part of a rule is nothing that compiled code can call."""
    if not isinstance(function, FunctionType | Dispatcher):
        raise RuleError(
            f"rule for {name_of(fn)}: {role} must be a Python function or a Numba dispatcher, which "
            f"compiled code can call, not {function!r}"
        )


def _check_takes(fn, role, function, count, arguments):
    _check_compilable(fn, role, function)
    bounds = arity(function)
    if bounds is not None and not bounds[0] <= count <= bounds[1]:
        taken = " or ".join(map(str, sorted(set(bounds))))
        raise RuleError(
            f"rule for {name_of(fn)}: {role} is called with {arguments}; it takes {taken} argument(s)"
        )


def _check_vjp(fn, vjp):
    if not isinstance(vjp, (tuple, list)) or len(vjp) != 2:
        raise RuleError(f"rule for {name_of(fn)}: vjp is a pair (forward, backward)")
    forward, backward = vjp
    _check_compilable(fn, "forward", forward)
    _check_takes(fn, "backward", backward, 2, "(residuals, cotangent)")


def _common_arity(fn, partials):
    """How many arguments to try the partials with; they and the function must agree."""
    least, most = arity(partials)
    least, most = least - 1, most - 1
    takes = arity(fn)
    if takes is None:
        return max(least, 1)
    least, most = max(least, takes[0]), min(most, takes[1])
    if most < max(least, 1):
        raise RuleError(
            f"rule for {name_of(fn)}: the function takes {takes[0]} argument(s), so its partials "
            f"must take 'ans' and as many, in this order"
        )
    return max(least, 1)


def _forget(fn):
    """The latest rule for a function is the one that counts."""
    for table in _TABLES:
        table.pop(fn, None)


def share_rules(fn, made):
    """Let a dispatcher made of the code of `fn` have the rules of `fn`, those given later too; returns it."""
    sharing = _SHARING.setdefault(fn, WeakSet())
    if made not in sharing:
        sharing.add(made)
        if any(fn in table for table in _TABLES):
            _hand_on(fn, made)
    return made


def _hand_on(fn, made):
    """Give a dispatcher the rules of `fn`, in place of its own."""
    _forget(made)
    for table in _TABLES:
        if fn in table:
            table[made] = table[fn]
    announce(made)


def _tell(fn):
    """Announce that `fn` has another rule, to what was made of its code as well."""
    announce(fn)
    sharing = _SHARING.get(fn, ()) if isinstance(fn, FunctionType | Dispatcher) else ()
    for made in tuple(sharing):
        _hand_on(fn, made)
