"""From the arguments of `fit_ode` to a checked `OdeProblem`."""

import math
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real

import numpy as np

from numbad.errors import DataError, ModelError
from numbad.fit.data import Observations, check_observations, earliest, read_series
from numbad.fit.evaluate import Shape, as_dispatcher
from numbad.fit.experiment import (
    Candidates,
    about,
    check_arguments,
    named_parameters,
    read_experiments,
    split_start,
)
from numbad.fit.freedom import varying
from numbad.fit.initial import (
    begun,
    by_component,
    component_names,
    free_components,
    given_start,
    length,
    observed_start,
    resolved,
    starting_function,
    wanted_form,
)
from numbad.fit.labelled import by_label
from numbad.fit.model import (
    FailsAtStartError,
    check_right_hand_side,
    packed,
    parameter_names,
    read_parameters,
)
from numbad.fit.observables import read_observables
from numbad.fit.problem import OdeProblem, Trial
from numbad.fit.robust_losses import LOSSES
from numbad.ode.time_first import refuse_time_second

# Longer states are passed to the model as arrays: code that is unrolled over them grows too long.
LONGEST_TUPLE = 16


def make_problem(
    fun, t, y, p0, y0, fit_y0, t0, names, components, observed, observables, experiments, events,
    sigma, scale, freedom, control, solving,
):  # fmt: skip
    """Check everything and return the `OdeProblem`; arguments as in `fit_ode`."""
    _check_options(scale, control, solving)
    p0, y0, sigma = map(by_label, (p0, y0, sigma))
    fun = as_dispatcher(fun)
    experiments = read_experiments(experiments, t, y)
    function = starting_function(y0, fit_y0, experiments)
    called_with = parameter_names(fun, p0) if isinstance(p0, Mapping) else None
    p0, extras = split_start(called_with, p0, experiments, None if function else y0)
    names, values, calling = read_parameters(fun, p0, names)
    own = named_parameters(freedom.own, "own", names, experiments)
    check_arguments(experiments, names)
    everything = {**dict(zip(names, values.tolist(), strict=True)), **extras}
    refuse_time_second(fun.py_func, "fun")
    forms = [calling.arguments(_at(names, values, one, everything)) for one in experiments]
    form = forms[0]
    if function:
        given = [(begun(function, arguments), {}) for arguments in forms]
    else:
        given = [resolved(y0 if one.y0 is None else one.y0, everything) for one in experiments]
    reading = _Reading(
        fun, form, given[0][0], t0, observed, component_names(components, given[0][0])
    )
    if observables is not None:
        reading.observe(observables, experiments[0])
    read = [
        reading.read(one, initial, sigma if one.sigma is None else one.sigma, scale == "log")
        for one, (initial, _) in zip(experiments, given, strict=True)
    ]
    components, size = reading.components, reading.size
    free = free_components(fit_y0, size, components)
    candidates = Candidates(names, experiments, components, size)
    candidates.add_parameters(values, extras, own)
    where = []
    for e, (initial, named) in enumerate(given):
        series, begin, shape = read[e]
        with about(experiments[e]):
            if initial is None:
                start, series = observed_start(size, components, series, begin, free)
            else:
                start = given_start(initial, components)
            where.append(candidates.add_doses(e, begin, everything))
        candidates.add_initial_values(e, start, by_component(named, components), free, begin)
        read[e] = Observations(series, begin, shape, scale == "log"), start
    state = reading.state or _usable_form(
        fun, read[0][0].t0, tuple(read[0][1].tolist()), form, wanted_form(given[0][0])
    )
    unknowns, priors, fixed, numbers = _varying(candidates, freedom, scale)
    first = candidates.first
    varied, free = _slots(numbers, len(names), candidates.doses)
    if solving.atol is None:
        solving = solving._replace(atol=_absolute_tolerance(read, reading.observing is None))
    shape = Shape(calling, state, size, varied, free, candidates.doses)
    columns = [*varied, *(first + index for index in free)]
    values = candidates.values
    trials = tuple(
        Trial(
            one.name,
            read[e][0],
            np.concatenate((values[e, :first], where[e])),
            values[e, first:].copy(),
            numbers[e, columns],
        )
        for e, one in enumerate(experiments)
    )
    problem = OdeProblem(
        fun, shape, unknowns, components, trials, control, solving, reading.observing,
        reading.labels, priors, fixed, events, function,
    )  # fmt: skip
    return _checked(problem)


