"""`with objmode` blocks in code for dual numbers: they get values of numbers, where no number comes back.

So a block may print, or write a message. Python code is handed no duals, and nobody knows the derivatives
of what it does: beside differentiated numbers a block is refused that takes an array, where it may leave
something, or gives floats.
"""

from numba.core import types
from numba.extending import overload

from ..errors import UnsupportedError
from ..ir.fence import place
from ..source import define
from . import dual as d
from .access import primal
from .refuse import told

OBJECT_MODE_WAY_OUT = (
    "keep to nopython code, hand the block what is not differentiated alone (nd.stop_gradient), or call "
    "it from a function with a rule (nd.rule)"
)


def in_object_mode(block, loc):
    """What stands in for a block in object mode."""

    def call(*args):
        raise NotImplementedError

    def typed(*args):
        args = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        held = [any(True for _ in d.duals_in(ty)) for ty in args]
        if any(held) and not (
            all(map(_leaves_nothing, args))
            and all(isinstance(ty, _TOLD) for ty in _given_by(block))
        ):
            raise told(
                UnsupportedError(
                    f"cannot differentiate a block in object mode: {place(loc)}\n"
                    f"Way out: {OBJECT_MODE_WAY_OUT}."
                )
            )
        given = ", ".join(
            f"primal(args[{k}])" if holds else f"args[{k}]" for k, holds in enumerate(held)
        )
        lines = f"def call(*args):\n    return block({given})\n"
        return define(lines, {"block": block, "primal": primal})

    overload(call)(typed)
    return call


_TOLD = types.Integer | types.Boolean | types.UnicodeType | types.NoneType


def _leaves_nothing(ty):
    """Whether Python code can change nothing of a value of a type: of numbers, texts, and tuples of these."""
    if isinstance(ty, types.BaseTuple):
        return all(map(_leaves_nothing, ty))
    return isinstance(ty, _TOLD | types.Number | types.Literal | d.Dual)


def _given_by(block):
    """The types of what a block gives to the code behind it."""
    found = block.output_types
    return found.types if isinstance(found, types.BaseTuple) else [found]
