"""The methods that exist, by name; one cited tableau a file."""

from numbad.errors import ArgumentError
from numbad.ode.methods.tsit5 import TSIT5

METHODS = {TSIT5.name: TSIT5}


def find_method(name):
    """The tableau called `name`.

    Raises
    ------
    ArgumentError
        where no method has that name; the message lists those that exist.
    """
    try:
        return METHODS[name]
    except (KeyError, TypeError):
        known = ", ".join(sorted(METHODS))
        raise ArgumentError(f"method {name!r} does not exist; available: {known}") from None
