"""How far errors alone may move the conditions of events right after an event of a stiff system.

The state at an event has an error, that of interpolation and the tolerances, which the steps after the event
let decay at once where the system is stiff. The condition moves by that, back across zero on half of all
occasions, and crosses it once more as the solution goes on: one crossing, seen twice. It counts again once it
has been farther from zero than its band: what a Schmitt trigger does.
"""

import math

from numbad.ode.compiling import inlined
from numbad.ode.forms import as_arguments
from numbad.ode.interpolated_slopes import allowed_errors
from numbad.ode.short_tuples import item, replaced
from numbad.ode.state import read_row, restored, write_row

# A band is so many times what errors move a condition by. An error is at most so many times its tolerance;
# one so much smaller than that is a rounding.
SAFETY, LARGEST, ROUNDING = 4.0, 25.0, 1e-6


def make_bands(values, slope_at, count, least, consistent):
    """The compiled `bands(t, rows, lacks, buffers, settings, like, structure, args)`, a tuple of `count`.

    Errors are at least `least` times the tolerances, as they are where steps of an explicit method follow.
    `rows` are two free ones, the state and fun there, `lacks` what fun lacks (see `interpolated_slopes`), and
    `like` a state. `buffers` are two, which are written over.

    Where a component decays at a rate of k, fun lacks k times its error e, and in the direction of what it
    lacks changes by -k times that, k squared times e. What `consistent` (see `true_slope`, or None) makes of
    the state it makes of it after the event, too.
    """
    none = (0.0,) * count

    @inlined
    def settled(t, rows, structure, like, args):
        if consistent is None:
            return rows[2]
        return consistent(t, rows[2].copy(), restored(structure, like), as_arguments(args))

    @inlined
    def errors(t, rows, lacks, buffers, settings, like, structure, args):
        """Puts the errors into row 1."""
        scale, allowed = math.inf, allowed_errors(settings, rows[2])
        for j in range(len(lacks)):
            if lacks[j] != 0.0:
                scale = min(scale, allowed[j] / abs(lacks[j]))
        if scale < math.inf:
            for j in range(len(lacks)):
                rows[0, j] = rows[2, j] + scale * lacks[j]
            moved = read_row(buffers[0], rows, 0, like)
            write_row(rows, 1, slope_at(buffers[1], t, moved, structure, args))
        rows[0] = settled(t, rows, structure, like, args)
        for j in range(len(lacks)):
            lacking, found = lacks[j] * lacks[j], 0.0
            if lacking > 0.0:
                change = abs(rows[1, j] - rows[3, j]) / scale
                found = LARGEST * allowed[j]
                if lacking < found * change:
                    found = max(lacking / change, least * allowed[j])
            moved_by = abs(rows[0, j] - rows[2, j])
            rows[1, j] = max(found, moved_by) if moved_by > ROUNDING * allowed[j] else found

    @inlined
    def bands(t, rows, lacks, buffers, settings, like, structure, args):
        errors(t, rows, lacks, buffers, settings, like, structure, args)
        n, found, at_event = len(lacks), none, none
        for k in range(n + 1):  # the state, and with one error after another
            for j in range(n):
                rows[0, j] = rows[2, j]
            if k > 0:
                if rows[1, k - 1] == 0.0:
                    continue
                rows[0, k - 1] += rows[1, k - 1]
            there = values(t, restored(structure, read_row(buffers[0], rows, 0, like)), args)
            at_event = there if k == 0 else at_event
            for i in range(count):
                moves = abs(item(there, i) - item(at_event, i))
                found = replaced(found, i, item(found, i) + SAFETY * moves)
        return found

    return bands
