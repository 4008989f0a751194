"""Observations, checked: which component was seen when, with what value and what weight."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from numbad.errors import DataError
from numbad.fit.labelled import column_names
from numbad.masked_arrays import nan_where_masked


class Series(NamedTuple):
    """The observations of one component: NaN `values` are missing, infinite `sigma` not fitted.

    With `estimated`, `sigma` is 1 and stands for a deviation that is to be found.
    """

    component: int
    label: str
    times: np.ndarray
    values: np.ndarray
    sigma: np.ndarray
    estimated: bool = False

    @property
    def used(self):
        """Which observations are fitted."""
        return ~np.isnan(self.values) & np.isfinite(self.sigma)

    def first(self):
        """Return the index of the first observation, None where there is none; and how many there are."""
        seen = np.flatnonzero(~np.isnan(self.values))
        if not len(seen):
            return None, 0
        index = int(seen[np.argmin(self.times[seen])])
        return index, int(np.sum(self.times[seen] == self.times[index]))

    def without(self, index):
        """Return these observations with one of them not fitted."""
        sigma = np.array(self.sigma)
        sigma[index] = np.inf
        return self._replace(sigma=sigma)


@dataclass(frozen=True, eq=False)
class Observations:
    """All series, and the flat arrays that the compiled residuals read.

    `shape` is that of the table `y` the series were given as, None where they came one by one.
    The flat order is series after series, of those that are fitted.
    """

    series: tuple
    t0: float
    shape: tuple | None
    log: bool

    @cached_property
    def flat(self):
        """Times of the solve, and for each observation its row, component, value, weight.

        On the log scale the value is the logarithm. The first time is `t0`.
        """
        ts = np.unique(np.concatenate([[self.t0], *(s.times for s in self.series)]))
        seen = [s.used for s in self.series]
        rows = [np.searchsorted(ts, s.times[k]) for s, k in zip(self.series, seen, strict=True)]
        columns = [np.full(len(r), s.component) for s, r in zip(self.series, rows, strict=True)]
        value = np.concatenate([s.values[k] for s, k in zip(self.series, seen, strict=True)])
        sigma = np.concatenate([s.sigma[k] for s, k in zip(self.series, seen, strict=True)])
        value = np.log(value) if self.log else value
        rows = [row.astype(np.intp) for row in rows]
        return ts, np.concatenate(rows), np.concatenate(columns), value, 1.0 / sigma

    @cached_property
    def count(self):
        """How many observations are fitted."""
        return sum(int(np.count_nonzero(s.used)) for s in self.series)

    @cached_property
    def levels(self):
        """Which component each fitted observation is of where its deviation is sought, else -1."""
        which = [s.component if s.estimated else -1 for s in self.series]
        return np.repeat(which, [int(np.count_nonzero(s.used)) for s in self.series])

    @cached_property
    def log_widths(self):
        """The sum of log sigma over the fitted observations; of log y, too, on the log scale."""
        value, weight = self.flat[3:]
        return float(-np.log(weight).sum() + (value.sum() if self.log else 0.0))

    def arrange(self, flat):
        """Return flat numbers, one an observation, in the form of the data, NaN elsewhere."""
        columns, used = [], 0
        for series in self.series:
            column, seen = np.full(len(series.values), np.nan), series.used
            count = int(np.count_nonzero(seen))
            column[seen] = flat[used : used + count]
            columns.append(column)
            used += count
        if self.shape is None:
            return {s.label: column for s, column in zip(self.series, columns, strict=True)}
        return np.column_stack(columns).reshape(self.shape)


def read_series(t, y, sigma, observed, components):
    """Return (series, shape of the table or None, component names or None).

    Arguments as in `fit_ode`; `components` may be None, and then the data may name them.
    """
    if isinstance(y, Mapping):
        if observed is not None:
            raise DataError("observed: y is given by component, which says what was observed")
        components = components or (tuple(y) if _all_names(y) else None)
        return _separate(t, y, sigma, components), None, components
    t = _times(t, "t")
    names = column_names(y)
    y = _floats(y, "y")
    if y.ndim not in (1, 2) or len(y) != len(t):
        turned = "; give y.T" if y.ndim == 2 and y.shape[1] == len(t) else ""
        raise DataError(
            f"y must have one row for each of the {len(t)} times: shape ({len(t)},) or "
            f"({len(t)}, observed components); it has shape {y.shape}{turned}"
        )
    table = y.reshape(len(t), -1)
    if components is None and observed is None:
        components = names
    picked = _columns(observed, names, table.shape[1], components)
    spread, sought = _table_sigma(sigma, table.shape, picked)
    series = tuple(
        Series(index, label, t, table[:, j], spread[:, j], sought[j])
        for j, (index, label) in enumerate(picked)
    )
    return series, y.shape, components


def earliest(t, y):
    """Return the first time of data that are not checked yet, a float."""
    if t is None and isinstance(y, Mapping):
        t = {key: _pair(None, key, key, given)[0] for key, given in y.items()}
    times = t.values() if isinstance(t, Mapping) else [t]
    found = [_times(one, "t").min() for one in times]
    if not found:
        raise DataError("t is empty: no observations")
    return float(min(found))


def _all_names(keys):
    return all(isinstance(key, str) for key in keys)


def _separate(t, y, sigma, components):
    series, seen = [], set()
    if isinstance(sigma, Mapping) and not set(sigma) <= set(y):
        raise DataError(f"sigma: {sorted(set(sigma) - set(y), key=str)[0]!r} is not in y")
    for key, given in y.items():
        index, label = component_index(key, components, "y")
        if index in seen:
            raise DataError(f"y gives component {label} twice")
        seen.add(index)
        times, values = _pair(t, key, label, given)
        times, values = _times(times, f"t of {label}"), _floats(values, f"y of {label}")
        if values.shape != times.shape:
            pair = "; a pair (times, values) goes with t=None" * (values.shape == (2, len(times)))
            raise DataError(
                f"{label}: {len(times)} times, but values of shape {values.shape}{pair}"
            )
        one = _sigma_of(sigma, key, label) if isinstance(sigma, Mapping) else sigma
        if not isinstance(sigma, Mapping) and np.ndim(one):
            raise DataError("sigma: with y by component, give one number or a dict by component")
        spread = _spread(one, values.shape, f"sigma of {label}")
        series.append(Series(index, label, times, values, spread, _is_sought(one)))
    if not series:
        raise DataError("y has no observations: the dict is empty")
    return tuple(series)


def _pair(t, key, label, given):
    if t is None:
        if isinstance(given, tuple | list) and len(given) == 2:
            return given
        raise DataError(f"y[{key!r}] must be a pair (times, values) where t is None")
    if not isinstance(t, Mapping):
        return t, given
    if key not in t:
        raise DataError(f"t has no times for {label}")
    return t[key], given


def _columns(observed, names, width, components):
    """Return (component index, label) of each column of the table."""
    if observed is None and names is None and components is not None and width > len(components):
        raise DataError(
            f"y has {width} columns, and the model {len(components)} component(s), "
            f"{', '.join(components)}; say which one each column is of: observed="
        )
    if observed is None:
        observed = names if names is not None and components is not None else range(width)
    elif np.ndim(observed) == 0:
        observed = [observed]
    picked = [component_index(one, components, "observed") for one in observed]
    if len(picked) != width:
        raise DataError(f"observed names {len(picked)} component(s), but y has {width} column(s)")
    for index, label in picked:
        if sum(index == other for other, _ in picked) > 1:
            raise DataError(f"observed: component {label} appears twice")
    return picked


def component_index(key, components, where, error=DataError):
    """Return (index, label) of a component given by index or name."""
    if isinstance(key, str):
        if components is None:
            raise error(f"{where}: {key!r} is a name, but the components have none: components=")
        if key not in components:
            raise error(f"{where}: no component is called {key!r}, only {', '.join(components)}")
        return components.index(key), key
    try:
        index = int(key)
        if (
            isinstance(key, bool | np.bool_)
            or index != key
            or index < 0
            or (components is not None and index >= len(components))
        ):
            raise ValueError
    except (TypeError, ValueError):
        raise error(f"{where}: {key!r} is neither the index nor the name of a component") from None
    return index, label_of(index, components)


def label_of(index, components):
    """Return the name of a component, ``y[index]`` where it has none."""
    return f"y[{index}]" if components is None else components[index]


def _floats(values, what):
    try:
        values = np.array(nan_where_masked(values))
        if values.dtype.kind in "mM":
            days = "days since the first: (t - t[0]) / np.timedelta64(1, 'D')"
            raise TypeError(f"these are {values.dtype}; pass {days}")
        if values.dtype.kind == "c":
            raise TypeError(f"these are {values.dtype}")
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what}: every entry must be a real number ({error})") from None


def _times(t, what):
    if t is None:
        raise DataError(f"{what}: no times given")
    t = _floats(t, what)
    if t.ndim != 1:
        raise DataError(f"{what} must be 1-D, it has shape {t.shape}")
    if not len(t):
        raise DataError(f"{what} is empty: no observations")
    if not np.isfinite(t).all():
        index = int(np.flatnonzero(~np.isfinite(t))[0])
        raise DataError(f"{what}[{index}] is {t[index]}; times must be finite")
    return t


def _table_sigma(sigma, shape, picked):
    """Return the deviations of a table, and of each column whether they are to be estimated."""
    if isinstance(sigma, Mapping):
        by_index = {}
        for key, value in sigma.items():
            labels = {label: index for index, label in picked}
            index = labels.get(key, key)
            if index not in labels.values():
                raise DataError(f"sigma: {key!r} is not an observed component")
            by_index[index] = value
        given = [_sigma_of(by_index, index, label) for index, label in picked]
        columns = [
            _spread(one, shape[:1], f"sigma of {label}")
            for one, (_, label) in zip(given, picked, strict=True)
        ]
        return np.column_stack(columns), [_is_sought(one) for one in given]
    if sigma is None or isinstance(sigma, str):
        return _spread(sigma, shape, "sigma"), [_is_sought(sigma)] * shape[1]
    sigma = _floats(sigma, "sigma")
    if np.shape(sigma) == shape[:1] and (shape[1] == 1 or shape[0] != shape[1]):
        sigma = sigma.reshape(-1, 1)  # one for each time
    return _spread(sigma, shape, "sigma"), [False] * shape[1]


def _sigma_of(sigma, key, label):
    if key not in sigma:
        raise DataError(
            f'sigma says nothing of {label}: give each observed component its deviation, or "estimate"'
        )
    return sigma[key]


def _is_sought(sigma):
    return isinstance(sigma, str) and sigma == "estimate"


def _spread(sigma, shape, what):
    """Return standard deviations, broadcast to `shape`; None stands for 1, "estimate" as well."""
    if sigma is None or _is_sought(sigma):
        return np.ones(shape)
    if isinstance(sigma, str):
        raise DataError(f'{what}: {sigma!r} is neither a number nor "estimate"')
    sigma = _floats(sigma, what)
    try:
        return np.broadcast_to(sigma, shape)
    except ValueError:
        raise DataError(f"{what} has shape {sigma.shape}, which does not fit {shape}") from None


def check_observations(series, shape, log):
    """Raise `DataError` for a value or sigma that cannot be used, naming its place."""
    for j, one in enumerate(series):
        values, sigma = one.values, one.sigma
        bad_value = np.isinf(values) | (values <= 0.0) if log else np.isinf(values)
        bad_sigma = ~((sigma > 0.0) & np.isfinite(sigma)) & ~np.isnan(values)
        for bad, what, entry in ((bad_value, "y", values), (bad_sigma, "sigma", sigma)):
            if bad.any():
                raise DataError(_complaint(one, j, shape, int(np.argmax(bad)), what, entry))
    if all(np.isnan(one.values).all() for one in series):
        raise DataError("y has no observations: every entry is missing (NaN)")


def _complaint(series, column, shape, row, what, entry):
    place = f"[{row}]" if shape is None or len(shape) == 1 else f"[{row}, {column}]"
    said = f"{what}{place} ({series.label} at t = {series.times[row]:.10g}) is {entry[row]:g}"
    if what == "sigma":
        return f"{said}; standard deviations must be positive and finite"
    if np.isinf(entry[row]):
        return f"{said}; mark a missing observation with NaN"
    return f'{said}; scale="log" takes logarithms of the data, which must be positive'
