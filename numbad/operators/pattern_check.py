"""Sees whether a pattern that a user gives has an entry for every derivative that is not zero.

The columns are thrown into a few random buckets, and the same compiled passes that evaluate the entries
give the sum of each row over each bucket. A derivative that the pattern leaves out is missing from the
sum of the entries in its bucket. Two that are missing from one row could cancel where they fall into
one bucket, so there are several rounds. In reverse mode rows and columns change places.
"""

import math

import numpy as np
from numba import typeof

from ..errors import SparsityError
from ..forward.promote import effects
from .compressed import places

FALSE_PASSES = 1e-3
"""How often, about, a missing derivative may share every bucket with the entry that has taken it up."""

TOLERANCE = 1e-6  # of the greatest sum of magnitudes in the row, in double precision


def check_pattern(plan, f, argnums, args, detected=False):
    """SparsityError that names the first row (in reverse mode, column) that lacks a derivative."""
    changed = effects(f, argnums, map(typeof, args)).changed
    rng = np.random.default_rng(0)
    data = plan.data(_fresh(args, changed))
    if not np.isfinite(data).all():  # sums would tell nothing
        return
    buckets = min(plan.count, plan.n)
    for turn in range(_rounds(buckets)):
        if buckets > 1:
            drawn = rng.integers(0, buckets, plan.compression.colours.size)
        else:  # columns are left out at random instead
            drawn = np.where(rng.random(plan.compression.colours.size) < 0.5, 0, -1) * (turn > 0)
        sums = _sums(plan, drawn, buckets, _fresh(args, changed))
        line = _wrong_line(plan, data, drawn, sums)
        if line is not None:
            raise SparsityError(_message(plan, line, detected))


def _rounds(buckets):
    """How many rounds it takes to see two columns apart."""
    return max(3, math.ceil(math.log(FALSE_PASSES) / -math.log(max(buckets, 2))))


def _fresh(args, changed):
    """The arguments, with copies of those that the function changes."""
    return tuple(_copied(a) if k in changed else a for k, a in enumerate(args))


def _copied(value):
    if isinstance(value, tuple):
        members = map(_copied, value)
        return type(value)(*members) if hasattr(value, "_fields") else tuple(members)
    return value.copy(order="K") if isinstance(value, np.ndarray) else value


def _sums(plan, drawn, buckets, args):
    """The sums of the lines of the true Jacobian over the buckets: an array (lines, buckets)."""
    kind, starts = plan.compression.colours.dtype, plan.compression.starts
    lines = starts.size - 1
    starts = np.arange(lines + 1, dtype=starts.dtype) * buckets
    slots = np.tile(np.arange(buckets, dtype=kind), lines)
    if plan.one_pass:
        slots = places(starts, slots, plan.n)
    sums, *_ = plan.call(drawn.astype(kind), starts, slots, args)
    return sums.reshape(lines, buckets)


def _wrong_line(plan, data, drawn, sums):
    """The first line whose entries do not add up to what they should; None where all do."""
    lines, others = plan.pattern.rows(), plan.pattern.indices
    if plan.mode == "reverse":
        lines, others = others, lines
    buckets = drawn[others]
    kept = buckets >= 0
    expected, scale = np.zeros_like(sums), np.abs(sums).max(axis=1, initial=0.0)
    np.add.at(expected, (lines[kept], buckets[kept]), data[kept])
    np.add.at(scale, lines, np.abs(data))
    eps = np.finfo(data.dtype).eps
    tolerance = TOLERANCE * eps / np.finfo(np.float64).eps if eps > 1e-10 else TOLERANCE
    wrong = np.abs(expected - sums) > min(tolerance, 1e-2) * scale[:, None]
    return int(np.flatnonzero(wrong.any(axis=1))[0]) if wrong.any() else None


def _message(plan, line, detected):
    kind = "row" if plan.mode == "forward" else "column"
    told = (
        f"{plan.name}: the sparsity pattern is too small: {kind} {line} of the matrix has an entry that "
        "is not zero where the pattern has none. "
    )
    if detected:
        return told + "It was detected, so this is a defect of numbad; please report it"
    return told + (
        "nd.sparsity detects a pattern that is large enough; check_sparsity=False trusts the pattern as "
        "it is"
    )
