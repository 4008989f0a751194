"""Compiled residuals and sensitivities of an ODE model, one sweep for both.

`curve(theta, known, y0, ts)` returns what is compared with the data: the states, shape (len(ts), n),
or what the observables make of them; and its derivatives by theta, shape (len(ts), n, k): parameters
and initial values that vary, while `known` and `y0` have the others. `evaluate` makes the weighted
residuals and their Jacobian of it. Both are compiled once for a function and the structure of the
problem, and kept.
"""

import inspect
import math
from functools import partial
from types import FunctionType
from typing import NamedTuple

import numpy as np
from numba.core.dispatcher import Dispatcher

from numbad.compilation.caching import jit, user_jit
from numbad.compilation.memo import built_once, look_again, made_of
from numbad.errors import ModelError
from numbad.fit.doses import with_doses
from numbad.fit.model import Calling, named_tuple
from numbad.operators.bound import function_of
from numbad.rules.user_rules import share_rules
from numbad.source import define

# Up to here all partials travel in one pass (see numbad.operators); beyond, in chunks.
MOST_IN_ONE_PASS = 16


def as_dispatcher(fun, name="fun", kind="fit", jit=user_jit):
    """Return `fun` compiled by Numba, the same dispatcher while the function means the same.

    `kind` and `jit` say how plain functions are compiled. ModelError for what is no function.
    """
    if isinstance(fun, Dispatcher):
        look_again(fun)
        return fun
    if isinstance(fun, partial):
        fun = function_of(fun, lambda inner: as_dispatcher(inner, name, kind, jit))
    if not inspect.isfunction(fun):
        of = " of an object, which compiled code does not take" if inspect.ismethod(fun) else ""
        raise ModelError(
            f"{name} must be a Python function, a functools.partial of one or a Numba dispatcher, not "
            f"{fun!r}{of}. Way out: a function that takes the numbers it needs as further parameters"
        )
    return share_rules(fun, made_of(fun, kind, jit))


def _of_right_hand_side(fun, *structure):
    return fun


@built_once(_of_right_hand_side)
def compiled(fun, shape, solving, observing, events, meanings, begin=None):
    """Return the pair of dispatchers (curve, evaluate) for a structure of the problem.

    `shape` is a `Shape`, `solving` a `Solving`; `observing` an `Observing`, None where the
    components of the state are observed; `events` are those of the solver, `meanings` what tells
    their functions from what they were; `begin` gives the initial values from the parameters, if not None.
    """
    from numbad.ode import solver

    if shape.doses:
        fun, events = with_doses(fun, shape, events)
    names = _names(shape, observing) | {
        "solve": solver(fun, events=events, **solving.options()),
        "begin": begin,
        "int64": np.int64,
        "varied": np.array(shape.varied, dtype=np.intp),
    }
    curve = _sensitive(_trajectory_source(shape, observing, begin is not None), names, shape)
    return curve, _evaluation(curve)


@built_once(lambda observing, shape: observing.functions[0])
def seen_from(observing, shape):
    """Return the dispatcher `seen(theta, known, ts, given)` for states that are known already.

    What the observables make of them, and its derivatives by theta, as `curve` gives them; `given` are the
    states, their derivatives by theta, and theta. States are tuples, and no function begins.
    """
    parameters, _ = listed_numbers(shape, "theta[{}]".format, "known[{}]".format, str)
    source = [
        "def generated(theta, known, ts, given):",
        "    states, partials, base = given",
        *_observing_lines(
            shape, observing, parameters, "moved(states, partials, i, {}, theta, base)".format
        ),
    ]
    return _sensitive(
        "\n".join(source), _names(shape, observing) | {"moved": _moved}, shape, "known, ts, given"
    )


@jit
def _moved(states, partials, i, c, theta, base):
    """A component as a linear function of theta; its value and derivatives at `base` are those given."""
    state = theta[0] * 0.0 + states[i, c]
    for j in range(len(base)):
        state += partials[i, c, j] * (theta[j] - base[j])
    return state


class Shape(NamedTuple):
    """What a problem is compiled for.

    `state` is the form of y (see `model.packed`), of `components` numbers. `known` has the parameters,
    then the times, amounts and components of the `doses`; `varied` are the indices of those among
    them, `free` those of the initial values, that vary: theta has them in this order. With `adjoint`
    derivatives come from reverse sweeps, one for each number that is compared with data.
    """

    calling: Calling
    state: str | tuple
    components: int
    varied: tuple
    free: tuple
    doses: int = 0
    adjoint: bool = False

    @property
    def scalars(self):
        """How many numbers there are that may vary, initial values aside."""
        return self.calling.count + 2 * self.doses


