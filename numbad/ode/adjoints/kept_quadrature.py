"""The integral of lambda^T df/dp over a stretch of time in which lambda is known, to a tolerance of its own.

Each step of lambda is integrated by a Gauss rule, and by two of half the size, and halved where they differ.
"""

import numpy as np

from numbad.forward.access import primal
from numbad.ode.adjoints.adjoint_system import put_arrays, put_members, state_at
from numbad.ode.adjoints.stage_pulls import SEED, STATE, pull_at
from numbad.ode.compiling import inlined
from numbad.ode.state import structure_of, table_for, write_row, write_rows
from numbad.ode.tables import FIRST_ROWS, enlarged

POINTS = 3  # of the rule
DEEPEST = 12  # times that a step is halved


def gauss_rule(count):
    """Points and weights of the Gauss-Legendre rule on [0, 1]."""
    points, weights = np.polynomial.legendre.leggauss(count)
    return 0.5 + 0.5 * points, 0.5 * weights


def make_kept(pieces, forwards, pull):
    """The compiled functions that keep lambda, and integrate at the end.

    `begin(initial) -> kept`, `keep(kept, work, t, h, y, slopes, structure, args, into) -> kept`, and
    `finish(kept, args, into, settings)`, which adds the integral to the array in `into`.
    """
    fun, extend = pieces.fun, pieces.extend
    interpolant = np.array(forwards.tableau.interpolant)
    stride = len(interpolant)
    points, weights = (tuple(x.tolist()) for x in gauss_rule(POINTS))

    @inlined
    def begin(initial):
        nodes, states = np.empty(FIRST_ROWS), table_for(FIRST_ROWS, initial)
        return 0, nodes, states, table_for(FIRST_ROWS * stride, initial)

    @inlined
    def keep(kept, work, t, h, y, slopes, structure, args, into):
        step, nodes, states, rows = kept
        if step + 1 == len(nodes):
            nodes, states = enlarged(nodes, 2 * len(nodes)), enlarged(states, 2 * len(nodes))
            rows = enlarged(rows, 2 * len(rows))
        nodes[step], nodes[step + 1] = t, t + h
        write_row(states, step, y)
        write_rows(rows, step * stride, extend(fun, work, t, h, y, slopes, structure, args))
        return step + 1, nodes, states, rows

    @inlined
    def rule(start, end, track, args, into, out):
        """The integral over an interval, backwards in time, into `out`."""
        y0, like, given, _, scratch, forward_track, origin = args
        shadows, rates = into
        for j in range(len(out)):
            out[j] = 0.0
        for i in range(len(points)):
            t = start + points[i] * (end - start)
            moment = origin[0] + t
            state_at(moment, forward_track, interpolant, scratch[STATE])
            state_at(t, track, interpolant, scratch[SEED])
            totals = pull_at(pull, moment, 0.0, scratch, like, structure_of(y0), given, shadows)
            put_arrays(rates, put_members(rates, 0, totals), shadows)
            for j in range(len(out)):
                out[j] += (end - start) * weights[i] * rates[j]

    @inlined
    def finish(kept, args, into, settings):
        steps, nodes, states, rows = kept
        shadows, sums = into
        if steps > 0:
            track = (
                nodes[: steps + 1],
                states[:steps],
                rows[: steps * stride],
                np.zeros(1, np.int64),
            )
            rates, left, right = np.empty_like(sums), np.empty_like(sums), np.empty_like(sums)
            values = sums.repeat(DEEPEST + 2).reshape((len(sums), DEEPEST + 2)).T.copy()
            lows, highs = np.empty(DEEPEST + 2), np.empty(DEEPEST + 2)
            depths = np.zeros(DEEPEST + 2, np.int64)
            for step in range(steps):
                top = 0
                lows[0], highs[0], depths[0] = nodes[step], nodes[step + 1], 0
                rule(lows[0], highs[0], track, args, (shadows, rates), values[0])
                while top >= 0:
                    low, high, depth = lows[top], highs[top], depths[top]
                    middle = 0.5 * (low + high)
                    rule(low, middle, track, args, (shadows, rates), left)
                    rule(middle, high, track, args, (shadows, rates), right)
                    if depth == DEEPEST or agree(values[top], left, right, sums, settings):
                        for j in range(len(sums)):
                            sums[j] += left[j] + right[j]
                        top -= 1
                    else:
                        for j in range(len(sums)):
                            values[top, j], values[top + 1, j] = left[j], right[j]
                        highs[top], lows[top + 1], highs[top + 1] = middle, middle, high
                        depths[top] = depths[top + 1] = depth + 1
                        top += 1

    return begin, keep, finish


@inlined
def agree(whole, left, right, sums, settings):
    """Whether a rule and two of half the size differ by less than the tolerances."""
    fine = True
    for j in range(len(sums)):
        found = primal(left[j]) + primal(right[j])
        size = abs(found + primal(sums[j]))
        bound = settings.atol + settings.rtol * size
        fine = fine and not abs(found - primal(whole[j])) > bound
    return fine
