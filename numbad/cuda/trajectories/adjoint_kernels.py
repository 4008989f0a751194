"""The kernels of the discrete adjoint: trajectories that record their steps, the loss, the way back.

A thread has a slot of the workspace and takes trajectory `counts[0] + slot`, or, where `numbers` has any,
`numbers[slot]`, at whose number the results stand; `counts[1]` says how many there are. Each kernel first
sets the status to what it is where the thread ends too soon.
"""

import math
from dataclasses import dataclass
from typing import Any

from numba import cuda
from numba.core import types

from numbad.compilation.memo import built_once
from numbad.cuda.gradient import value_and_grad
from numbad.cuda.kernels import DOUBLE, SINGLE, Kernel
from numbad.cuda.trajectories.adjoint_march import NO_ROOM, back_march, recorded_march
from numbad.cuda.trajectories.given import Group, named_classes
from numbad.cuda.trajectories.kernel_source import RAISED
from numbad.cuda.trajectories.listed_returns import read_as_tuples
from numbad.cuda.trajectories.ode_march import refused
from numbad.cuda.trajectories.stage_pull import stage_pull
from numbad.forward.dualize import has_own_rule
from numbad.ode.adjoints.slopes import Slope
from numbad.ode.compiling import inlined
from numbad.ode.jumps import warn_of_jumps
from numbad.source import define

# Statuses of trajectories that reached their end, and whose loss or way back did not.
LOSS_RAISED, LOSS_NOT_A_NUMBER, BACK_RAISED = 125, 124, 123

_SCALARS = {SINGLE: types.float32, DOUBLE: types.float64}
_INTEGERS, _TIMES = types.int32[::1], types.float64[::1]
_TABLE, _SLOPES = types.Array(types.float64, 3, "C"), types.Array(types.float64, 4, "C")
# What the kernels of the way there and back take behind leaves and times.
RECORDED = {
    "numbers": _INTEGERS,
    "counts": _INTEGERS,
    "status": _INTEGERS,
    "stopped": _TIMES,
    "ys": _TABLE,
    "states": _TABLE,
    "steps": _INTEGERS,
    "missed": _INTEGERS,
}
BACK = {
    "numbers": _INTEGERS,
    "counts": _INTEGERS,
    "status": _INTEGERS,
    "seeds": _TABLE,
    "states": _TABLE,
    "steps": _INTEGERS,
    "slopes": _SLOPES,
}


@dataclass(frozen=True)
class AdjointProblem:
    """What the kernels are made for: the problem of a solver and structures of what a trajectory is given."""

    problem: Any
    settings: Any
    y0: Any
    args: Any
    dense: bool
    precision: str

    @property
    def fun(self):
        """The right-hand side that the user gave."""
        return self.problem.fun

    @property
    def read(self):
        """The problem whose right-hand side returns tuples for lists written out."""
        return self.problem._replace(fun=read_as_tuples(self.problem.fun, False))

    @property
    def leaves(self):
        return (*self.y0.leaves(), *self.args.leaves())

    @property
    def single(self):
        """Whether all further arguments of `fun` are one, and no tuple of them."""
        return not isinstance(self.args, Group) or self.args.named is not None

    def kernel(self, name, more, body, names, argtypes, signed_zeros=True):
        """The kernel `name(*leaves, *more)` of these lines, for threads of slots."""
        names = names | named_classes(self.y0, self.args)
        function, given = slot_function(name, self.leaves, more, body, names, argtypes)
        return Kernel(function, given, self.precision, signed_zeros)


def slot_function(name, leaves, more, body, names, argtypes):
    """The Python function `name(*leaves, *more)` of lines for threads of slots, and its arguments' types."""
    parameters = [*(f"leaf{leaf.number}" for leaf in leaves), *more]
    source = [
        f"def {name}({', '.join(parameters)}):",
        "    slot = cuda.grid(1)",
        "    if slot < counts[1]:",
        "        i = number_of(slot, numbers, counts)",
        *("        " + line for line in body),
    ]
    function = define("\n".join(source), {"cuda": cuda, "number_of": _number_of, **names})
    return function, (*(leaf.argument_type for leaf in leaves), *argtypes)


@inlined
def _number_of(slot, numbers, counts):
    return numbers[slot] if numbers.size else slot + counts[0]


def _plain(leaf, column, source):
    return source


