"""What a fit is free to change: names, start, bounds, and the transform under which each is fitted."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np

from numbad.errors import ModelError

TRANSFORMS = ("linear", "log", "logit")


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Names, start values and bounds, in the user's ("natural") units.

    The optimiser works on "internal" coordinates x, as `transforms` has them: v = x scale for
    "linear", with powers of two so that nothing is rounded; v = exp(x) for "log"; and for "logit"
    v = lower + (upper - lower) / (1 + exp(-x)), which stays between the bounds. Its tolerances are
    about all coordinates together, so these must be of one size.
    """

    names: tuple
    start: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    transforms: tuple
    scale: np.ndarray

    def __len__(self):
        return len(self.names)

    @cached_property
    def _log(self):
        return np.array([t == "log" for t in self.transforms], dtype=bool)

    @cached_property
    def _logit(self):
        return np.array([t == "logit" for t in self.transforms], dtype=bool)

    def internal(self, values):
        """Return the optimiser's coordinates of natural `values`, shape (..., k)."""
        x, log, logit = np.array(values, dtype=np.float64), self._log, self._logit
        low, high = self.lower[logit], self.upper[logit]
        with np.errstate(divide="ignore"):
            x[..., log] = np.log(x[..., log])
            x[..., logit] = np.log((x[..., logit] - low) / (high - x[..., logit]))
        return x / self.scale

    def natural(self, x):
        """Return the natural values of internal coordinates, never outside the bounds."""
        return np.clip(self.extended(x), self.lower, self.upper)

    def extended(self, x):
        """Return the natural values of internal coordinates, beyond the bounds as well."""
        values, log, logit = np.array(x * self.scale), self._log, self._logit
        low, high = self.lower[logit], self.upper[logit]
        with np.errstate(over="ignore"):
            values[..., log] = np.exp(values[..., log])
            values[..., logit] = low + (high - low) / (1.0 + np.exp(-values[..., logit]))
        return values

    def slopes(self, values):
        """Return d(natural) / d(internal) at natural `values`."""
        values, slopes = np.asarray(values, dtype=np.float64), np.array(self.scale)
        slopes[self._log] = values[self._log]
        low, high, value = (part[self._logit] for part in (self.lower, self.upper, values))
        slopes[self._logit] = (value - low) * ((high - value) / (high - low))
        return slopes

    def bends(self, values):
        """Return d^2(natural) / d(internal)^2 at natural `values`."""
        slopes, bends = self.slopes(values), np.zeros(len(self))
        bends[self._log] = slopes[self._log]
        low, high, value = (part[self._logit] for part in (self.lower, self.upper, values))
        bends[self._logit] = slopes[self._logit] * ((low - value) + (high - value)) / (high - low)
        return bends

    def natural_at(self, index, x, values):
        """Return the natural value of internal coordinate x of one unknown, others at `values`."""
        whole = self.internal(values)
        whole[index] = x
        return float(self.extended(whole)[index])

    def without(self, index):
        """Return these unknowns but for one."""
        kept = [i for i in range(len(self)) if i != index]
        return Unknowns(
            tuple(self.names[i] for i in kept),
            *(getattr(self, name)[kept] for name in ("start", "lower", "upper")),
            tuple(self.transforms[i] for i in kept),
            self.scale[kept],
        )

    @cached_property
    def coordinates(self):
        """The transforms as compiled code takes them: their numbers; scale, lower and upper bounds."""
        kind = np.array([TRANSFORMS.index(transform) for transform in self.transforms])
        return kind, np.stack((self.scale, self.lower, self.upper))

    @cached_property
    def bounded(self):
        """Whether any bound is finite on the internal scale."""
        return bool(np.isfinite(self.internal_bounds).any())

    @cached_property
    def internal_bounds(self):
        """The bounds on the internal scale, shape (2, k)."""
        bounds = np.stack((self.lower, self.upper))
        bounds[:, self._logit] = [[-np.inf], [np.inf]]
        with np.errstate(divide="ignore"):
            bounds[:, self._log] = np.log(np.maximum(bounds[:, self._log], 0.0))
        return bounds / self.scale

    def active(self, values):
        """Return the names of the unknowns that sit at a bound (within 1e-8 of its size)."""
        x = self.internal(values)
        near = 1e-8 * np.maximum(np.abs(x), 1.0)
        lower, upper = self.internal_bounds
        at_bound = (x - lower <= near) | (upper - x <= near) | (self._logit & (np.abs(x) > 18.0))
        return tuple(name for name, hit in zip(self.names, at_bound, strict=True) if hit)

    def vanishing(self, values, deviations):
        """Return the names of those on the log scale that went to zero, given standard errors."""
        small = (values < VANISHING * self.start) & (values < VANISHING * np.asarray(deviations))
        return tuple(name for name, hit in zip(self.names, small & self._log, strict=True) if hit)


