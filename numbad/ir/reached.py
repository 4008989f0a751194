"""What has no derivative, refused by a call that reaches it: others never ask for one."""

from functools import cache

from numba import njit

from ..errors import UnsupportedError
from ..source import define
from .fence import place


@cache
def _raising(text):
    source = "def reached():\n    raise UnsupportedError(text)\n"
    return njit(define(source, {"UnsupportedError": UnsupportedError, "text": text}))


def refused_draw(name, loc=None):
    """The nopython function that refuses a draw which differentiated parameters go into."""
    inside = f" in {loc.function}" if getattr(loc, "function", None) else ""
    where = f"{inside}: {place(loc)}" if loc else '; mode="reverse" tells where'
    return _raising(
        f"a draw of '{name}' by differentiated parameters, which has no pathwise derivative, is "
        f"reached{where}\nWay out: keep the parameters out of the derivative with "
        "nd.stop_gradient, or draw from a distribution that depends on them smoothly."
    )
