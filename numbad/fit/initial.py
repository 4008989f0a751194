"""Initial values: as they are given, or as the data have them."""

from collections.abc import Mapping

import numpy as np
from numba import typeof
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from numbad.errors import ModelError, NumbadError
from numbad.fit.data import component_index, label_of
from numbad.fit.evaluate import as_dispatcher
from numbad.masked_arrays import nan_where_masked


def resolved(y0, entries):
    """Return initial values with numbers in place of names of `entries` of p0, and these names by key."""
    if y0 is None or (isinstance(y0, np.ndarray) and y0.dtype.kind in "biuf"):
        return y0, {}
    keyed = y0.items() if isinstance(y0, Mapping) else enumerate(_listed(y0))
    named = {key: value for key, value in keyed if isinstance(value, str)}
    for name in named.values():
        if name not in entries:
            raise ModelError(f"y0: {name!r} is neither a number nor the name of an entry of p0")
    if not named:
        return y0, {}
    if isinstance(y0, Mapping):
        return {key: entries[named[key]] if key in named else v for key, v in y0.items()}, named
    values = [entries[named[i]] if i in named else v for i, v in enumerate(_listed(y0))]
    return (y0._make(values) if hasattr(y0, "_make") else values), named


def starting_function(y0, fit_y0, experiments):
    """Return the dispatcher of initial values that are a function of the parameters, None else."""
    for one in experiments:
        if callable(one.y0) or (callable(y0) and one.y0 is not None):
            raise ModelError(
                f"experiment {one.name!r}: a function for initial values is that of all experiments, and "
                "goes to fit_ode as y0= alone; let it depend on a parameter that the experiment has in args="
            )
    if not callable(getattr(y0, "py_func", y0)):
        return None
    if np.any(fit_y0):
        raise ModelError(
            "fit_y0: initial values that y0 gives as a function are no unknowns of their own"
        )
    return as_dispatcher(y0)


def begun(begin, arguments):
    """Return the initial values at the starting parameters."""
    try:
        found = begin(*arguments)
    except NumbadError:
        raise
    except (NumbaError, UnsupportedBytecodeError, TypeError) as error:
        from numbad.ode.complaint import cannot_compile

        raise ModelError(f"y0: {cannot_compile(begin, map(typeof, arguments), error)}") from error
    except (ArithmeticError, ValueError, IndexError) as error:
        raise ModelError(f"y0: {begin.__name__} fails at the start: {error}") from error
    if np.ndim(found) != 1 or not np.size(found):
        raise ModelError(
            f"y0: {begin.__name__} must return a tuple or a 1-D array of numbers, not {found!r}"
        )
    return found


def by_component(named, components):
    """Return the names of initial values by the index of the component."""
    return {component_index(key, components, "y0", ModelError)[0]: n for key, n in named.items()}


def _listed(y0):
    return [y0] if isinstance(y0, str) or np.ndim(y0) == 0 else list(y0)


def component_names(components, y0):
    if components is None and hasattr(y0, "_fields"):
        components = y0._fields
    if components is None and isinstance(y0, dict):
        components = y0
    if components is None:
        return None
    components = tuple(map(str, components))
    if len(set(components)) < len(components):
        raise ModelError(f"components: a name appears twice in {', '.join(components)}")
    if y0 is not None and length(y0) != len(components):
        raise ModelError(f"y0 has {length(y0)} values for {len(components)} components")
    return components


def length(y0):
    return len(y0) if isinstance(y0, dict) else np.size(y0)


def free_components(fit_y0, size, components):
    if isinstance(fit_y0, bool | np.bool_):
        return tuple(range(size)) if fit_y0 else ()
    listed = [fit_y0] if np.ndim(fit_y0) == 0 else fit_y0
    found = {component_index(one, components, "fit_y0", ModelError)[0] for one in listed}
    if found and max(found) >= size:
        raise ModelError(f"fit_y0: component {max(found)} does not exist, y has {size}")
    return tuple(sorted(found))


def given_start(y0, components):
    if isinstance(y0, dict):
        unknown = [str(name) for name in y0 if str(name) not in components]
        if unknown:
            raise ModelError(
                f"y0: no component is called {unknown[0]!r}, only {', '.join(components)}"
            )
        missing = [name for name in components if name not in y0]
        if missing:
            raise ModelError(f"y0 gives no value for {', '.join(missing)}")
        y0 = [y0[name] for name in components]
    try:
        start = np.atleast_1d(np.array(nan_where_masked(y0), dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ModelError(f"y0: every entry must be one real number ({error})") from None
    if start.ndim != 1:
        raise ModelError(f"y0 must be a flat list of numbers, it has shape {start.shape}")
    for index in np.flatnonzero(~np.isfinite(start)):
        raise ModelError(f"y0: {label_of(index, components)} is {start[index]}; it must be finite")
    return start


def observed_start(size, components, series, t0, free):
    """Return initial values from the data, and the series without those that were taken as exact.

    What is fixed must be observed at t0; what is free starts from its first observation.
    """
    series, start = list(series), np.empty(size)
    place = {one.component: j for j, one in enumerate(series)}
    for index in range(size):
        one = series[place[index]] if index in place else None
        at, many = (None, 0) if one is None else one.first()
        exact = many == 1 and one.times[at] == t0
        if not many or not (index in free or exact):
            label = label_of(index, components)
            way = f", or let it be fitted: fit_y0=[{label!r}]" if many and components else ""
            seen = f"observed {many} times" if many > 1 and one.times[at] == t0 else "not observed"
            raise ModelError(f"y0: {label} is {seen} at t = {t0:.10g}; give y0{way}")
        start[index] = one.values[at]
        if index not in free:
            series[place[index]] = one.without(at)
    return start, tuple(series)


def wanted_form(y0):
    if hasattr(y0, "_fields"):
        return tuple(y0._fields)
    return "array" if isinstance(y0, np.ndarray) else "tuple"
