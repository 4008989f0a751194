"""Steps of one size in a loop that looks at nothing: neither at the state, nor at how much time is left."""

from numbad.ode.compiling import inlined
from numbad.ode.control import EVEN_STRETCH, Control
from numbad.ode.rhs import RightHandSide
from numbad.ode.state import all_finite
from numbad.ode.step import make_step


@inlined
def nothing_kept(record, row, y):
    """`keep` of a march that records nothing."""


def make_even_march(problem, pieces, settings, keep=nothing_kept, every=1):
    """The compiled `ahead(work, t, t_end, y, k0, control, structure, args, record, room)`.

    It returns (t, y, k0, control), after all steps of a method without an error estimate but the last, the
    shorter one, and no more than `room`; the caller takes the others as it takes any. A state that is not
    finite stays so, since a step adds to it: it is looked at once, and where it is not, nothing has been
    done, and the caller finds the step at fault. `keep(record, row, y)` keeps what one of `every` steps, 1 or
    2, starts from.
    """
    fun, close, settle = pieces.fun, pieces.close, pieces.settle
    step = make_step(problem.tableau, RightHandSide(problem.inplace, problem.known))
    longest, most = settings.max_step, settings.max_steps

    @inlined
    def one(work, t, k, h, y, slope, structure, args):
        y_new, stages = step(fun, work, t + k * h, t + (k + 1) * h, h, y, slope, structure, args)
        slopes = close(fun, work, t + (k + 1) * h, y_new, stages, structure, args)
        return settle(work, y_new, slopes)

    @inlined
    def two(work, t, k, h, y, slope, structure, args):
        y, slope = one(work, t, k, h, y, slope, structure, args)
        return one(work, t, k + 1, h, y, slope, structure, args)

    some = (one, two)[every - 1]

    @inlined
    def ahead(work, t, t_end, y, k0, control, structure, args, record, room):
        h = min(max(control.h, -longest), longest)
        wanted = (t_end - t) / (EVEN_STRETCH * h)
        rows = min(int(wanted) if wanted < most else most, room) // every
        w, slope = y, k0
        row = 0
        while row != rows:
            k = every * row
            row += 1
            keep(record, row, w)
            w, slope = some(work, t, k, h, w, slope, structure, args)
        count = every * rows
        if not all_finite(w):
            return t, y, k0, control
        return t + count * h, w, slope, Control(control.h, control.log_error, count)

    return ahead


@inlined
def no_step_ahead(work, t, t_end, y, k0, control, structure, args, record, room):
    """Where steps go on from that look at every state: the start."""
    return t, y, k0, control
