"""The adjoint system solved from one output to the one before, by the steps of any method."""

import math

import numpy as np

from numbad.compilation.memo import built_once
from numbad.ode import failure
from numbad.ode.adjoints.adjoint_system import add_members, state_at
from numbad.ode.adjoints.kept_quadrature import gauss_rule, make_kept
from numbad.ode.adjoints.stage_pulls import SEED, STATE, pull_at
from numbad.ode.compiling import generic, inlined
from numbad.ode.integrate import Control, content_of, dispatcher_of, functions_of, make_pieces
from numbad.ode.state import array_state, borrow, borrow_given, hold, structure_of
from numbad.ode.tableau import Tableau


@built_once(dispatcher_of)
def make_backwards(system, forwards, pull, refined=False):
    """The dispatcher `backwards(z, t, t_end, hint, args, into, settings) -> (status, t, hint)`.

    It takes z, in place, from t to t_end, in times that count from t (see `adjoint_slope`); `hint` is the
    size of the first step, 0 for an automatic one, and comes back as the longest step taken. With `pull`,
    the vector-Jacobian product by the arguments, the cotangents of these are gathered by Gauss quadrature of
    each step, and added to `into`: shadows of arrays, and an array for the numbers. Where that is `refined`,
    lambda is kept, and each step halved until the quadrature meets the tolerances; `into` is then scratch
    shadows, and an array for all.
    `forwards` is the problem that the adjoint system belongs to.
    """
    content = "backwards", *content_of(system), *content_of(forwards), pull is not None, refined

    def backwards(z, t, t_end, hint, args, into, settings):
        raise NotImplementedError(content)

    def choose(*argument_types):
        pieces = make_pieces(system)
        if refined and pull is not None:
            return _backwards(pieces, system.tableau, *make_kept(pieces, forwards, pull))
        gather = _make_gather(pieces, forwards, pull, _rule(system))
        return _backwards(pieces, system.tableau, _NOTHING_KEPT, gather, _NOTHING_LEFT)

    origin = make_backwards, (system, forwards, pull, refined)
    return generic(backwards, content, choose, origin, around=functions_of(forwards))


_NOTHING_KEPT = inlined(lambda initial: 0)
_NOTHING_LEFT = inlined(lambda kept, args, into, settings: None)


def _backwards(pieces, tableau, begin_kept, gather, finish):
    fun, start, advance, close = pieces.fun, pieces.start, pieces.advance, pieces.close
    settle, explain = pieces.settle, pieces.explain
    begin = _take_hint if type(tableau) is Tableau and tableau.adaptive else _begin

    def backwards(z, given_t, given_end, hint, given_args, into, given_settings):
        args, settings = borrow_given(given_args), borrow(given_settings)
        args[-1][0] = given_t
        t, t_end = 0.0, given_end - given_t
        structure = structure_of(z)
        initial = array_state(z, args)
        memory, work, y, k0, status, control = start(initial, t, t_end, structure, args, settings)
        control = begin(control, hint, t_end)
        longest = 0.0
        kept = begin_kept(initial)
        while t != t_end and status == failure.RUNNING:
            if control.attempts >= settings.max_steps:
                status = failure.TOO_MANY_STEPS
                break
            status, t_new, h, w, stages, control = advance(
                work, t, t_end, y, k0, control, structure, args, settings
            )
            if status != failure.RUNNING:
                break
            longest = max(longest, abs(h))
            slopes = close(fun, work, t_new, w, stages, structure, args)
            kept = gather(kept, work, t, h, y, slopes, structure, args, into)
            t = t_new
            y, k0 = settle(work, w, slopes)
        for i in range(len(z)):
            z[i] = y[i]
        finish(kept, args, into, settings)
        status = explain(status, work, t, y, k0, control.h, t_end, structure, args, settings)
        hold(memory)
        return status, given_t + t, longest

    return backwards


_begin = inlined(lambda control, hint, way: control)


@inlined
def _take_hint(control, hint, way):
    h = math.copysign(hint, way) if hint > 0.0 else control.h
    return Control(h, control.log_error, control.attempts)


def _rule(system):
    """Points and weights of a Gauss-Legendre rule on [0, 1], exact to the order of a method at least."""
    return gauss_rule((system.tableau.order + 2) // 2)


def _make_gather(pieces, forwards, pull, rule):
    """The compiled `gather(kept, work, t, h, y, slopes, structure, args, into)`: quadrature of a step."""
    if pull is None:
        return inlined(lambda kept, work, t, h, y, slopes, structure, args, into: kept)
    fun, extend, interpolate, spare = (
        pieces.fun,
        pieces.extend,
        pieces.interpolate,
        pieces.spare,
    )
    interpolant = np.array(forwards.tableau.interpolant)
    points, weights = (tuple(x.tolist()) for x in rule)

    @inlined
    def gather(kept, work, t, h, y, slopes, structure, args, into):
        y0, like, given, _, scratch, track, origin = args
        shadows, sums = into
        dense = extend(fun, work, t, h, y, slopes, structure, args)
        for i in range(len(points)):
            lam = interpolate(work[spare], points[i], h, y, dense)
            at, factor = origin[0] + t + points[i] * h, -h * weights[i]
            state_at(at, track, interpolant, scratch[STATE])
            for k in range(len(lam)):
                scratch[SEED, k] = factor * lam[k]
            totals = pull_at(pull, at, 0.0, scratch, like, structure_of(y0), given, shadows)
            add_members(sums, totals)
        return kept

    return gather
