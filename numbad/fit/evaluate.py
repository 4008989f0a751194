"""Compiled residuals and sensitivities of an ODE model, one sweep for both.

`curve(p, y0, ts)` returns the states, shape (len(ts), n), and their derivatives by the unknowns p,
shape (len(ts), n, k). `evaluate(x, ...)` makes the weighted residuals and their Jacobian of it.
Both are compiled once for a function and the structure of the problem, and kept.
"""

import math
from types import FunctionType

import numpy as np
from numba.core.dispatcher import Dispatcher

from numbad.caching import jit
from numbad.fit.model import named_tuple
from numbad.remembered import built_once, look_again, made_of
from numbad.source import define

# Up to here all partials travel in one pass (see numbad.operators); beyond, in chunks.
MOST_IN_ONE_PASS = 16


def as_dispatcher(fun):
    """Return `fun` compiled by Numba, the same dispatcher while the function means the same."""
    if isinstance(fun, Dispatcher):
        look_again(fun)
        return fun
    return made_of(fun, "fit", jit)


def _of_right_hand_side(fun, *structure):
    return fun


@built_once(_of_right_hand_side)
def compiled(fun, calling, state, components, free, solving):
    """Return the pair of dispatchers (curve, evaluate) for a structure of the problem.

    `state` is the form of y (see `model.packed`); `free` are the indices of the components, out of
    so many `components`, whose initial values are unknown; `solving` are a `Solving`.
    """
    from numbad.ode import solver
    from numbad.operators import value_and_jacobian

    solve = solver(fun, **solving._asdict())
    count = calling.count + len(free)
    names = {"solve": solve, "Parameters": _named(calling.form), "State": _named(state)}
    trajectory = _generate(_trajectory_source(calling, state, components, free), names)
    sensitivities = value_and_jacobian(trajectory, argnums=0)
    if count > MOST_IN_ONE_PASS:
        curve = sensitivities
    else:
        source = _unpacking_source(count)
        curve = _generate(source, {"sensitivities": sensitivities, "stack": _stack})
    return curve, _evaluation(curve)


def _named(form):
    return named_tuple(form) if isinstance(form, tuple) else None


def _generate(source, names):
    return jit(define(source + "\n", names))


def _trajectory_source(calling, state, components, free):
    """Source of the solution as a function of all unknowns: parameters, then initial values."""
    unknown = {index: f"theta[{calling.count + j}]" for j, index in enumerate(free)}
    lines = ["def generated(theta, y0, ts):"]
    if not free:
        lines.append("    start = y0")
    elif state == "array":
        lines.append("    start = y0.copy()")
        lines += [f"    start[{index}] = {value}" for index, value in unknown.items()]
    else:
        items = "".join(f"{unknown.get(i, f'y0[{i}]')}, " for i in range(components))
        lines.append(f"    start = {'' if state == 'tuple' else 'State'}({items})")
    arguments = calling.source([f"theta[{i}]" for i in range(calling.count)])
    lines.append(f"    return solve(start, ts, {arguments})")
    return "\n".join(lines)


def _unpacking_source(count):
    items = "".join(f"p[{i}], " for i in range(count))
    return (
        "def generated(p, y0, ts):\n"
        f"    states, partials = sensitivities(({items}), y0, ts)\n"
        "    return states, stack(partials)\n"
    )


@jit
def _stack(partials):
    """Return a tuple of k arrays as one array with a last axis of length k."""
    first = partials[0]
    stacked = np.empty((first.shape[0], first.shape[1], len(partials)))
    for j in range(len(partials)):
        stacked[:, :, j] = partials[j]
    return stacked


def _evaluation(curve):
    # A global, not a closure, names the curve: Numba's disk cache never finds closures again.
    scope = {**globals(), "curve": curve}
    return jit(FunctionType(_evaluate.__code__, scope, "evaluate"), nogil=True)


def _evaluate(x, log, scale, y0, ts, row, component, value, weight):
    p = np.exp(x) if log else x * scale
    states, partials = curve(p, y0, ts)  # noqa: F821 (see _evaluation)
    residuals = np.empty(len(value))
    jacobian = np.empty((len(value), len(x)))
    for i in range(len(value)):
        model = states[row[i], component[i]]
        slope = weight[i]
        if log:
            slope /= model
            model = math.log(model) if model > 0.0 else math.nan
        residuals[i] = (model - value[i]) * weight[i]
        for j in range(len(x)):
            inner = p[j] if log else scale[j]
            jacobian[i, j] = partials[row[i], component[i], j] * slope * inner
    return residuals, jacobian