def named_class(form):
    """The class of named tuples of a form, None where it is another form."""
    return named_tuple(form) if isinstance(form, tuple) else None


def _names(shape, observing):
    """What generated code of any problem calls by name."""
    functions = () if observing is None else observing.functions
    return {
        "Parameters": named_class(shape.calling.form),
        "State": named_class(shape.state),
        "empty": np.empty,
        **{f"observe{i}": one for i, one in enumerate(functions)},
    }


def _generate(source, names):
    return jit(define(source + "\n", names))


def _sensitive(source, names, shape, further="known, y0, ts"):
    """Return the function of theta and `further` with its derivatives by theta."""
    from numbad.operators import value_and_jacobian

    count = len(shape.varied) + len(shape.free)
    # A pass solves again: few wide passes.
    how = {"mode": "reverse"} if shape.adjoint else {"mode": "forward", "chunk": MOST_IN_ONE_PASS}
    sensitivities = value_and_jacobian(_generate(source, names), argnums=0, **how)
    if count > MOST_IN_ONE_PASS:
        return sensitivities
    names = {"sensitivities": sensitivities, "stack": _stack}
    return _generate(_unpacking_source(count, further), names)


def _trajectory_source(shape, observing, begins):
    """Source of what is observed as a function of all that varies; `begins`: from where a function says."""
    everything, first = listed_numbers(
        shape, "theta[{}]".format, "known[{}]".format, "y0[{}]".format
    )
    lines = ["def generated(theta, known, y0, ts):"]
    if begins or not shape.free:
        lines.append("    start = y0")
    elif shape.state == "array":
        lines.append("    start = y0.copy()")
        lines += [f"    start[{index}] = {first[index]}" for index in shape.free]
    else:
        lines.append(f"    start = {state_source(shape.state, first)}")
    if shape.calling.form == "array":
        lines += _array_lines(shape)
    arguments = everything[: shape.calling.count]
    to_solver = shape.calling.listed(arguments)
    if begins:
        lines += _begin_lines(shape, ", ".join(to_solver))
    if shape.doses:
        lines += _dose_lines(shape, everything[shape.calling.count :])
        to_solver += ["when", "amount", "where"]
    lines.append(f"    states = solve(start, ts, ({''.join(f'{one}, ' for one in to_solver)}))")
    if observing is None:
        return "\n".join([*lines, "    return states"])
    states = "states[i, {}]".format
    return "\n".join([*lines, *_observing_lines(shape, observing, arguments, states)])


def _observing_lines(shape, observing, arguments, state_of):
    """Source of what the observables make of the states; `state_of(j)` is that of component j."""
    items = list(map(state_of, range(shape.components)))
    state = "states[i]" if shape.state == "array" else state_source(shape.state, items)
    given = ", ".join(["ts[i]", "state", *shape.calling.listed(arguments)])
    yield f"    out = empty((len(ts), {observing.width}))"
    yield "    for i in range(len(ts)):"
    yield f"        state = {state}"
    for j in range(len(observing.functions)):
        yield f"        seen = observe{j}({given})"
        if observing.scalar:
            yield f"        out[i, {j}] = seen"
        else:
            yield from (f"        out[i, {q}] = seen[{q}]" for q in range(observing.width))
    yield "    return out"


def _begin_lines(shape, arguments):
    """Source of the initial values as a function gives them, in the form of the state."""
    yield f"    given = begin({arguments})"
    if shape.state != "array":
        items = [f"given[{i}]" for i in range(shape.components)]
        yield f"    start = {state_source(shape.state, items)}"
        return
    yield f"    start = empty({shape.components})"
    yield from (f"    start[{i}] = given[{i}]" for i in range(shape.components))


def _array_lines(shape):
    """Source of the parameters where these are an array."""
    among = sum(index < shape.calling.count for index in shape.varied)
    if among == shape.calling.count and among > MOST_IN_ONE_PASS:
        yield f"    parameters = theta[:{among}]"
        return
    yield f"    parameters = known[:{shape.calling.count}].copy()"
    yield f"    for j in range({among}):"
    yield "        parameters[varied[j]] = theta[j]"


