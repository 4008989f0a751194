"""A model and a data file brought together: the arrays that a fit takes."""

from dataclasses import dataclass

import numpy as np

from numbad.errors import ModelError


@dataclass(frozen=True)
class Problem:
    """Observations in the order of the components of y.

    Attributes
    ----------
    t : array, shape (m,)
        Times, strictly increasing.
    y : array, shape (m, n)
        Observations of the components; NaN where there is none.
    y0 : tuple of n floats
        The components at ``t[0]``.
    sigma : array, shape (m, n), or None
        Standard deviations of the observations.
    """

    t: np.ndarray
    y: np.ndarray
    y0: tuple
    sigma: np.ndarray | None


def assemble(model, table, *, time=None, scale="linear"):
    """Return the `Problem` of a `Model` and a `Table`.

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
        A model whose y0 the data cannot give.

    >>> from numbad.data import HUDSON_BAY, read_table
    >>> from numbad.models import PREDATOR_PREY, load_model
    >>> problem = assemble(load_model(PREDATOR_PREY), read_table(HUDSON_BAY), scale="log")
    >>> problem.y.shape, problem.y0
    ((21, 2), (30.0, 4.0))
    """
    time = table.names[0] if time is None else time
    t = table.times(time)
    observed = _observed(model, table, time)
    columns = {
        component: _observations(table, observed[component], scale) for component in observed
    }
    unseen = np.full(len(table), np.nan)
    y = np.column_stack([columns.get(component, unseen) for component in model.components])
    return Problem(t, y, _initial(model, table, observed, y), _sigma(model, table, observed, y))


def _observed(model, table, time):
    """Return component -> column."""
    if model.observed is not None:
        return {component: column for column, component in model.observed.items()}
    observed = {name: name for name in model.components if name in table.names and name != time}
    if not observed:
        raise table.error(
            f"no column is named like a component of the model ({', '.join(model.components)});"
            " rename the columns, or map them with observed = dict(column='component') in the"
            " model file"
        )
    return observed


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


def _initial(model, table, observed, y):
    if model.y0 is not None:
        return tuple(model.y0[component] for component in model.components)
    for component, value in zip(model.components, y[0], strict=True):
        if component not in observed:
            raise ModelError(
                f"{model.path}: no column of {table.path} observes '{component}'; give y0 a value"
                " for it"
            )
        if np.isnan(value):
            raise table.error(
                "is missing, and the model file gives no y0 to start from instead",
                0,
                observed[component],
            )
    return tuple(float(value) for value in y[0])


def _sigma(model, table, observed, y):
    if not model.sigma:
        return None
    missing = [name for name in observed if name not in model.sigma]
    if missing:
        raise ModelError(
            f"{model.path}: sigma has no entry for '{missing[0]}'; give one to every observed"
            " component or to none"
        )
    sigma = np.ones_like(y)
    for k, component in enumerate(model.components):
        if component in observed:
            sigma[:, k] = _deviations(table, model.sigma[component], y[:, k])
    return sigma


def _deviations(table, sigma, observations):
    """Return the standard deviations of one component: a number for all, or a column."""
    if not isinstance(sigma, str):
        return sigma
    values = table.column(sigma)
    for row in np.flatnonzero(~np.isnan(observations)):
        if not values[row] > 0:
            complaint = (
                "is missing" if np.isnan(values[row]) else f"{values[row]:g} is not positive"
            )
            raise table.error(f"{complaint}; a standard deviation is needed here", row, sigma)
    return np.where(np.isnan(values), 1.0, values)
