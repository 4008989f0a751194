"""Series of observations that a likelihood is of, and where each has the parameters of its model from."""

from dataclasses import dataclass

import numpy as np

from numbad.errors import DataError, ModelError
from numbad.fit.experiment import Candidates, about, check_arguments, named_parameters
from numbad.masked_arrays import nan_where_masked
from numbad.sde.hidden_state import HiddenState, series


@dataclass(frozen=True, eq=False)
class ObservedSeries:
    """Times (k,) and values (k,) or (k, m); `name` is None where there is one series alone.

    Parameter j of the model is unknown number `numbers[j]`, or known to be `known[j]` where that is -1.
    """

    name: str | None
    times: np.ndarray
    values: np.ndarray
    numbers: np.ndarray
    known: np.ndarray

    def parameters(self, values):
        """The parameters of the model, in its order, at natural values of the unknowns."""
        return np.where(self.numbers >= 0, values[self.numbers], self.known)


def read_data(density, experiments):
    """Times and values of each experiment; DataError or ModelError, which name it, for what does not fit."""
    read = series if isinstance(density, HiddenState) else _observed_exactly
    found = []
    for one in experiments:
        with about(one):
            given = {"y0": one.y0, "doses": one.doses or None, "sigma": one.sigma}
            for what, way_out in _WAYS_OUT.items():
                if given[what] is not None:
                    raise ModelError(f"{what} is for fit_ode; for an SDE, {way_out}")
            found.append(read(one.t, one.y))
            width, first = found[-1][1].shape[1:], found[0][1].shape[1:]
            if width != first:
                raise DataError(
                    f"y has {width[0]} columns, and that of {experiments[0].name!r} {first[0]}; NaN is "
                    "what was not observed"
                )
    return found


_WAYS_OUT = {
    "y0": "a filter takes mean= and spread=, of the state at the first observation, as functions of "
    "parameters that args= may set",
    "doses": "let the drift have them, a function of t and of parameters that args= may set",
    "sigma": "a filter takes noise=, a function of parameters that args= may set",
}


def placed_parameters(names, start, extras, own, experiments):
    """The `Candidates` among parameters, which start at `start`, and further entries of p0, `extras`."""
    own = named_parameters(own, "own", names, experiments)
    check_arguments(experiments, names)
    candidates = Candidates(names, experiments, None, 0)
    candidates.add_parameters(start, extras, own)
    return candidates


def joined(data, candidates, freed):
    """The `ObservedSeries` of data of experiments; `freed` are the `FreeParameters` among candidates."""
    numbers = candidates.numbers(freed.fixed, freed.start)
    rows = zip(candidates.experiments, data, numbers, candidates.values, strict=True)
    return tuple(
        ObservedSeries(one.name, *read, places, known) for one, read, places, known in rows
    )


def _observed_exactly(t, y):
    times, values = (np.array(nan_where_masked(given), dtype=float) for given in (t, y))
    if values.ndim == 2 and values.shape[1] > 1:
        raise DataError(
            f"a transition density is of one number, and y has {values.shape[1]} columns; for several "
            "components make a filter, by numbad.sde.filters"
        )
    values = values[:, 0] if values.ndim == 2 and values.shape[1] else values
    if times.ndim != 1 or times.shape != values.shape or times.size < 2:
        raise DataError(
            f"t and y have one entry for each observation, two at least; shapes {times.shape}, {values.shape}"
        )
    if not (np.isfinite(times).all() and np.isfinite(values).all()):
        row = int(np.flatnonzero(~(np.isfinite(times) & np.isfinite(values)))[0])
        raise DataError(
            f"t and y must be finite, which entry {row} is not: {times[row]}, {values[row]}. Leave out "
            "what was not observed: densities take steps of any length"
        )
    if not (np.diff(times) > 0.0).all():
        row = int(np.flatnonzero(~(np.diff(times) > 0.0))[0]) + 1
        raise DataError(f"t must increase strictly, which it does not at entry {row}: {times[row]}")
    return np.ascontiguousarray(times), np.ascontiguousarray(values)
