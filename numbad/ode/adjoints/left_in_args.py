"""What a right-hand side leaves in arrays among its further arguments, which sweeps back know nothing of.

A right-hand side, a drift or a diffusion may write intermediate results to arrays in `args`. A sweep back
calls it again, at other states and in another order than the solution did, which gives the same if it reads
what it has written in the same call alone. On the way forward of a solution that is differentiated, each call
is made again, with what these arrays held before the solution: both are to give the same. They may hold from
the beginning what is written, as after a solution before: such elements are changed a little. Which ones are
written, a call with all of them changed a little shows.

What is left in the arrays at the end is that of the last call, an attempted step, perhaps, of which no record
is kept: reverse mode around the solver refuses to differentiate what reads it.
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
    "{} gives another result for the same arguments, as it reads what an earlier call has left in an array "
    "in args. {} calls it in another order. Way out: write each element before it is read, or keep what is "
    "to be carried along in the state y; or {}"
)
_BY_REVERSE_MODE = REMEMBERS.format("the right-hand side", "Reverse mode", 'mode="forward"')


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


# By how much elements are changed: not so that an index that is made of one is another, or far away.
_A_LITTLE = 1e-6


def _changed(x):
    """A number beside `x`; the same for what is no float."""
    raise NotImplementedError


@overload(_changed)
def _choose_changed(x):
    if isinstance(x, types.Integer | types.Boolean):
        return lambda x: x
    if x in (types.float32, types.complex64):  # rounded to it, as an element of an array is
        rounded = np.float32 if x is types.float32 else np.complex64
        return lambda x: rounded(x + _A_LITTLE * (1.0 + abs(x)))
    return lambda x: x + _A_LITTLE * (1.0 + abs(primal(x)))


def change(array, before):
    """Make all numbers of an array others than `before` the solution."""
    raise NotImplementedError


def note_written(array, before, written):
    """Make the numbers of `written` others where a call has written; `array` is what it left of `change`."""
    raise NotImplementedError


def begin_with(array, now, before, written):
    """What a call begins with that is to give the same as one that has left `now`."""
    raise NotImplementedError


def _is_of_numbers(array):
    return not isinstance(array.dtype, types.Record)


@overload(change)
def _choose_change(array, before):
    def change(array, before):
        for i in np.ndindex(array.shape):
            array[i] = _changed(before[i])

    return change if _is_of_numbers(array) else lambda array, before: None


@overload(note_written)
def _choose_note_written(array, before, written):
    def note_written(array, before, written):
        for i in np.ndindex(array.shape):
            if differ(array[i], _changed(before[i])):
                written[i] = _changed(before[i])

    return note_written if _is_of_numbers(array) else lambda array, before, written: None


@overload(begin_with)
def _choose_begin_with(array, now, before, written):
    def begin_with(array, now, before, written):
        for i in np.ndindex(array.shape):
            array[i] = before[i] if differ(now[i], before[i]) else written[i]

    def as_before(array, now, before, written):
        array[...] = before

    return begin_with if _is_of_numbers(array) else as_before


def checked(problem, y0, args):
    """A problem whose right-hand side is called twice, what gives its args, and what puts these back.

    The same problem, `plain` and None for types of arguments of which it changes no array.
    """
    if isinstance(args, types.Omitted):
        return problem, plain, None
    found = called_twice([(problem.fun, 3 if problem.inplace else 2, _BY_REVERSE_MODE)], y0, args)
    if found is None:
        return problem, plain, None
    (twice,), extended, put_back = found
    return problem._replace(fun=twice), extended, put_back


def called_twice(functions, y0, args):
    """Functions that call others twice; what gives their args, and what puts these back.

    `functions` are `(function, number of its first further argument, message where it remembers)`. None where
    they change no array.
    """
    single, tys = not is_plain_tuple(args), members(args)
    names = [f"arg{j}" for j in range(len(tys))]
    found = [
        (j, leaf.source)
        for j, ty in enumerate(tys)
        for leaf in leaves(parse(ty, names[j]))
        if isinstance(leaf.type, types.Array) and leaf.type.mutable
    ]
    changed = {
        k - first
        for fun, first, _ in functions
        if found
        for k in effects_on_args(fun, first, y0, tys).changed
    }
    arrays = [
        (inner, f"args{'' if single else f'[{j}]'}{inner.removeprefix(names[j])}")
        for j, inner in found
        if j in changed
    ]
    if not arrays:
        return None
    twice = [
        _made_twice(*each, tuple(names), tuple(inner for inner, _ in arrays)) for each in functions
    ]
    outer = tuple(outer for _, outer in arrays)
    return twice, *_kept_beside(functions[0][0], single, len(tys), outer)


def _made_twice(fun, first, message, names, arrays):
    """The dispatcher that calls a function twice."""
    known = remembered(fun, "called twice")
    key = first, message, names, arrays
    if key not in known:
        namespace = {"fun": fun, "differ": differ, "ModelError": ModelError, "np": np}
        namespace |= {"change": change, "note_written": note_written, "begin_with": begin_with}
        inplace = first == 3  # t, y, dy, and then the further ones
        source = define(_twice(inplace, message, names, arrays), namespace)
        known[key] = njit(source, **inherited_options(fun))
        known[key].calls_twice = fun
    return known[key]


def _kept_beside(fun, single, count, arrays):
    """`extended(args)`, with two copies of the arrays in them, and `put_back(args, extended)`.

    The first copies stay what they are, the second ones are changed where a call has written.
    """
    known = remembered(fun, "kept beside args")
    key = single, count, arrays
    if key not in known:
        copies = "".join(f"{array}.copy(), " for array in arrays * 2)
        given = f"(args, ({copies}))" if single else f"(*args, ({copies}))"
        lines = [f"    {array}[...] = given[{count}][{k}]\n" for k, array in enumerate(arrays)]
        put_back = f"def put_back(args, given):\n{''.join(lines)}"
        extended = inlined(define(f"def extended(args):\n    return {given}\n", {}))
        known[key] = extended, inlined(define(put_back, {}))
    return known[key]


def _twice(inplace, message, names, arrays):
    """The source of a function that calls another again, to see what it writes and whether it remembers."""
    given = "".join(f", {name}" for name in names)
    kept = [f"now{k} = {array}.copy()" for k, array in enumerate(arrays)]
    others = [f"change({array}, before[{k}])" for k, array in enumerate(arrays)]
    n = len(arrays)
    noted = [
        f"note_written({array}, before[{k}], before[{n + k}])" for k, array in enumerate(arrays)
    ]
    before = [
        f"begin_with({array}, now{k}, before[{k}], before[{n + k}])"
        for k, array in enumerate(arrays)
    ]
    put_back = [f"{array}[...] = now{k}" for k, array in enumerate(arrays)]
    if inplace:
        first, result, returned = f"fun(t, y, dy{given})", "dy", []
        second = ["again = np.zeros_like(dy)", f"fun(t, y, again{given})"]
    else:
        first, result, returned = f"result = fun(t, y{given})", "result", ["return result"]
        second = [f"again = fun(t, y{given})"]
    check = [f"if differ({result}, again):", f"    raise ModelError({message!r})"]
    lines = [first, *kept, *others, *second, *noted, *before, *second, *put_back, *check, *returned]
    body = "\n".join(f"    {line}" for line in lines)
    return f"def twice(t, y{', dy' * inplace}{given}, before):\n{body}\n"


def written_places(handed_args, argtypes):
    """Where functions may write in the arguments of `solve(y0, ts, args)`: `{(argument, place in it)}`.

    What they write depends on the state or on arguments.
    """
    return _places(handed_args, argtypes, lambda done: done.written)


def changed_places(handed_args, argtypes):
    """The same, whatever they write."""
    return _places(handed_args, argtypes, lambda done: done.changed)


def _places(handed_args, argtypes, which):
    if len(argtypes) < 3:
        return set()
    y, _, args = argtypes[:3]
    found = {
        k - first
        for fun, first in handed_args
        for k in which(effects_on_args(fun, first, y, members(args)))
        if k >= first
    }
    return {(2, (j,) if is_plain_tuple(args) else ()) for j in found}
