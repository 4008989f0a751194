"""Steps of one size in a loop that looks at nothing: neither at the state, nor at how much time is left."""

from numbad.ode.compiling import inlined
from numbad.ode.control import EVEN_STRETCH, Control
from numbad.ode.rhs import RightHandSide
from numbad.ode.state import all_finite
from numbad.ode.step import make_step


def make_even_march(problem, pieces, settings):
    """The compiled `ahead(work, t, t_end, y, k0, control, structure, args) -> (t, y, k0, control)`.

    All steps of a method without an error estimate but the last, the shorter one, which the caller takes as
    it takes any. A state that is not finite stays so, since a step adds to it: it is looked at once, and
    where it is not, nothing has been done, and the caller finds the step at fault.
    """
    fun, close, settle = pieces.fun, pieces.close, pieces.settle
    step = make_step(problem.tableau, RightHandSide(problem.inplace, problem.until_output))
    longest, most = settings.max_step, settings.max_steps

    @inlined
    def ahead(work, t, t_end, y, k0, control, structure, args):
        h = min(max(control.h, -longest), longest)
        wanted = (t_end - t) / (EVEN_STRETCH * h)
        count = int(wanted) if wanted < most else most
        w, slope = y, k0
        k = 0
        while k != count:
            w, stages = step(fun, work, t + k * h, t + (k + 1) * h, h, w, slope, structure, args)
            slopes = close(fun, work, t + (k + 1) * h, w, stages, structure, args)
            w, slope = settle(work, w, slopes)
            k += 1
        if not all_finite(w):
            return t, y, k0, control
        return t + count * h, w, slope, Control(control.h, control.log_error, count)

    return ahead