def _absolute_tolerance(read, of_state):
    """Return the `atol` that suits the units: of the power of ten above the largest value, up to 1.

    `read` are the observations and initial values of the experiments; the observations are `of_state`,
    or of something else that is made of it.
    """
    sizes = [np.max(np.abs(start), initial=0.0) for _, start in read]
    if of_state:
        series = [one for observations, _ in read for one in observations.series]
        sizes += [np.max(np.abs(one.values), initial=0.0, where=one.used) for one in series]
    largest = max(sizes)
    if not 1e-290 < largest < 1.0:
        return 1e-8
    return 1e-8 * 10.0 ** math.ceil(math.log10(largest))


def _at(names, values, experiment, everything):
    """Return the parameters as an experiment starts with them."""
    given = experiment.args or {}
    found = [given.get(name, value) for name, value in zip(names, values.tolist(), strict=True)]
    return [everything[value] if isinstance(value, str) else float(value) for value in found]


def _varying(candidates, freedom, scale):
    """Return (unknowns, priors, fixed (name, value) pairs, places by the number of the unknown)."""
    names, aliases = candidates.names, candidates.unambiguous_aliases
    if not names:
        raise ModelError("nothing to fit: no parameters, and fit_y0 is False")
    unknowns, priors, held, start = varying(
        names, candidates.start, freedom, lambda start, lower: scale, aliases
    )
    fixed = tuple((names[i], float(start[i])) for i in np.flatnonzero(held))
    return unknowns, priors, fixed, candidates.numbers(held, start)


def _slots(numbers, parameters, doses):
    """Return which numbers, and which initial values, vary in any experiment.

    Times of doses vary all or none, and amounts as well: they stand in tuples, of one type.
    """
    vary = (numbers >= 0).any(axis=0)
    for start in (parameters, parameters + doses):
        vary[start : start + doses] = vary[start : start + doses].any()
    first = parameters + 2 * doses
    return tuple(np.flatnonzero(vary[:first]).tolist()), tuple(
        np.flatnonzero(vary[first:]).tolist()
    )


def _checked(problem):
    """Return the problem, with what its noise is taken for; refuse what cannot be determined."""
    control, levels, unknowns = problem.control, problem.levels, problem.unknowns
    if levels and control.loss != "linear":
        raise ModelError(f'sigma="estimate" needs loss="linear": {control.loss} is no likelihood')
    if len(problem.priors) and not (levels or control.absolute_sigma):
        raise ModelError(
            "priors are weighed against the data, so the noise must be known: give sigma and "
            'absolute_sigma=True, or sigma="estimate"'
        )
    count = problem.count + len(problem.priors)
    if count < len(unknowns):
        raise DataError(
            f"{count} observations cannot determine {len(unknowns)} unknowns "
            f"({', '.join(unknowns.names)})"
        )
    if levels and (len(problem.priors) or (levels.group < 0).any()):
        return replace(problem, control=replace(control, absolute_sigma=True))
    return problem


