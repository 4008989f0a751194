"""Functions made from generated source text, which tracebacks and listings can show."""

import linecache
from itertools import count

_SERIAL = count()


def define(source, namespace):
    """The one function that `source` defines, with the names of `namespace` as its globals."""
    filename = f"<numbad {next(_SERIAL)}>"
    linecache.cache[filename] = len(source), None, source.splitlines(True), filename
    # The module's name is what Numba's disk cache imports to restore a function's environment.
    scope = {"__name__": "numbad", **namespace}
    before = set(scope) | {"__builtins__"}
    exec(compile(source, filename, "exec"), scope)
    (name,) = scope.keys() - before
    return scope[name]
