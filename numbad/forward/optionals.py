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
    defaults = {f"_{p.name}": p.default for p in signature.parameters.values()}
    parameters = ", ".join(
        p.name if p.default is p.empty else f"{p.name}=_{p.name}"
        for p in signature.parameters.values()
    )
    passed = ", ".join(f"_present({k})" if may_be_none(ty) else k for k, ty in given.items())
    code = f"def call({parameters}):\n    return _stand_in({passed})\n"
    return define(code, {"_stand_in": stand_in, "_present": present, **defaults})
