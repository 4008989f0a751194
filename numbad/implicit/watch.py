"""Whether a function has written to arrays that it was given, which a search cannot have.

What may be written to is known when code is compiled; whether it is, when it has run.
"""

import numpy as np
from numba.extending import overload, register_jitable

from ..forward.access import primal
from ..forward.dual_arrays import is_dual_array, plain


def snapshot(a):
    """A copy of the values of an array."""
    raise NotImplementedError


@overload(snapshot)
def _snapshot(a):
    return (lambda a: plain(a)) if is_dual_array(a) else (lambda a: a.copy())


@register_jitable
def differs(a, kept):
    """Whether the values of an array are no longer those of its snapshot."""
    for index in np.ndindex(a.shape):
        now, then = primal(a[index]), kept[index]
        if now != then and not (now != now and then != then):
            return True
    return False


def put_back(a, kept):
    """Give an array the values of its snapshot; one of dual numbers is only passed on."""
    raise NotImplementedError


@overload(put_back)
def _put_back(a, kept):
    if is_dual_array(a):
        return lambda a, kept: None

    def put_back(a, kept):
        a[...] = kept

    return put_back


def watching(operator, args, search):
    """Source lines that do `search` and refuse, when run, a function that writes to its arguments."""
    before, after = [], []
    for number, (source, name) in enumerate(operator.watched(args)):
        told = (
            f"nd.{operator.name}: {operator.told} changes its argument '{name}'. Way out: let it "
            "work on a copy"
        )
        before.append(f"kept{number} = snapshot({source})")
        after += [
            f"if differs({source}, kept{number}):",
            f"    put_back({source}, kept{number})",
            f"    raise ArgumentError({told!r})",
        ]
    return [*before, search, *after]