class _Reading:
    """How the data are read: names and number of what is compared with them.

    `initial` are the initial values of the first experiment, None where the data have them.
    """

    def __init__(self, fun, form, initial, t0, observed, components):
        self.fun, self.form, self.initial = fun, form, initial
        self.t0, self.observed, self.components = t0, observed, components
        self.observing = self.labels = self.state = None
        self.size = None if initial is None else length(initial)
        if self.size is None and components is not None:
            self.size = len(components)

    def observe(self, observables, experiment):
        """Find out what the observables are."""
        if self.initial is None:
            raise ModelError("y0 must be given with observables=: the data do not show the state")
        t0 = self.t0 if isinstance(self.t0, Real) else earliest(experiment.t, experiment.y)
        start = tuple(given_start(self.initial, self.components).tolist())
        form = _usable_form(self.fun, t0, start, self.form, wanted_form(self.initial))
        self.state = form
        self.observing, self.labels = read_observables(
            observables, t0, packed(form, start), self.form
        )

    def read(self, experiment, initial, sigma, log):
        """Return (series, initial time, shape of the table) of an experiment."""
        names = self.components if self.observing is None else self.labels
        with about(experiment):
            series, shape, names = read_series(
                experiment.t, experiment.y, sigma, self.observed, names
            )
            check_observations(series, shape, log)
            first = min(float(s.times.min()) for s in series)
            t0 = first if self.t0 is None else _initial_time(self.t0, first)
            if self.observing is None:
                self.components = names
                self.size = width = _state_size(initial, self.size, series)
                if names is not None and len(names) != width:
                    raise ModelError(
                        f"the state has {width} components, but the data name {', '.join(names)}; "
                        "say with components= what all are called"
                    )
            else:
                width = self._observed_width(names, series)
            _check_width(series, shape, self.observed, experiment.y, width)
        return series, t0, shape

    def _observed_width(self, names, series):
        width, last = self.observing.width, max(s.component for s in series)
        if last >= width or (names is not None and len(names) != width):
            said = f"{len(names)} are named" if names is not None else f"number {last} is observed"
            raise DataError(f"observables returns {width} number(s), but {said}")
        self.labels = names
        return width


def _check_options(scale, control, solving):
    if scale not in ("linear", "log"):
        raise ModelError(f'scale must be "linear" or "log", got {scale!r}')
    if control.loss not in LOSSES:
        raise ModelError(f"loss must be one of {', '.join(LOSSES)}; got {control.loss!r}")
    numbers = [(name, getattr(control, name)) for name in ("f_scale", "ftol", "xtol", "gtol")]
    for name in ("rtol", "atol"):
        given = getattr(solving, name)
        if given is None:
            continue
        numbers += [(name, one) for one in (given if isinstance(given, tuple) else (given,))]
    for name, value in numbers:
        least = np.finfo(float).eps if name in ("ftol", "xtol", "gtol") else 0.0
        if not (isinstance(value, Real) and least < value < np.inf):
            wanted = f"above {least:.1e}" if least else "positive"
            raise ModelError(f"{name} must be a number, {wanted}; got {value!r}")
    most = control.max_nfev
    if most is not None and not (isinstance(most, Integral) and most > 0):
        raise ModelError(f"max_nfev must be a whole number above 0, or None; got {most!r}")


def _initial_time(t0, first):
    if getattr(t0, "shape", None) == ():
        t0 = t0[()]
    if not (isinstance(t0, Real) and -np.inf < t0 <= first):
        raise DataError(f"t0 must be a time not after the first observation, {first:g}; got {t0!r}")
    return float(t0)


def _state_size(y0, size, series):
    """Return how many components the state has; `size` where something else than data says so."""
    least = max(s.component for s in series) + 1
    if y0 is not None and length(y0) < least:
        raise ModelError(f"y0 has {length(y0)} values, but component {least - 1} is observed")
    if y0 is not None and size is not None and length(y0) != size:
        raise ModelError(f"y0 has {length(y0)} values for {size} components")
    return size or least


def _check_width(series, shape, observed, y, size):
    if shape is None or observed is not None or hasattr(y, "columns") or len(series) == size:
        return
    raise DataError(
        f"y has {len(series)} column(s), but the state has {size} components: "
        "say with observed= which of them the columns are"
    )


def _usable_form(fun, t0, start, arguments, wanted):
    """Return the form of y that `fun` works with.

    A tuple is tried first, since it stays in registers; then an array. The complaint of a function
    that takes neither is that about the form in which y0 was given.
    """
    forms = ["array"]
    if len(start) <= LONGEST_TUPLE:
        forms.insert(0, "tuple" if wanted == "array" else wanted)
    complaints = {}
    for form in forms:
        try:
            check_right_hand_side(fun, t0, packed(form, start), arguments)
            return form
        except FailsAtStartError:
            raise
        except ModelError as error:
            complaints[form] = error
    raise complaints.get(wanted, complaints["array"])
