"""From the arguments of `fit_ode` to a checked `OdeProblem`."""

from numbers import Integral, Real

import numpy as np

from numbad.errors import DataError, ModelError
from numbad.fit.data import Observations, check_observations, component_index, label_of, read_series
from numbad.fit.evaluate import as_dispatcher
from numbad.fit.model import FailsAtStartError, check_right_hand_side, packed, read_parameters
from numbad.fit.problem import OdeProblem
from numbad.fit.unknowns import make_unknowns

LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")
# Longer states are passed to the model as arrays: code that is unrolled over them grows too long.
LONGEST_TUPLE = 16


def make_problem(
    fun, t, y, p0, y0, fit_y0, t0, names, components, observed, bounds, sigma, scale, control,
    solving,
):  # fmt: skip
    """Check everything and return the `OdeProblem`; arguments as in `fit_ode`."""
    _check_options(scale, control, solving)
    names, values, calling = read_parameters(fun, p0, names)
    components = _component_names(components, y0)
    series, shape, components = read_series(t, y, sigma, observed, components)
    log = scale == "log"
    check_observations(series, shape, log)
    first = min(float(s.times[0]) for s in series)
    t0 = first if t0 is None else _initial_time(t0, first)
    size = _state_size(y0, components, series)
    _check_width(series, shape, observed, y, size)
    free = _free_components(fit_y0, size, components)
    if y0 is None:
        start, series = _observed_start(size, components, series, t0, free)
    else:
        start = _given_start(y0, components)
    unknowns = _all_unknowns(names, values, start, free, components, t0, bounds, log)
    observations = Observations(series, t0, shape, log)
    if observations.count < len(unknowns):
        raise DataError(
            f"{observations.count} observations cannot determine {len(unknowns)} unknowns "
            f"({', '.join(unknowns.names)})"
        )
    fun = as_dispatcher(fun)
    state = _usable_form(fun, calling, t0, tuple(start), tuple(values), _wanted_form(y0))
    return OdeProblem(
        fun, calling, state, unknowns, start, free, components, observations, control, solving,
    )  # fmt: skip


def _check_options(scale, control, solving):
    if scale not in ("linear", "log"):
        raise ModelError(f'scale must be "linear" or "log", got {scale!r}')
    if control.loss not in LOSSES:
        raise ModelError(f"loss must be one of {', '.join(LOSSES)}; got {control.loss!r}")
    tolerances = {name: getattr(control, name) for name in ("f_scale", "ftol", "xtol", "gtol")}
    for name, value in {**tolerances, "rtol": solving.rtol, "atol": solving.atol}.items():
        least = np.finfo(float).eps if name in ("ftol", "xtol", "gtol") else 0.0
        if not (isinstance(value, Real) and least < value < np.inf):
            wanted = f"above {least:.1e}" if least else "positive"
            raise ModelError(f"{name} must be a number, {wanted}; got {value!r}")
    most = control.max_nfev
    if most is not None and not (isinstance(most, Integral) and most > 0):
        raise ModelError(f"max_nfev must be a whole number above 0, or None; got {most!r}")


def _component_names(components, y0):
    if components is None and hasattr(y0, "_fields"):
        components = y0._fields
    if components is None and isinstance(y0, dict):
        components = y0
    if components is None:
        return None
    components = tuple(map(str, components))
    if len(set(components)) < len(components):
        raise ModelError(f"components: a name appears twice in {', '.join(components)}")
    if y0 is not None and _length(y0) != len(components):
        raise ModelError(f"y0 has {_length(y0)} values for {len(components)} components")
    return components


def _initial_time(t0, first):
    if not (isinstance(t0, Real) and -np.inf < t0 <= first):
        raise DataError(f"t0 must be a time not after the first observation, {first:g}; got {t0!r}")
    return float(t0)


def _state_size(y0, components, series):
    size = max(s.component for s in series) + 1
    if y0 is None:
        return size if components is None else len(components)
    if _length(y0) < size:
        raise ModelError(f"y0 has {_length(y0)} values, but component {size - 1} is observed")
    return _length(y0)


def _length(y0):
    return len(y0) if isinstance(y0, dict) else np.size(y0)


def _check_width(series, shape, observed, y, size):
    if shape is None or observed is not None or hasattr(y, "columns") or len(series) == size:
        return
    raise DataError(
        f"y has {len(series)} column(s), but the state has {size} components: "
        "say with observed= which of them the columns are"
    )


def _free_components(fit_y0, size, components):
    if isinstance(fit_y0, bool | np.bool_):
        return tuple(range(size)) if fit_y0 else ()
    listed = [fit_y0] if np.ndim(fit_y0) == 0 else fit_y0
    found = {component_index(one, components, "fit_y0", ModelError)[0] for one in listed}
    if found and max(found) >= size:
        raise ModelError(f"fit_y0: component {max(found)} does not exist, y has {size}")
    return tuple(sorted(found))


def _given_start(y0, components):
    if isinstance(y0, dict):
        missing = [name for name in components if name not in y0]
        if missing:
            raise ModelError(f"y0 gives no value for {', '.join(missing)}")
        y0 = [y0[name] for name in components]
    try:
        start = np.atleast_1d(np.array(y0, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ModelError(f"y0: every entry must be one real number ({error})") from None
    if start.ndim != 1:
        raise ModelError(f"y0 must be a flat list of numbers, it has shape {start.shape}")
    for index in np.flatnonzero(~np.isfinite(start)):
        raise ModelError(f"y0: {label_of(index, components)} is {start[index]}; it must be finite")
    return start


def _observed_start(size, components, series, t0, free):
    """Return initial values from the data, and the series without those that were taken as exact.

    What is fixed must be observed at t0; what is free starts from its first observation.
    """
    series, start = list(series), np.empty(size)
    place = {one.component: j for j, one in enumerate(series)}
    for index in range(size):
        one = series[place[index]] if index in place else None
        seen = () if one is None else np.flatnonzero(~np.isnan(one.values))
        if not len(seen) or not (index in free or one.times[seen[0]] == t0):
            label = label_of(index, components)
            way = f", or let it be fitted: fit_y0=[{label!r}]" if len(seen) and components else ""
            raise ModelError(f"y0: {label} is not observed at t = {t0:.10g}; give y0{way}")
        start[index] = one.values[seen[0]]
        if index not in free:
            series[place[index]] = one.without(seen[0])
    return start, tuple(series)


def _all_unknowns(names, values, start, free, components, t0, bounds, log):
    initial = tuple(
        f"y0[{i}]" if components is None else f"{components[i]}({t0:.10g})" for i in free
    )
    aliases = {label_of(i, components): name for i, name in zip(free, initial, strict=True)}
    aliases = {alias: name for alias, name in aliases.items() if alias not in names}
    if not names and not free:
        raise ModelError("nothing to fit: no parameters, and fit_y0 is False")
    values = np.concatenate((values, start[list(free)]))
    return make_unknowns(names + initial, values, bounds, log, aliases)


def _wanted_form(y0):
    if hasattr(y0, "_fields"):
        return tuple(y0._fields)
    return "array" if isinstance(y0, np.ndarray) else "tuple"


def _usable_form(fun, calling, t0, start, values, wanted):
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
            check_right_hand_side(fun, t0, packed(form, start), calling.arguments(values))
            return form
        except FailsAtStartError:
            raise
        except ModelError as error:
            complaints[form] = error
    raise complaints.get(wanted, complaints["array"])
