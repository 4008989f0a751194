"""A model and a data file brought together: the arrays that a fit takes."""

import itertools
from dataclasses import dataclass

import numpy as np

from numbad.errors import ModelError


@dataclass(frozen=True)
class FitInput:
    """Observations in the order of the components of y.

    Attributes
    ----------
    observed : tuple of str
        The k components or observables that are observed.
    t : array, shape (m,)
        Times, in any order.
    y : array, shape (m, k)
        Observations; NaN where there is none.
    sigma : dict or None
        Component -> standard deviation of its observations, a number, "estimate", or an array of
        shape (m,).
    experiments : dict
        Name -> (rows of t and y, conditions as name -> number); empty where there is one alone.
    doses : list
        (row, component, amount) of each dose.
    """

    observed: tuple
    t: np.ndarray
    y: np.ndarray
    sigma: dict | None
    experiments: dict
    doses: list


def assemble(model, table, *, time=None, scale="linear"):
    """Return the `FitInput` of a `Model` and a `Table`.

    Parameters
    ----------
    model : Model
    table : Table
    time : str, optional
        The column of times; by default the first one.
    scale : {"linear", "log"}
        With "log" every observation must be positive.

    Raises
    ------
    DataError
        A column that is missing or holds what it must not; the message names file, line, column.
    ModelError
        A model with a `sigma` for some of the observed components only.

    >>> from numbad.data import HUDSON_BAY, read_table
    >>> from numbad.models import PREDATOR_PREY, load_model
    >>> problem = assemble(load_model(PREDATOR_PREY), read_table(HUDSON_BAY), scale="log")
    >>> problem.observed, problem.y.shape
    (('hare', 'lynx'), (21, 2))
    """
    first, time = time is None, table.names[0] if time is None else time
    t = table.times(time)
    observed = _observed(model, table, time, first)
    y = np.column_stack([_observations(table, column, scale) for column in observed.values()])
    return FitInput(
        observed=tuple(observed),
        t=t,
        y=y,
        sigma=_sigma(model, table, observed, y),
        experiments=_experiments(model, table),
        doses=[dose for column in model.doses for dose in _doses(model, table, column)],
    )


def assemble_series(model, table, *, time=None, scale="linear"):
    """Return columns, times (k,), observations (k, m), or (k,) without a filter, and experiments.

    Of a `DiffusionModel`; arguments, experiments and errors are those of `assemble`, and with "log" the
    observations are logarithms.
    """
    time = table.names[0] if time is None else time
    t = table.times(time)
    taken = {time, model.experiment, *model.conditions.values()}
    columns = model.observed or [name for name in table.names if name not in taken]
    if not model.by_filter and len(columns) > 1:
        raise ModelError(
            f"{model.path}: likelihood = '{model.likelihood}' is of one series, and the data have "
            f"{', '.join(columns)}; say which is meant: observed = '{columns[0]}'"
        )
    y = np.column_stack([_observations(table, column, scale) for column in columns])
    y = np.log(y) if scale == "log" else y
    experiments = _experiments(model, table)
    for rows, _ in experiments.values() if experiments else [(np.arange(t.size), {})]:
        _check_order(table, t, rows, time)
    if model.by_filter:
        return columns, t, y, experiments
    for row in np.flatnonzero(np.isnan(y[:, 0])):
        raise table.error(
            "is missing; leave the row out, or fit by a filter: likelihood = 'extended_kalman'",
            row,
            columns[0],
        )
    return columns, t, y[:, 0], experiments


def _check_order(table, t, rows, time):
    """Raise DataError where times of a series do not increase."""
    for before, row in itertools.pairwise(rows):
        if not t[row] > t[before]:
            raise table.error(
                f"{t[row]:g} is not later than {t[before]:g} in line {table.lines[before]}; the rows of a "
                "series are in the order of their times, one for each",
                int(row),
                time,
            )


def _doses(model, table, column):
    amounts = table.column(column)
    for row in np.flatnonzero(~np.isnan(amounts)):
        yield int(row), model.doses[column], float(amounts[row])


def _experiments(model, table):
    """Return the rows of each experiment, in the order of the data, and its conditions."""
    if model.experiment is None:
        return {}
    rows = {}
    for row, name in enumerate(table.text(model.experiment)):
        if not name:
            raise table.error("is empty; every row needs its experiment", row, model.experiment)
        rows.setdefault(name, []).append(row)
    values = {name: table.column(column) for name, column in model.conditions.items()}
    return {
        name: (
            np.array(own),
            {c: _same(table, v, own, model.conditions[c]) for c, v in values.items()},
        )
        for name, own in rows.items()
    }


def _same(table, values, rows, column):
    """Return the value that a column has in all rows of an experiment."""
    for row in rows:
        if np.isnan(values[row]):
            raise table.error("is missing; it says what this experiment was given", row, column)
        if values[row] != values[rows[0]]:
            raise table.error(
                f"{values[row]:g} differs from {values[rows[0]]:g} in line {table.lines[rows[0]]}; "
                "it must be the same in all rows of an experiment",
                row,
                column,
            )
    return float(values[rows[0]])


def _observed(model, table, time, first):
    """Return component -> column."""
    if model.observed is not None:
        columns = {component: column for column, component in model.observed.items()}
        return {name: columns[name] for name in model.shown if name in columns}
    observed = {name: name for name in model.shown if name in table.names and name != time}
    if not observed and first and time in model.shown:
        raise table.error(
            f"the column {time!r} is taken for the times, since it is the first; say which one has them:"
            f" --time {next((n for n in table.names if n != time), 'COLUMN')}"
        )
    if not observed:
        raise table.error(
            f"no column is named like {_kind(model)} of the model ({', '.join(model.shown)});"
            " rename the columns, or map them with observed = dict(column='component') in the"
            " model file"
        )
    return observed


def _kind(model):
    return "an observable" if model.observables else "a component"


def _observations(table, column, scale):
    values = table.column(column)
    if np.isnan(values).all():
        raise table.error("every observation is missing", name=column)
    for row in np.flatnonzero(values <= 0) if scale == "log" else ():
        raise table.error(
            f"{values[row]:g} has no logarithm; a fit on the log scale needs positive observations"
            " (leave the cell empty, or fit on the linear scale)",
            row,
            column,
        )
    return values


def _sigma(model, table, observed, y):
    if not model.sigma:
        return None
    for name in observed:
        if name not in model.sigma:
            raise ModelError(
                f"{model.path}: sigma has no entry for '{name}'; give one to every observed"
                " component, or to none"
            )
    return {
        component: _deviations(table, model.sigma[component], y[:, k])
        for k, component in enumerate(observed)
    }


def _deviations(table, sigma, observations):
    """Return the standard deviations of one component: a number for all, a column, "estimate"."""
    if not isinstance(sigma, str) or sigma == "estimate":
        return sigma
    values = table.column(sigma)
    for row in np.flatnonzero(~np.isnan(observations) & ~(values > 0)):
        said = "is missing" if np.isnan(values[row]) else f"{values[row]:g} is not positive"
        raise table.error(f"{said}; a standard deviation is needed here", row, sigma)
    return values