# An estimate below this fraction of its start, and of its standard error, has gone to the end of a log scale.
VANISHING = 1e-2


def make_unknowns(names, start, bounds, transforms="linear", aliases=None):
    """Check and return the `Unknowns`.

    `bounds` is None, a dict name -> (low, high), or one such pair an unknown, None standing for
    "no bound"; `transforms` is one for all or one for each; `aliases` are further names that a dict
    of bounds may use, each with the names it stands for.
    """
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ModelError(f"two unknowns are called {repeated[0]!r}; give other names=")
    if isinstance(transforms, str):
        transforms = (transforms,) * len(names)
    lower, upper = read_bounds(bounds, names, aliases or {})
    _check_start(names, start, lower, upper, transforms)
    scale = _sizes(start, lower, upper)
    scale[[t != "linear" for t in transforms]] = 1.0
    return Unknowns(names, start, lower, upper, tuple(transforms), scale)


def _sizes(start, lower, upper):
    """Return about how large the unknowns are, powers of two."""
    ends = np.abs(np.stack((lower, upper)))
    ends[~np.isfinite(ends)] = 0.0
    sizes = np.where(start != 0.0, np.abs(start), ends.max(axis=0))
    sizes[sizes == 0.0] = 1.0
    return np.exp2(np.round(np.log2(sizes)))


def by_name(entries, names, aliases, where):
    """Give (index of an unknown, its entry) of a dict whose keys are names or aliases."""
    if not isinstance(entries, Mapping):
        raise ModelError(
            f"{where}: expected a dict by name, such as {{{names[0]!r}: ...}}, got {entries!r}"
        )
    for key, entry in entries.items():
        meant = (key,) if key in names else aliases.get(key, ())
        if not meant:
            raise ModelError(f"{where}: no unknown is called {key!r}; there are {', '.join(names)}")
        for name in meant:
            yield names.index(name), entry


def read_bounds(bounds, names, aliases):
    """Return the lower and the upper bounds, infinite where there are none."""
    lower, upper = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    if bounds is None:
        return lower, upper
    for index, pair in _pairs(bounds, names, aliases):
        name = names[index]
        try:
            low, high = (None, None) if pair is None else pair
            lower[index] = -np.inf if low is None else low
            upper[index] = np.inf if high is None else high
        except (TypeError, ValueError):
            raise ModelError(
                f"bounds of {name}: expected (low, high), two numbers or None, got {pair!r}"
            ) from None
        if not lower[index] <= upper[index]:
            raise ModelError(f"bounds of {name}: {low} is above {high}")
    return lower, upper


def _pairs(bounds, names, aliases):
    if isinstance(bounds, Mapping):
        return by_name(bounds, names, aliases, "bounds")
    if hasattr(bounds, "lb"):  # scipy.optimize.Bounds
        low, high = (np.broadcast_to(side, len(names)) for side in (bounds.lb, bounds.ub))
        return enumerate(zip(low, high, strict=True))
    if not np.iterable(bounds) or isinstance(bounds, str):
        raise ModelError(f"bounds: expected a dict or pairs (low, high), got {bounds!r}")
    if len(bounds) != len(names):
        raise ModelError(
            f"bounds: {len(bounds)} pairs for {len(names)} unknowns ({', '.join(names)}); "
            "give one (low, high) each, or a dict by name"
        )
    return enumerate(bounds)


