"""The user's source lines, and which function they belong to."""

import ast
import linecache
from functools import lru_cache


class Source:
    """The lines that a listing refers to; `loc` is the place of the function itself."""

    def __init__(self, loc):
        self.file = loc.filename
        self.own = _innermost(loc.filename, loc.line)

    def code(self, loc):
        """The text of a source line."""
        return linecache.getline(loc.filename, loc.line).strip()

    def where(self, line):
        """The number of a line; before it those of the calls that it lies in."""
        return self._path((*line.site, line.loc))

    def line_of(self, fn, label):
        """The same for the first line of a block of the primal."""
        return f"line {self._path((*fn.sites.get(label, ()), fn.blocks[label].loc))}"

    def _path(self, places):
        return " > ".join(dict.fromkeys(map(self._number, places)))

    def _number(self, loc):
        """The number of a line; with the name of its function, where that is another one."""
        function = _innermost(loc.filename, loc.line)
        if loc.filename == self.file and function == self.own:
            return str(loc.line)
        return f"{function[0] if function else loc.filename}:{loc.line}"


@lru_cache(maxsize=64)
def _functions(filename):
    """`(first line, last line, name)` of all functions in a file, inner ones last."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return ()
    found = [
        (min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.end_lineno, node.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return tuple(sorted(found))


def _innermost(filename, line):
    """The name and first line of the function that holds a line; None for a lambda, say."""
    around = [f for f in _functions(filename) if f[0] <= line <= f[1]]
    return (around[-1][2], around[-1][0]) if around else None
