"""Classes that compiled code holds, known again in another process.

Compiled code that returns a namedtuple, or raises an exception, holds its class as a pickle. A class
that cannot be imported, as those of a notebook, is pickled whole, and would come back as another
class. cloudpickle, which Numba carries, gives such a class an identifier, and where it meets one that
it knows, the class it knows is taken; here the identifier is made from name and layout.
"""

import hashlib
import sys

from numba.cloudpickle import cloudpickle


def is_importable(value):
    """Whether another process finds a class or function by its name, so that it is pickled by it."""
    module = sys.modules.get(value.__module__ or "")
    if module is None or module.__name__ == "__main__":
        return False
    found = module
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is value


def identify(cls):
    """Let pickles of a class tell it by its name and layout; false where another one has these."""
    members = [(name, member.value) for name, member in getattr(cls, "__members__", {}).items()]
    layout = cls.__module__, cls.__qualname__, getattr(cls, "_fields", None), members
    name = "numbad" + hashlib.sha256(repr(layout).encode()).hexdigest()
    with cloudpickle._DYNAMIC_CLASS_TRACKER_LOCK:
        known = cloudpickle._DYNAMIC_CLASS_TRACKER_BY_ID.setdefault(name, cls)
        if known is not cls:
            return False
        cloudpickle._DYNAMIC_CLASS_TRACKER_BY_CLASS[cls] = name
    return True
