"""`with objmode` blocks in code for dual numbers: left alone where they take none, refused otherwise."""

from numba.extending import overload

from ..errors import UnsupportedError
from ..ir.fence import place
from ..source import define
from . import dual as d
from .refuse import told

OBJECT_MODE_WAY_OUT = (
    "keep to nopython code, hand the block what is not differentiated alone (nd.stop_gradient), or call "
    "it from a function with a rule (nd.rule)"
)


def in_object_mode(block, loc):
    """What stands in for a block in object mode: Python is handed no dual numbers."""

    def call(*args):
        raise NotImplementedError

    def typed(*args):
        args = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        if any(True for ty in args for _ in d.duals_in(ty)):
            raise told(
                UnsupportedError(
                    f"cannot differentiate a block in object mode: {place(loc)}\n"
                    f"Way out: {OBJECT_MODE_WAY_OUT}."
                )
            )
        given = ", ".join(f"args[{k}]" for k in range(len(args)))
        return define(f"def call(*args):\n    return block({given})\n", {"block": block})

    overload(call)(typed)
    return call
