"""Functions made from generated source text, which tracebacks and listings can show."""

import linecache
from itertools import count
from weakref import finalize

_SERIAL = count()
_DECORATORS = 20  # lines at most


def define(source, namespace, like=None):
    """The one function that `source` defines, with the names of `namespace` as its globals.

    A source of one line that calls the function `like` and no more takes its name and its place.
    """
    filename = f"<numbad {next(_SERIAL)}>"
    linecache.cache[filename] = len(source), None, source.splitlines(True), filename
    # The module's name is what Numba's disk cache imports to restore a function's environment.
    scope = {"__name__": "numbad", **namespace}
    before = set(scope) | {"__builtins__"}
    exec(compile(source, filename, "exec"), scope)
    (name,) = scope.keys() - before
    made = scope[name]
    finalize(made.__code__, linecache.cache.pop, filename, None).atexit = False
    if like is not None:
        place = {"co_filename": like.__code__.co_filename, "co_firstlineno": line_of_def(like)}
        made.__code__ = made.__code__.replace(**place)
        made.__name__ = made.__qualname__ = like.__name__
    return made


def line_of_def(function):
    """The line of a function's `def`, which decorators may precede."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    for k, text in enumerate(lines[:_DECORATORS]):
        if text.lstrip().startswith(f"def {code.co_name}("):
            return code.co_firstlineno + k
    return code.co_firstlineno
