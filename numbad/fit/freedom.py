"""What may vary in a fit, and how: from the user's arguments to checked unknowns and priors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from numbad.errors import ModelError
from numbad.fit.priors import Priors, read_priors
from numbad.fit.unknowns import (
    Unknowns,
    make_unknowns,
    read_bounds,
    read_fixed,
    read_transforms,
)


@dataclass(frozen=True)
class Freedom:
    """What may vary, and how, as in `fit_ode`."""

    own: object
    fixed: object
    bounds: object
    transforms: object
    priors: object


class FreeParameters(NamedTuple):
    """What is sought, the priors of it; which candidates are fixed, booleans; where all of them start."""

    unknowns: Unknowns
    priors: Priors
    fixed: np.ndarray
    start: np.ndarray


def varying(names, start, freedom, default, aliases=None):
    """Return the `FreeParameters` among candidates `names`, which start at `start`; ModelError for others.

    `default(start, lower)` is the transform of an unknown for which none is given.
    """
    start, aliases = np.array(start, dtype=np.float64), aliases or {}
    lower, upper = read_bounds(freedom.bounds, names, aliases)
    held = read_fixed(freedom.fixed, names, aliases, start) | (lower == upper)
    for name, value, low, high in zip(names, start.tolist(), lower, upper, strict=True):
        if not low <= value <= high:
            told = f"{name} starts at {value:g}, outside its bounds [{low:g}, {high:g}]"
            pairs = not isinstance(freedom.bounds, Mapping | None)
            if pairs and len(names) == 2 == len(freedom.bounds):
                told += (
                    ". bounds= has (lower, upper) for each unknown; SciPy's form, all lower ends and then "
                    "all upper ends, is list(zip(lower, upper)) here"
                )
            raise ModelError(told)
    defaults = map(default, start.tolist(), lower.tolist())
    transforms = read_transforms(freedom.transforms, names, defaults, aliases)
    priors = read_priors(freedom.priors, names, start, held, aliases)
    if held.all():
        raise ModelError(f"nothing to fit, all is fixed: {', '.join(names)}")
    kept = np.flatnonzero(~held)
    unknowns = make_unknowns(
        tuple(names[i] for i in kept),
        start[kept],
        [(lower[i], upper[i]) for i in kept],
        [transforms[i] for i in kept],
    )
    return FreeParameters(unknowns, priors, held, start)
