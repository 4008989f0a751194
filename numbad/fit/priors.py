"""What is known of the unknowns before the data: one more residual each."""

from dataclasses import dataclass
from numbers import Real

import numpy as np

from numbad.errors import ModelError
from numbad.fit.unknowns import by_name

KINDS = ("normal", "lognormal")
FORMS = 'write ("normal", mean, deviation) or ("lognormal", median, deviation of the logarithm)'


@dataclass(frozen=True, eq=False)
class Priors:
    """Gaussian priors of unknowns `index`, or of their logarithms where `log`.

    The residual is (v - center) / deviation, or (log v - center) / deviation, so that half its
    square is the negative logarithm of the density, but for a constant. The density of a log-normal
    prior is that of log v: the mode then does not depend on how v is transformed.
    """

    index: np.ndarray
    log: np.ndarray
    center: np.ndarray
    deviation: np.ndarray

    def __len__(self):
        return len(self.index)

    def residuals(self, values):
        """Return the residuals at natural `values`, and their slopes by the unknowns `index`."""
        values = np.asarray(values)[self.index]
        with np.errstate(divide="ignore", invalid="ignore"):
            seen = np.where(self.log, np.log(values), values)
            slopes = np.where(self.log, 1.0 / values, 1.0)
        return (seen - self.center) / self.deviation, slopes / self.deviation

    def cost(self, values):
        """Return half the sum of squares at natural `values` of all unknowns, its gradient by these, and
        the diagonal of its Hessian, which has nothing beside it."""
        residuals, slopes = self.residuals(values)
        gradient, curvature = np.zeros((2, len(values)))
        with np.errstate(all="ignore"):
            bends = np.where(self.log, -slopes / np.asarray(values)[self.index], 0.0)
            gradient[self.index] = residuals * slopes
            curvature[self.index] = slopes**2 + residuals * bends
            return 0.5 * float(residuals @ residuals), gradient, curvature


def read_priors(priors, names, values, fixed, aliases):
    """Return the `Priors` of the unknowns that are not `fixed`, booleans; indices count these.

    `values` are the starts. Raises `ModelError` for a prior that cannot be used.
    """
    rows = {}
    for position, entry in by_name({} if priors is None else priors, names, aliases, "priors"):
        rows[position] = _read(names[position], entry)
        if rows[position][0] and values[position] <= 0.0:
            raise ModelError(
                f"priors: {names[position]} is log-normal, so positive, but starts at "
                f"{values[position]:g}"
            )
    free = np.flatnonzero(~np.asarray(fixed, dtype=bool)).tolist()
    kept = [position for position in sorted(rows) if position in free]
    columns = np.array([rows[position] for position in kept], dtype=np.float64).reshape(-1, 3).T
    index = np.array([free.index(position) for position in kept], dtype=np.intp)
    return Priors(index, columns[0].astype(bool), columns[1].copy(), columns[2].copy())


def _read(name, entry):
    """Return (whether log-normal, center, deviation)."""
    if not isinstance(entry, tuple | list) or len(entry) != 3:
        raise ModelError(f"priors of {name}: {FORMS}, not {entry!r}")
    kind, center, deviation = entry
    if kind not in KINDS:
        raise ModelError(f"priors of {name}: there is no prior {kind!r}; {FORMS}")
    numbers = all(isinstance(v, Real) and np.isfinite(v) for v in (center, deviation))
    if not numbers or not deviation > 0.0:
        raise ModelError(
            f"priors of {name}: the deviation must be positive and all finite; {FORMS}"
        )
    if kind == "lognormal" and not center > 0.0:
        raise ModelError(f"priors of {name}: the median must be positive, not {center!r}; {FORMS}")
    log = kind == "lognormal"
    return log, np.log(center) if log else float(center), float(deviation)
