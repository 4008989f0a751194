"""Sees whether a pattern that a user gives has an entry for every derivative that is not zero.

The columns are thrown into a few random buckets, and the same compiled passes that evaluate the entries
give the sum of each row over each bucket. A derivative that the pattern leaves out is missing from the
sum of the entries in its bucket. Two that are missing from one row could cancel where they fall into
one bucket, so there are several rounds.
"""

import numpy as np

from ..errors import SparsityError
from ..forward.promote import effects
from .compressed import places

ROUNDS = 3
ROUNDS_OF_ONE = 8  # with one bucket, columns are left out at random instead
TOLERANCE = 1e-6  # of the greatest sum of magnitudes in the row, in double precision


def check_pattern(plan, f, argnums, args, detected=False):
    """SparsityError that names the first row in which a derivative is missing from the pattern."""
    changed = effects(f, argnums).changed
    rng = np.random.default_rng(0)
    data = plan.data(_fresh(args, changed))
    if not np.isfinite(data).all():  # sums would tell nothing
        return
    buckets = min(plan.count, plan.n)
    for turn in range(ROUNDS if buckets > 1 else ROUNDS_OF_ONE):
        if buckets > 1:
            drawn = rng.integers(0, buckets, plan.colours.size)
        else:
            drawn = np.where(rng.random(plan.colours.size) < 0.5, 0, -1) * (turn > 0)
        sums = _sums(plan, drawn, buckets, _fresh(args, changed))
        row = _wrong_row(plan.pattern, data, drawn, sums)
        if row is not None:
            raise SparsityError(_message(row, detected))


def _fresh(args, changed):
    """The arguments, with copies of those that the function changes."""
    return tuple(_copied(a) if k in changed else a for k, a in enumerate(args))


def _copied(value):
    if isinstance(value, tuple):
        members = map(_copied, value)
        return type(value)(*members) if hasattr(value, "_fields") else tuple(members)
    return value.copy(order="K") if isinstance(value, np.ndarray) else value


def _sums(plan, drawn, buckets, args):
    """The sums of the rows of the true Jacobian over the buckets: an array (rows, buckets)."""
    rows = plan.pattern.shape[0]
    kind = plan.colours.dtype
    starts = np.arange(rows + 1, dtype=plan.pattern.indptr.dtype) * buckets
    slots = np.tile(np.arange(buckets, dtype=kind), rows)
    if plan.one_pass:
        slots = places(starts, slots, plan.n)
    sums, *_ = plan.call(drawn.astype(kind), starts, slots, args)
    return sums.reshape(rows, buckets)


def _wrong_row(pattern, data, drawn, sums):
    """The first row whose entries do not add up to what they should; None where all do."""
    rows, buckets = pattern.rows(), drawn[pattern.indices]
    kept = buckets >= 0
    expected, scale = np.zeros_like(sums), np.abs(sums).max(axis=1, initial=0.0)
    np.add.at(expected, (rows[kept], buckets[kept]), data[kept])
    np.add.at(scale, rows, np.abs(data))
    eps = np.finfo(data.dtype).eps
    tolerance = TOLERANCE * eps / np.finfo(np.float64).eps if eps > 1e-10 else TOLERANCE
    wrong = np.abs(expected - sums) > min(tolerance, 1e-2) * scale[:, None]
    return int(np.flatnonzero(wrong.any(axis=1))[0]) if wrong.any() else None


def _message(row, detected):
    told = (
        f"nd.jacobian: the sparsity pattern is too small: row {row} of the Jacobian has an entry that is "
        "not zero where the pattern has none. "
    )
    if detected:
        return told + "It was detected, so this is a defect of numbad; please report it"
    return told + (
        "nd.sparsity detects a pattern that is large enough; check_sparsity=False trusts the pattern as "
        "it is"
    )
