"""What implicit steps remember of those before, for a solution that is gone through again from a checkpoint.

That is the Jacobian they keep, what they note, and the last rows of their tables: the slopes at the stages of
the last step, or differences of the solution. The factors follow from the Jacobian.
"""

from numba.core import types
from numba.extending import overload

from numbad.ode.compiling import called, inlined
from numbad.ode.lent import returned
from numbad.ode.stage_equations import first_remembered
from numbad.ode.stage_states import flat
from numbad.ode.step import Memory, buffers_needed


def make_implicit_memory(tableau, factored):
    """The `Memory` of implicit steps; `factored` is the note of the step size that factors are for."""
    place, first = buffers_needed(tableau), first_remembered(tableau)
    place_of_moving = place + 2

    @called
    def room(desk, moving):
        jacobian, notes = returned(desk.systems.jacobian), returned(desk.notes)
        return (
            len(notes) + jacobian.size + returned(desk.T)[first:].size + moving_room(moving, first)
        )

    @called
    def leave(desk, moving, row):
        notes = returned(desk.notes)
        row[: len(notes)] = notes
        at = put_in(row, len(notes), returned(desk.systems.jacobian))
        at = put_in(row, at, returned(desk.T)[first:])
        leave_moving(moving, first, row, at)

    @called
    def take(desk, moving, row):
        notes = returned(desk.notes)
        notes[:] = row[: len(notes)]
        notes[factored] = 0.0
        at = take_from(row, len(notes), returned(desk.systems.jacobian))
        at = take_from(row, at, returned(desk.T)[first:])
        take_moving(moving, first, row, at)

    return Memory(
        inlined(lambda work: room(work[place], work[place_of_moving])),
        inlined(lambda work, row: leave(work[place], work[place_of_moving], row)),
        inlined(lambda work, row: take(work[place], work[place_of_moving], row)),
    )


@called
def put_in(row, at, table):
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            row[at] = table[i, j]
            at += 1
    return at


@called
def take_from(row, at, table):
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            table[i, j] = row[at]
            at += 1
    return at


def moving_room(moving, first):
    """How many floats the rows of dual numbers are from `first` on, if there are any."""
    raise NotImplementedError


@overload(moving_room)
def _moving_room(moving, first):
    if isinstance(moving, types.NoneType):
        return lambda moving, first: 0
    return lambda moving, first: flat(returned(moving.T))[first:].size


def leave_moving(moving, first, row, at):
    """Put them into a row."""
    raise NotImplementedError


@overload(leave_moving)
def _leave_moving(moving, first, row, at):
    if isinstance(moving, types.NoneType):
        return lambda moving, first, row, at: None
    return lambda moving, first, row, at: put_in(row, at, flat(returned(moving.T))[first:])


def take_moving(moving, first, row, at):
    """Take them back."""
    raise NotImplementedError


@overload(take_moving)
def _take_moving(moving, first, row, at):
    if isinstance(moving, types.NoneType):
        return lambda moving, first, row, at: None
    return lambda moving, first, row, at: take_from(row, at, flat(returned(moving.T))[first:])
