"""Labels that values come with, as those of pandas and xarray do, which neither needs to be installed for."""

from collections.abc import Mapping

import numpy as np


def by_label(given):
    """Name -> value, of values whose labels are names: a series, or the columns of a frame; else as given."""
    names = _names(given, -1)
    if names is None:
        return given
    values = np.asarray(given)
    return {name: values[..., k] if values.ndim > 1 else values[k] for k, name in enumerate(names)}


def column_names(table):
    """The names of the columns of a table as a tuple, or None."""
    if (header := getattr(table, "columns", None)) is not None:
        return tuple(map(str, header))
    return _names(table, 1) if np.ndim(table) == 2 else None


def _names(given, axis):
    if isinstance(given, Mapping):
        return None
    if hasattr(given, "dims") and hasattr(given, "coords"):  # xarray
        dimension = given.dims[axis] if given.ndim else None
        labels = given.coords[dimension].values if dimension in given.coords else ()
    elif hasattr(given, "columns"):
        labels = given.columns
    elif hasattr(given, "to_dict") and hasattr(given, "index"):  # a series of pandas
        labels = given.index
    else:
        return None
    names = tuple(labels)
    return names if names and all(isinstance(name, str) for name in names) else None
