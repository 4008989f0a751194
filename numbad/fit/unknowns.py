"""What a fit is free to change: names, start, bounds, and the scale on which it is fitted."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from numbad.errors import ModelError


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Names, start values and bounds, in the user's ("natural") units.

    The optimiser works on "internal" coordinates: logarithms with `log`, multiples of `scale`
    otherwise, powers of two so that nothing is rounded. Its tolerances are about all coordinates
    together, so these must be of one size.
    """

    names: tuple
    start: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    log: bool
    scale: np.ndarray

    def __len__(self):
        return len(self.names)

    def internal(self, values):
        """Return the optimiser's coordinates of natural `values`."""
        return np.log(values) if self.log else np.asarray(values, dtype=np.float64) / self.scale

    def natural(self, x):
        """Return the natural values of internal coordinates, never outside the bounds."""
        return np.clip(np.exp(x) if self.log else x * self.scale, self.lower, self.upper)

    def slopes(self, values):
        """Return d(natural) / d(internal) at natural `values`."""
        return np.array(values) if self.log else self.scale

    @cached_property
    def bounded(self):
        """Whether any bound is finite on the internal scale."""
        return bool(np.isfinite(self.internal_bounds).any())

    @cached_property
    def internal_bounds(self):
        """The bounds on the internal scale, shape (2, k)."""
        if not self.log:
            return np.stack((self.lower, self.upper)) / self.scale
        with np.errstate(divide="ignore"):
            return np.log(np.stack((np.maximum(self.lower, 0.0), self.upper)))

    def active(self, values):
        """Return the names of the unknowns that sit at a bound (within 1e-8 of its size)."""
        x = self.internal(values)
        near = 1e-8 * np.maximum(np.abs(x), 1.0)
        lower, upper = self.internal_bounds
        at_bound = (x - lower <= near) | (upper - x <= near)
        return tuple(name for name, hit in zip(self.names, at_bound, strict=True) if hit)


def make_unknowns(names, start, bounds, log, aliases=None):
    """Check and return the `Unknowns`.

    `bounds` is None, a dict name -> (low, high), or one such pair an unknown, None standing for
    "no bound"; `aliases` are further names that a dict of bounds may use.
    """
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ModelError(f"two unknowns are called {repeated[0]!r}; give other names=")
    lower, upper = _bounds(bounds, names, aliases or {})
    _check_start(names, start, lower, upper, log)
    scale = np.ones(len(names)) if log else _sizes(start, lower, upper)
    return Unknowns(names, start, lower, upper, log, scale)


def _sizes(start, lower, upper):
    """Return about how large the unknowns are, powers of two."""
    ends = np.abs(np.stack((lower, upper)))
    ends[~np.isfinite(ends)] = 0.0
    sizes = np.where(start != 0.0, np.abs(start), ends.max(axis=0))
    sizes[sizes == 0.0] = 1.0
    return np.exp2(np.round(np.log2(sizes)))


def _bounds(bounds, names, aliases):
    lower, upper = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    if bounds is None:
        return lower, upper
    for name, pair in _pairs(bounds, names):
        index = aliases.get(name, name)
        if index not in names:
            raise ModelError(f"bounds: no unknown is called {name!r}; there are {', '.join(names)}")
        index = names.index(index)
        try:
            low, high = pair
            lower[index] = -np.inf if low is None else low
            upper[index] = np.inf if high is None else high
        except (TypeError, ValueError):
            raise ModelError(
                f"bounds of {name}: expected (low, high), two numbers or None, got {pair!r}"
            ) from None
        if not lower[index] < upper[index]:
            raise ModelError(f"bounds of {name}: {low} is not below {high}")
    return lower, upper


def _pairs(bounds, names):
    if isinstance(bounds, Mapping):
        return bounds.items()
    if hasattr(bounds, "lb"):  # scipy.optimize.Bounds
        low, high = (np.broadcast_to(side, len(names)) for side in (bounds.lb, bounds.ub))
        return zip(names, zip(low, high, strict=True), strict=True)
    if np.ndim(bounds) == 0:
        raise ModelError(f"bounds: expected a dict or pairs (low, high), got {bounds!r}")
    if len(bounds) != len(names):
        raise ModelError(
            f"bounds: {len(bounds)} pairs for {len(names)} unknowns ({', '.join(names)}); "
            "give one (low, high) each, or a dict by name"
        )
    return zip(names, bounds, strict=True)


def _check_start(names, start, lower, upper, log):
    for name, value, low, high in zip(names, start.tolist(), lower, upper, strict=True):
        if not low <= value <= high:
            raise ModelError(f"{name} starts at {value:g}, outside its bounds [{low:g}, {high:g}]")
        if log and value <= 0.0:
            raise ModelError(
                f'scale="log" fits logarithms, but {name} starts at {value:g}: '
                'start it above zero, or fit on scale="linear"'
            )


def latin_hypercube(unknowns, count, seed):
    """Return `count` starts, natural values, shape (count, k): the given one, then a sample.

    The sample is a Latin hypercube within the bounds, on the internal scale (M. D. McKay,
    R. J. Beckman, W. J. Conover, Technometrics 21, 1979, 239-245). It is a function of bounds,
    `count` and `seed` alone.
    """
    if count == 1:
        return unknowns.start[None, :]
    low, high = unknowns.internal_bounds
    for name, *ends in zip(unknowns.names, low, high, strict=True):
        if not np.isfinite(ends).all():
            positive = ", both above zero" if unknowns.log else ""
            raise ModelError(
                f"starts={count} draws starts within the bounds: give {name} "
                f"a finite lower and upper bound{positive}"
            )
    random = np.random.default_rng(seed)
    size = count - 1
    cells = random.permuted(np.tile(np.arange(size), (len(unknowns), 1)), axis=1).T
    drawn = low + (high - low) * (cells + random.random((size, len(unknowns)))) / size
    return np.vstack([unknowns.start, unknowns.natural(drawn)])
