"""The first event of a solution after a time: integrated for that, and what happens there."""

from numbad.compilation.memo import built_once
from numbad.ode import failure
from numbad.ode.compiling import GenericDispatcher, generic
from numbad.ode.conditions import Conditions
from numbad.ode.crossing import SOON
from numbad.ode.first_crossing import Past, make_first_crossing
from numbad.ode.fixed_times import check
from numbad.ode.hysteresis import make_bands
from numbad.ode.integrate import as_passed, content_of, dispatcher_of, functions_of, make_pieces
from numbad.ode.interpolated_slopes import make_compare
from numbad.ode.known_switches import ALL_KNOWN
from numbad.ode.rhs import RightHandSide, make_evaluate
from numbad.ode.short_tuples import item, replaced
from numbad.ode.state import (
    borrow,
    borrow_given,
    combine,
    hold,
    make_workspace,
    read_row,
    restored,
    structure_of,
    table_for,
    write_row,
)
from numbad.ode.switching import Switching
from numbad.ode.true_slope import make_consistent, make_slope_at


class LocateDispatcher(GenericDispatcher):
    """A search whose result is a constant of whatever differentiates the code around it."""

    numbad_changes = False


@built_once(dispatcher_of)
def make_locate(problem, settings, conditions, directions):
    """`make_search` for given settings."""
    content = *content_of(problem), tuple(settings), conditions, directions

    def locate(y0, t, t_end, args, fired, past, tried):
        raise NotImplementedError(content)

    search = make_search(problem, conditions, directions, settings.mass)

    def choose(*argument_types):
        return _with_settings(search, as_passed(settings))

    origin = make_locate, (problem, settings, conditions, directions)
    return generic(locate, content, choose, origin, LocateDispatcher)


def _with_settings(search, settings):
    def locate(y0, t, t_end, args, fired, past, tried):
        hit, t_before, t_after, known, lacks, tried, status, stopped = search(
            y0, t, t_end, args, fired, past, tried, settings
        )
        check(status, stopped)
        return hit, t_before, t_after, known, lacks, tried

    return locate


@built_once(dispatcher_of)
def make_search(problem, conditions, directions, mass):
    """The dispatcher `search(y0, t, t_end, args, fired, past, tried, settings)`, as `locate`.

    It returns (hit, t_before, t_after, past, lacks, tried, status, t): as bits of `hit` the conditions that
    cross zero first, the times next to that on each side, what the next search has to know of the conditions
    (`Past`), and what fun lacks there (see `interpolated_slopes`). Without one, `hit` is 0. `fired` are those
    that have just done so, `tried` the steps tried so far. `status` and `t` are what `check` takes.
    """
    content = *content_of(problem), conditions, directions, mass

    def search(y0, t, t_end, args, fired, past, tried, settings):
        raise NotImplementedError(content)

    def choose(y0, t, t_end, args, *rest):
        watch = Conditions(conditions, y0, args)
        return _search(make_pieces(problem), problem, watch, directions, mass)

    around = functions_of(problem) and (*functions_of(problem), *conditions)
    origin = make_search, (problem, conditions, directions, mass)
    return generic(search, content, choose, origin, around=around)


def _search(pieces, problem, watch, directions, mass):
    """The Python function `search` for given types."""
    fun, as_state, start, advance, close, extend, interpolate, settle, explain, *_ = pieces
    values, slopes_of = watch.values, watch.slopes
    slope_at = make_slope_at(
        problem, mass, make_evaluate(RightHandSide(problem.inplace, ALL_KNOWN))
    )
    side = make_workspace(4)
    known, begin, first, last_before, gap_after, has_slopes = make_first_crossing(
        watch, interpolate, directions
    )
    count, zeros = len(directions), (0.0,) * len(directions)
    least = 1.0 if isinstance(problem.tableau, Switching) else 0.0
    consistent = make_consistent(problem, mass)
    bands_at = make_bands(values, slope_at, count, least, consistent)
    compare = make_compare(interpolate)
    compares = problem.tableau.is_implicit

    def search(y0, t, t_end, given_args, fired, past, tried, given_settings):
        args, settings = borrow_given(given_args), borrow(given_settings)
        structure = structure_of(y0)
        initial = as_state(y0, args)
        memory, work, y, k0, status, control = start(initial, t, t_end, structure, args, settings)
        own_memory, (row, slope_row, more, last) = side(initial)
        rates, after, bands, _ = past
        now = values(t, restored(structure, y), args)
        slope = slope_at(slope_row, t, y, structure, args)
        onset = slopes_of(t, restored(structure, y), restored(structure, slope), args)
        before, goes_to = known(now, onset, (t, t_end), fired, past)
        hit, is_first, low = 0, True, zeros
        t_before = t_after = t_end
        beside = table_for(5, initial)
        lacks = beside[4]
        lacks[:] = 0.0
        while t != t_end and status == failure.RUNNING and hit == 0:
            if tried + control.attempts >= settings.max_steps:
                status = failure.TOO_MANY_STEPS
                break
            status, t_new, h, w, stages, control = advance(
                work, t, t_end, y, k0, control, structure, args, settings
            )
            if status != failure.RUNNING:
                break
            slopes = close(fun, work, t_new, w, stages, structure, args)
            dense = extend(fun, work, t, h, y, slopes, structure, args)
            at = row, t, h, y, dense, structure, args
            if is_first:
                before, low, status = begin(at, before, goes_to, bands, SOON)
                is_first = False
            if status == failure.RUNNING:
                status, hit, which, before, low = first(at, before, low, bands)
            if hit != 0:
                sign = item(before, which)
                t_before = last_before(which, item(low, which), at, sign)
                state = interpolate(row, (t_before - t) / h, h, y, dense)
                slope = slope_at(slope_row, t_before, state, structure, args)
                if compares:
                    write_row(beside, 2, state)
                    write_row(beside, 3, slope)
                    write_row(beside, 4, slope)
                    compare(row, (t_before - t) / h, h, y, dense, beside, settings, lacks)
                    wide = bands_at(
                        t_before, beside, lacks, (more, last), settings, initial, structure, args
                    )
                    state = interpolate(row, (t_before - t) / h, h, y, dense)
                    slope = combine(
                        slope_row, slope, 1.0, (1.0,), (read_row(more, beside, 4, slope),)
                    )
                    for i in range(count):
                        if hit >> i & 1:
                            bands = replaced(bands, i, item(wide, i))
                rates = slopes_of(
                    t_before, restored(structure, state), restored(structure, slope), args
                )
                gap, after = gap_after(
                    which, sign, t_before, h, work[0], state, slope, structure, args
                )
                t_after = t_before + gap
                if not has_slopes(hit, rates):
                    status = failure.EVENT_WITHOUT_SLOPE
            low = zeros
            t = t_new
            y, k0 = settle(work, w, slopes)
        status = explain(status, work, t, y, k0, control.h, t_end, structure, args, settings)
        hold(memory)
        hold(own_memory)
        past = Past(rates, after, bands, before)
        return hit, t_before, t_after, past, lacks, tried + control.attempts, status, t

    return search
