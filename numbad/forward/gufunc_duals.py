"""What `numba.guvectorize` made, on dual numbers: loops around its function, compiled for them."""

from weakref import WeakKeyDictionary

from numba.extending import overload

from ..ir.gufuncs import code_of
from ..source import define
from . import dual as d
from . import known
from .dual_dispatcher import dualized

_STAND_INS = WeakKeyDictionary()  # gufunc -> what stands in for it


def stand_in(gufunc):
    """The function that is called in place of a gufunc where duals may be among the arguments."""
    if gufunc not in _STAND_INS:
        _STAND_INS[gufunc] = _make(gufunc)
    return _STAND_INS[gufunc]


def _make(gufunc):
    def call(*args):
        raise NotImplementedError

    def typed(*args):
        code = gufunc
        if any(True for ty in args for _ in d.duals_in(ty)):
            made = code_of(gufunc, tuple(map(d.primal_type, args)))
            if made is None:
                return None
            code = dualized(made)
        names = ", ".join(f"x{k}" for k in range(len(args)))
        return define(f"def call({names}):\n    fn({names})\n", {"fn": code})

    call.__name__ = gufunc.__name__
    known.STANDS_FOR[call] = gufunc
    overload(call, strict=False)(typed)
    return call
