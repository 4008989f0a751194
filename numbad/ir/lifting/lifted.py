"""The function that takes what a closure captures as arguments.

It is written as source that makes the closure and calls it, into which the user's own code is put:

    def g(t, a):
        def _0(t):
            return (a,)  # whose code gives way to that of the closure
        return _0(t)

Numba puts the call's code in place, so that nothing is left of the detour.
"""

import ast
from dataclasses import replace
from types import CellType, CodeType, FunctionType

from ..functionals import marked
from .function_meaning import Applied, Closure, PythonObject, Snapshot, Value, innermost


class Lifted:
    """Writes `function(*own, *captured)` for what a `Closure` or `Applied` means."""

    def __init__(self, own, captured):
        self.own = own  # the names of the arguments that it is called with
        self._constants = {}  # name -> object
        self._codes = {}  # name -> code of a closure
        self._lines = []
        self._taken = set(own)
        self._names = {}  # of what is captured
        for meaning, like in captured:
            self._names[meaning.key()] = self._new(like)

    def written(self, meaning, namespace):
        """The function."""
        if isinstance(meaning, Closure):
            given = [*self.own, *self._defaults(meaning)]
            made = self._closure(replace(meaning, defaults=()))
        else:
            given, made = self.own, self._function(meaning)
        return self._define(
            innermost(meaning).code, f"return {made}({', '.join(given)})", namespace
        )

    def _define(self, code, last, namespace):
        parameters = ", ".join([*self.own, *self._names.values()])
        body = "\n".join(f"        {line}" for line in [*self._lines, last])
        constants = ", ".join(self._constants)
        source = (
            f"def make({constants}):\n    def lifted({parameters}):\n{body}\n    return lifted\n"
        )
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if hasattr(node, "lineno"):
                node.lineno = node.end_lineno = code.co_firstlineno
        scope = {}
        exec(compile(tree, code.co_filename, "exec"), namespace, scope)
        function = scope["make"](**self._constants)
        names = {"co_name": code.co_name, "co_qualname": code.co_qualname}
        function.__code__ = _with_codes(function.__code__, self._codes).replace(**names)
        function.__name__, function.__qualname__ = code.co_name, code.co_qualname
        return marked(function, len(self._names))

    def _new(self, name):
        """A name that is not taken yet."""
        name = name if name.isidentifier() else "_given"
        found, k = name, 0
        while found in self._taken:
            k += 1
            found = f"{name}_{k}"
        self._taken.add(found)
        return found

    def _name(self, meaning, like):
        """What a captured thing is called in the function."""
        if isinstance(meaning, Closure | Applied):
            return self._function(meaning)
        if isinstance(meaning, PythonObject):
            name = self._new(like)
            self._constants[name] = meaning.value
            return name
        return self._names[meaning.key()]

    def _function(self, meaning):
        if isinstance(meaning, PythonObject):
            return self._name(meaning, getattr(meaning.value, "__name__", "_f"))
        return self._applied(meaning) if isinstance(meaning, Applied) else self._closure(meaning)

    def _applied(self, meaning):
        function = self._function(meaning.function)
        operator = self._name(PythonObject(meaning.functional.function), meaning.name)
        options = (f"{name}={self._name(PythonObject(v), name)}" for name, v in meaning.options)
        made = self._new("_applied")
        self._lines.append(f"{made} = {operator}({', '.join([function, *options])})")
        return made

    def _closure(self, meaning):
        names = meaning.code.co_freevars
        cells = [self._name(part, name) for part, name in zip(meaning.cells, names, strict=True)]
        if cells != sorted(set(cells)):  # Python sorts what a function captures
            aliases = [self._new(f"_cell{k:03}_") for k in range(len(cells))]
            self._lines += [f"{new} = {old}" for new, old in zip(aliases, cells, strict=True)]
            cells = aliases
        made = self._new("_closure")
        self._codes[made] = meaning.code
        required, optional = self._split(meaning)
        given = [f"{p}={d}" for p, d in zip(optional, self._defaults(meaning), strict=True)]
        body = "".join(f"{cell}, " for cell in cells)
        self._lines.append(f"def {made}({', '.join([*required, *given])}): return ({body})")
        return made

    @staticmethod
    def _split(meaning):
        return meaning.parameters[: meaning.required], meaning.parameters[meaning.required :]

    def _defaults(self, meaning):
        optional = self._split(meaning)[1]
        return [self._name(d, p) for d, p in zip(meaning.defaults, optional, strict=True)]


def captured_by(meaning, like="_given"):
    """`(Value or Snapshot, name)` of all that a function needs from the run time, each once."""
    if isinstance(meaning, Value | Snapshot):
        return [(meaning, like)]
    names = [like]
    if isinstance(meaning, Closure):
        optional = meaning.parameters[meaning.required :]
        names = [*meaning.code.co_freevars, *optional]
    found = {}
    for part, name in zip(getattr(meaning, "parts", ()), names, strict=False):
        for needed, called in captured_by(part, name):
            found.setdefault(needed.key(), (needed, called))
    return list(found.values())


def shape(meaning, captured):
    """What tells two functions apart whose captured values have the same numbers."""
    numbers = {needed.key(): k for k, (needed, _) in enumerate(captured)}

    def of(part):
        if part.key() in numbers:
            return numbers[part.key()]
        own = part.key() if isinstance(part, PythonObject) else part.identity
        return own, *map(of, getattr(part, "parts", ()))

    return of(meaning)


def _with_codes(code, codes):
    """A code object with the code of the functions in it that have these names replaced."""
    constants = tuple(
        codes.get(c.co_name, c) if isinstance(c, CodeType) else c for c in code.co_consts
    )
    return code.replace(co_consts=constants)


def plain(meaning, namespace):
    """The function of a closure that captures constants alone, just as it is."""
    cells = tuple(CellType(cell.value) for cell in meaning.cells)
    defaults = tuple(default.value for default in meaning.defaults)
    function = FunctionType(meaning.code, namespace, meaning.name, defaults or None, cells or None)
    function.__qualname__ = meaning.code.co_qualname
    return function