def read_transforms(transforms, names, defaults, aliases):
    """Return the transform of each unknown; `transforms` is None, one for all, or a dict by name."""
    found = list(defaults)
    if isinstance(transforms, str):
        transforms = dict.fromkeys(names, transforms)
    for index, transform in by_name(transforms or {}, names, aliases, "transforms"):
        if transform not in TRANSFORMS:
            raise ModelError(
                f"transforms: {names[index]} has {transform!r}; there are "
                f"{', '.join(map(repr, TRANSFORMS))}"
            )
        found[index] = transform
    return tuple(found)


def read_fixed(fixed, names, aliases, start):
    """Return which unknowns are fixed, and put their values, where `fixed` has such, into `start`."""
    held = np.zeros(len(names), dtype=bool)
    if not isinstance(fixed, Mapping):
        listed = [fixed] if isinstance(fixed, str) else fixed or ()
        if isinstance(listed, bool) or not np.iterable(listed):
            raise ModelError(f"fixed: expected names, or a dict name -> value, got {fixed!r}")
        fixed = dict.fromkeys(listed)
    for index, value in by_name(fixed, names, aliases, "fixed"):
        held[index] = True
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, Real) or not np.isfinite(value):
            raise ModelError(f"fixed: {names[index]} must be a finite number, got {value!r}")
        start[index] = value
    return held


def _check_start(names, start, lower, upper, transforms):
    rows = zip(names, start.tolist(), lower.tolist(), upper.tolist(), transforms, strict=True)
    for name, value, low, high, transform in rows:
        if not low <= value <= high:
            raise ModelError(f"{name} starts at {value:g}, outside its bounds [{low:g}, {high:g}]")
        if transform == "log" and value <= 0.0:
            raise ModelError(
                f"the log scale fits logarithms, but {name} starts at {value:g}: start it above "
                f'zero, or fit it as it is, transforms={{{name!r}: "linear"}}'
            )
        if transform == "logit" and not np.isfinite((low, high)).all():
            raise ModelError(
                f"the logit of {name} needs both its bounds, finite: "
                f"bounds={{{name!r}: (0.0, 1.0)}}, say"
            )
        if transform == "logit" and not low < value < high:
            raise ModelError(
                f"the logit of {name} is infinite at its start, the bound {value:g}: start between "
                f"{low:g} and {high:g}"
            )


def latin_hypercube(unknowns, count, seed):
    """Return `count` starts, natural values, shape (count, k): the given one, then a sample.

    The sample is a Latin hypercube within the bounds, on the internal scale; of a logit, on the
    natural one (M. D. McKay, R. J. Beckman, W. J. Conover, Technometrics 21, 1979, 239-245). It is
    a function of bounds, transforms, `count` and `seed` alone.
    """
    if count == 1:
        return unknowns.start[None, :]
    low, high = unknowns.internal_bounds.copy()
    logit = unknowns._logit
    low[logit], high[logit] = unknowns.lower[logit], unknowns.upper[logit]
    for name, transform, *ends in zip(unknowns.names, unknowns.transforms, low, high, strict=True):
        if not np.isfinite(ends).all():
            positive = ", both above zero" if transform == "log" else ""
            raise ModelError(
                f"starts={count} draws starts within the bounds: give {name} "
                f"a finite lower and upper bound{positive}"
            )
    random = np.random.default_rng(seed)
    size = count - 1
    cells = random.permuted(np.tile(np.arange(size), (len(unknowns), 1)), axis=1).T
    drawn = low + (high - low) * (cells + random.random((size, len(unknowns)))) / size
    return np.vstack([unknowns.start, np.where(logit, drawn, unknowns.natural(drawn))])