@built_once(lambda made: made.fun)
def recording_kernel(made):
    """`(*leaves, ts, numbers, counts, status, stopped, ys, states, steps, missed)`: the way there.

    `counts[2]` counts those that had no room, and `missed` are their numbers, in any order.
    """
    state, args = made.y0.source(_plain), made.args.source(_plain)
    body = [
        f"status[i] = {RAISED}",
        "steps[slot] = 0",  # where fun raises
        f"code, stopped_at, count = march(slot, ts, (ys,), states, {state}, {args})",
        "steps[slot] = count",
        "if code != 0:",
        "    stopped[i] = stopped_at",
        f"    if code == {NO_ROOM}:",
        "        missed[cuda.atomic.add(counts, 2, 1)] = i",
        "status[i] = code",
    ]
    more, argtypes = ("ts", *RECORDED), (_TIMES, *RECORDED.values())
    march = recorded_march(made.read, made.settings, made.dense)
    return made.kernel("recorded", more, body, {"march": march}, argtypes)


@built_once(lambda loss, precision: loss)
def loss_kernel(loss, precision):
    """`(numbers, counts, status, ys, seeds, values, slopes)`: losses, and by the outputs their gradients.

    The latter are the seeds. Values and slopes are NaN before there are any.
    """
    gradient = value_and_grad(loss)

    def losses(numbers, counts, status, ys, seeds, values, slopes):
        slot = cuda.grid(1)
        if slot < counts[1]:
            i = _number_of(slot, numbers, counts)
            values[0, 0, i] = math.nan
            for k in range(slopes.shape[2]):
                slopes[0, 0, k, i] = math.nan
            if status[i] == 0:
                status[i] = LOSS_RAISED
                value, _ = gradient(ys[:, :, slot], seeds[:, :, slot])
                values[0, 0, i] = value
                status[i] = 0 if value == value else LOSS_NOT_A_NUMBER

    table, slopes = (types.Array(_SCALARS[precision], ndim, "C") for ndim in (3, 4))
    return Kernel(losses, (_INTEGERS, _INTEGERS, _INTEGERS, table, table, table, slopes))


@built_once(lambda made, by: made.fun)
def back_kernel(made, by):
    """`(*leaves, ts, numbers, counts, status, seeds, states, steps, slopes)`: gradients by numbers `by`."""
    starts, numbers = state_numbers(made.y0), _floats(made.args)
    members = (made.args,) if made.single else made.args.members
    slope = _slope(made, members, len(starts))
    by_args = any(number in numbers for number in by)
    if by_args:
        moved = [j for j, member in enumerate(members) if _floats(member)]
        warn_of_jumps(made.fun, moved, 2, made.problem.known)
    state, args = made.y0.source(_plain), made.args.source(_plain)
    given = f"({args},)" if made.single else args
    shadows = f"({'None, ' * len(members)})"
    body = [
        "if status[i] == 0:",
        f"    status[i] = {BACK_RAISED}",
        "    lam, totals = back(",
        f"        slot, ts, seeds, states, steps[slot], {state}, {given}, {shadows}",
        "    )",
    ]
    for q, number in enumerate(by):
        is_start = number in starts
        found = f"lam[{starts.index(number)}]" if is_start else f"totals[{numbers.index(number)}]"
        body.append(f"    slopes[0, 0, {q}, i] = {found}")
    body.append("    status[i] = 0")
    more, argtypes = ("ts", *BACK), (_TIMES, *BACK.values())
    back = back_march(made.read, made.settings, stage_pull(slope, by_args), made.dense)
    return made.kernel("adjoint", more, body, {"back": back}, argtypes, signed_zeros=False)


def _slope(made, members, width):
    """The right-hand side whose vector-Jacobian product the stages call."""
    if has_own_rule(made.fun):
        raise refused("derivatives of a right-hand side that has a rule of its own")
    y = types.UniTuple(types.float64, width)
    given = tuple(member.type for member in members)
    return Slope(made.fun, False, made.y0.type, y, given)


def state_numbers(structure):
    """The components of a state, as (leaf, column)."""
    return [
        (leaf.number, column) for leaf in structure.leaves() for column in range(leaf.width or 1)
    ]


def _floats(structure):
    """The floats among the arguments, in the order of their cotangents."""
    return [
        (leaf.number, column)
        for leaf in structure.leaves()
        if leaf.kind == "f"
        for column in range(leaf.width or 1)
    ]
