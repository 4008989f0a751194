"""The adjoint of one step, which a method brings: how a sweep goes back through what it recorded."""

from collections import namedtuple

from numbad.ode.compiling import inlined
from numbad.ode.state import write_rows

ONE_KIND = inlined(lambda work, stages: 0.0)
NO_NOTE = inlined(lambda work, kind: None)
NOTHING_TO_PUT = inlined(lambda table, row, stages: None)


VectorField = namedtuple("VectorField", "fun pull structure args shadows moving")
"""A right-hand side and its pullback, with what they are called with.

Cotangents of arrays among `args` are added to `shadows`. `moving` is None, or, for a method that `moves`,
arguments and shadows as dual numbers of one partial, what is added to whose partials counts, and a table of
four states of such.
"""

TakenStep = namedtuple("TakenStep", "t t_new h y y_new kept")
"""A recorded step: its times, its size, and the states at both ends.

`kept` is the table of states and the row of `y` there, before those of the stages.
"""


class StepAdjoint:
    """The compiled functions that undo a step of a method.

    The sweep knows of a recorded step when it began, how long it was, the states at both ends, and the
    first `stages` stages, of a method that asks for them. It carries the cotangent of the state, and calls,
    from the end of the step:

    `begin(work, h, lam) -> bars`: the cotangents of all that the new state, of cotangent `lam`, is
    put together from; what `bars` holds is the method's affair.

    `output(work, bars, theta, h, v) -> bars`: adds those for an output at `t + theta h` of cotangent `v`.

    `step(field, work, taken, bars, seen, totals) -> (lam, totals)`: goes back through the stages of a
    `TakenStep` of a `VectorField`, to the cotangent of `y`; `seen` tells whether there was any output
    within. Cotangents of numbers in the arguments are added to `totals`.

    `workspace(initial, args, settings) -> (memory, work)` makes what the others take as `work`.

    Steps of several kinds are told apart by a number: `kind(work, stages)` of what a step has given, and of
    the workspace of the solution, which is recorded, and `note(work, kind)`, which is called before all
    others on the way back.
    `put(table, row, stages)` records the stages.
    """

    def __init__(
        self,
        workspace,
        begin,
        output,
        step,
        stages=0,
        kind=ONE_KIND,
        note=NO_NOTE,
        put=None,
        moves=False,
    ):
        self.workspace, self.begin, self.output, self.step = workspace, begin, output, step
        self.stages, self.kind, self.note, self.moves = stages, kind, note, moves
        self.put = put or (write_rows if stages else NOTHING_TO_PUT)
