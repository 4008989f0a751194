"""Stand-ins that are called with an array that may be None: they are asked of the array."""

import inspect

from numba.extending import overload

from ..ir.optionals import may_be_none, present
from ..source import define


def overload_stand_in(stand_in, **options):
    """Numba's `overload`, for a function that takes arrays and no None for one.

    Numba's functions raise TypeError where an array is None that they are given, and so does the call.
    """

    def register(typed):
        signature = inspect.signature(typed)

        def of_arrays(*tys, **kws):
            given = signature.bind(*tys, **kws).arguments
            if any(map(may_be_none, given.values())):
                return _of_the_arrays(stand_in, signature, given)
            return typed(*tys, **kws)

        of_arrays.__signature__ = signature
        overload(stand_in, **options)(of_arrays)
        return typed

    return register


def _of_the_arrays(stand_in, signature, given):
    """Code that calls a stand-in with arrays that are there."""
    with_defaults = [p for p in signature.parameters.values() if p.default is not p.empty]
    defaults = {f"_{p.name}": p.default for p in with_defaults}
    parameters = ", ".join(
        k if f"_{k}" not in defaults else f"{k}=_{k}" for k in signature.parameters
    )
    names = iter(signature.parameters)
    passed = ", ".join(
        ("" if next(names, None) == k else f"{k}=") + (f"_present({k})" if may_be_none(ty) else k)
        for k, ty in given.items()
    )
    code = f"def call({parameters}):\n    return _stand_in({passed})\n"
    return define(code, {"_stand_in": stand_in, "_present": present, **defaults})
