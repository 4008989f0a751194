"""What a right-hand side leaves in arrays among its further arguments, which sweeps back know nothing of.

A right-hand side may write intermediate results to arrays in `args`. A sweep back calls it again, at other
states and in another order than the solution did, which gives the same if it reads what it has written in
the same call alone. On the way forward of a solution that is differentiated, each call is made twice, the
second time with what these arrays held before the solution: both are to give the same. And what is left in
the arrays at the end is that of the last call, an attempted step, perhaps, of which no record is kept:
reverse mode around the solver refuses to differentiate what reads it.
"""

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import overload

from numbad.compilation.inherited import inherited_options
from numbad.compilation.memo import remembered
from numbad.errors import ModelError
from numbad.forward.access import primal
from numbad.ode.adjoints.slopes import effects_on_args
from numbad.ode.compiling import inlined
from numbad.ode.rhs import is_plain_tuple, members
from numbad.ode.state import plain
from numbad.operators.argument_structure import leaves, parse
from numbad.source import define

REMEMBERS = (
    "the right-hand side gives another result for the same arguments, as it reads what an earlier call has "
    "left in an array in args. Reverse mode calls it in another order. Way out: write each element before "
    'it is read, or keep what is to be carried along in the state y; or mode="forward"'
)


def differ(a, b):
    """Whether two results of a right-hand side differ in a number; NaN is NaN."""
    raise NotImplementedError


@overload(differ)
def _differ(a, b):
    if isinstance(a, types.BaseTuple):
        either = " or ".join(f"differ(a[{k}], b[{k}])" for k in range(len(a))) or "False"
        return define(f"def any_member(a, b):\n    return {either}\n", {"differ": differ})
    if isinstance(a, types.Array | types.List):

        def any_item(a, b):
            if len(a) != len(b):
                return True
            for k in range(len(a)):  # noqa: SIM110  (Numba knows no `any`)
                if differ(a[k], b[k]):
                    return True
            return False

        return any_item
    return lambda a, b: (
        primal(a) != primal(b) and (primal(a) == primal(a) or primal(b) == primal(b))
    )


def checked(problem, y0, args):
    """A problem whose right-hand side is called twice, what gives its args, and what puts these back.

    The same problem, `plain` and None for types of arguments of which it changes no array.
    """
    if isinstance(args, types.Omitted):
        return problem, plain, None
    first, single, tys = 3 if problem.inplace else 2, not is_plain_tuple(args), members(args)
    names = [f"arg{j}" for j in range(len(tys))]
    found = [
        (j, leaf.source)
        for j, ty in enumerate(tys)
        for leaf in leaves(parse(ty, names[j]))
        if isinstance(leaf.type, types.Array) and leaf.type.mutable
    ]
    changed = effects_on_args(problem.fun, first, y0, tys).changed if found else ()
    arrays = [
        (inner, f"args{'' if single else f'[{j}]'}{inner.removeprefix(names[j])}")
        for j, inner in found
        if first + j in changed
    ]
    if not arrays:
        return problem, plain, None
    known = remembered(problem.fun, "called twice")
    key = problem.inplace, tuple(names), tuple(arrays)
    if key not in known:
        source = _twice(problem.inplace, names, [inner for inner, _ in arrays])
        namespace = {"fun": problem.fun, "differ": differ, "ModelError": ModelError, "np": np}
        twice = njit(define(source, namespace), **inherited_options(problem.fun))
        twice.calls_twice = problem.fun
        copies = "".join(f"{outer}.copy(), " for _, outer in arrays)
        given = f"(args, ({copies}))" if single else f"(*args, ({copies}))"
        lines = [
            f"    {outer}[...] = given[{len(tys)}][{k}]\n" for k, (_, outer) in enumerate(arrays)
        ]
        put_back = f"def put_back(args, given):\n{''.join(lines)}"
        extended = inlined(define(f"def extended(args):\n    return {given}\n", {}))
        known[key] = twice, extended, inlined(define(put_back, {}))
    twice, extended, put_back = known[key]
    return problem._replace(fun=twice), extended, put_back


def _twice(inplace, names, arrays):
    """The source of a right-hand side that calls another twice."""
    given = "".join(f", {name}" for name in names)
    kept = [f"now{k} = {array}.copy()" for k, array in enumerate(arrays)]
    before = [f"{array}[...] = before[{k}]" for k, array in enumerate(arrays)]
    put_back = [f"{array}[...] = now{k}" for k, array in enumerate(arrays)]
    if inplace:
        first, result, returned = f"fun(t, y, dy{given})", "dy", []
        second = ["again = np.zeros_like(dy)", f"fun(t, y, again{given})"]
    else:
        first, result, returned = f"result = fun(t, y{given})", "result", ["return result"]
        second = [f"again = fun(t, y{given})"]
    check = [f"if differ({result}, again):", f"    raise ModelError({REMEMBERS!r})"]
    lines = [first, *kept, *before, *second, *put_back, *check, *returned]
    body = "\n".join(f"    {line}" for line in lines)
    return f"def twice(t, y{', dy' * inplace}{given}, before):\n{body}\n"


def written_places(handed_args, argtypes):
    """Where functions may write in the arguments of `solve(y0, ts, args)`: `{(argument, place in it)}`."""
    if len(argtypes) < 3:
        return set()
    y, _, args = argtypes[:3]
    written = {
        k - first
        for fun, first in handed_args
        for k in effects_on_args(fun, first, y, members(args)).written
        if k >= first
    }
    return {(2, (j,) if is_plain_tuple(args) else ()) for j in written}