def _dose_lines(shape, numbers):
    """Source of the arguments about the doses, given that of their times and then amounts.

    Tuples, which compile in half the time, unless they are long; then arrays.
    """
    count = shape.doses
    where = [f"int64(known[{shape.scalars + k}])" for k in range(count)]
    columns = {"when": numbers[:count], "amount": numbers[count:], "where": where}
    for name, items in columns.items():
        if count <= MOST_IN_ONE_PASS:
            yield f"    {name} = ({''.join(f'{item}, ' for item in items)})"
            continue
        yield f"    {name} = empty({count}{', int64' if name == 'where' else ''})"
        yield from (f"    {name}[{k}] = {item}" for k, item in enumerate(items))


def listed_numbers(shape, varying, known, first):
    """Source of the parameters with the doses, and of the initial values, one by one.

    Three functions give the source of a number by its index: among those that vary, among `known`, and
    among the initial values.
    """
    parameters, initial = len(shape.varied), len(shape.free)
    place = dict(zip(shape.varied, map(varying, range(parameters)), strict=True))
    free = dict(zip(shape.free, map(varying, range(parameters, parameters + initial)), strict=True))
    return (
        [place.get(i) or known(i) for i in range(shape.scalars)],
        [free.get(i) or first(i) for i in range(shape.components)],
    )


def state_source(state, items):
    """Source of a state of these items."""
    joined = "".join(f"{item}, " for item in items)
    return f"({joined})" if state == "tuple" else f"State({joined})"


def _unpacking_source(count, further):
    items = "".join(f"p[{i}], " for i in range(count))
    return (
        f"def generated(p, {further}):\n"
        f"    states, partials = sensitivities(({items}), {further})\n"
        "    return states, stack(partials)\n"
    )


@jit
def _stack(partials):
    """Return a tuple of k arrays as one array with a last axis of length k."""
    times, components = partials[0].shape
    stacked = np.empty((times, components, len(partials)))
    for j in range(len(partials)):
        for i in range(times):  # to assign slices takes Numba a second more to compile
            for k in range(components):
                stacked[i, k, j] = partials[j][i, k]
    return stacked


@jit
def numbers_at(x, kind, box, given, unknown):
    """Return the numbers that vary, and the derivatives of the unknowns by internal coordinates x."""
    scale, low, high = box[0], box[1], box[2]
    p, inner = np.empty(len(x)), np.empty(len(x))
    for k in range(len(x)):
        if kind[k] == 0:
            p[k], inner[k] = x[k] * scale[k], scale[k]
        elif kind[k] == 1:
            p[k] = inner[k] = math.exp(x[k])
        else:
            share = 1.0 / (1.0 + math.exp(-x[k]))
            p[k] = low[k] + (high[k] - low[k]) * share
            inner[k] = (high[k] - low[k]) * share * (1.0 - share)
        p[k] = min(max(p[k], low[k]), high[k])
    theta = given.copy()
    for j in range(len(theta)):
        if unknown[j] >= 0:
            theta[j] = p[unknown[j]]
    return theta, inner


@jit
def residuals_of(states, partials, inner, log, unknown, row, component, value, weight):
    """Return the residuals of a curve and its derivatives, and their Jacobian by internal coordinates."""
    residuals = np.empty(len(value))
    jacobian = np.zeros((len(value), len(inner)))
    for i in range(len(value)):
        model = states[row[i], component[i]]
        slope = weight[i]
        if log:
            slope /= model
            model = math.log(model) if model > 0.0 else math.nan
        residuals[i] = (model - value[i]) * weight[i]
        for j in range(len(unknown)):
            if unknown[j] >= 0:
                partial = partials[row[i], component[i], j]
                jacobian[i, unknown[j]] += partial * slope * inner[unknown[j]]
    return residuals, jacobian


def _evaluation(curve):
    # A global, not a closure, names the curve: Numba's disk cache never finds closures again.
    scope = {**globals(), "curve": curve}
    return jit(FunctionType(_evaluate.__code__, scope, "evaluate"), nogil=True)


def _evaluate(
    x, kind, box, log, given, unknown, known, y0, ts, row, component, value, weight
):  # fmt: skip
    """Return residuals and their Jacobian at internal coordinates x.

    `kind`, transforms counted from 0, "linear", "log", "logit", and `box`, scale, lower and upper
    bounds, are those of the unknowns. `unknown[j]` says which of them the j-th number that varies is
    here; where that is -1, it is `given[j]`.
    """
    theta, inner = numbers_at(x, kind, box, given, unknown)
    states, partials = curve(theta, known, y0, ts)  # noqa: F821 (see _evaluation)
    return residuals_of(states, partials, inner, log, unknown, row, component, value, weight)
