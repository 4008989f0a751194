"""The names that a model file defines, each checked as it is read; complaints name the file and the line."""

import difflib
import inspect
import math
from numbers import Real

from numbad.errors import ModelError
from numbad.models.running import definitions, unused


class Reader:
    """What a file defines; the names in `known` mean something."""

    def __init__(self, path, source, names, known):
        self.path = path
        self.names = names
        self.known = known
        self.lines = definitions(source)
        self.unused = unused(source)

    def get(self, name, default=None):
        return self.names.get(name, default)

    def error(self, name, complaint):
        line = self.lines.get(name)
        place = f"{self.path}, line {line}" if line else str(self.path)
        return ModelError(f"{place}: {complaint}")

    def check_names(self):
        """Complain of what looks like a slip of the pen."""
        for name in self.lines:
            if name in self.known or name.startswith("_"):
                continue
            close = difflib.get_close_matches(name, self.known, n=1, cutoff=0.8)
            if close and close[0] not in self.names:
                raise self.error(name, f"'{name}' means nothing here; did you mean '{close[0]}'?")

    def check_options(self):
        """Complain of a value that nothing uses: an option, which the fit would go on without."""
        for name in self.lines:
            if name in self.unused and name not in self.known and not name.startswith("_"):
                raise self.error(
                    name,
                    f"'{name}' is no option, and nothing in the file uses it; the options are"
                    f" {', '.join(self.known)} (a name of your own may begin with an underscore)",
                )

    def function(self, name, parameters="t, y, ..."):
        """Return a Python function or a Numba dispatcher."""
        value = self.get(name)
        if not inspect.isfunction(getattr(value, "py_func", value)):
            raise self.error(name, f"'{name}' must be a function {name}({parameters})")
        return value

    def numbers(self, name, value=None):
        """Return a dict of names to finite floats."""
        value = self.get(name) if value is None else value
        if not isinstance(value, dict):
            raise self.error(name, f"{name} must be a dict: name -> number")
        for key, number in value.items():
            if not isinstance(key, str):
                raise self.error(name, f"{name} has the key {key!r}, which is not a name")
            if not is_number(number):
                raise self.error(name, f"{name}['{key}'] is {number!r}, not a finite number")
        return {key: float(number) for key, number in value.items()}

    def mapping(self, name):
        value = self.get(name, {})
        if not isinstance(value, dict):
            raise self.error(name, f"{name} must be a dict, not {value!r}")
        return dict(value)

    def word(self, name, choices=()):
        """Return a text, one of the choices if there are any."""
        value = self.get(name)
        if not isinstance(value, str) or (choices and value not in choices):
            wanted = f"one of {', '.join(choices)}" if choices else "a text"
            raise self.error(name, f"{name} must be {wanted}, not {value!r}")
        return value

    def experiment(self):
        """Return the column that names the experiments, or None."""
        for name in ("own", "conditions"):
            if name in self.lines and "experiment" not in self.names:
                raise self.error(
                    name, f"'{name}' is about several experiments: experiment = 'column' names them"
                )
        return self.word("experiment") if "experiment" in self.names else None

    def conditions(self):
        """Return parameter or component -> column."""
        found = self.mapping("conditions")
        for name, column in found.items():
            if not isinstance(column, str):
                said = f"conditions[{name!r}] must be a column's name, not {column!r}"
                raise self.error("conditions", said)
        return found


def is_number(value):
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def listed(value):
    """Return a list, tuple or array as a list, None for anything else."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return list(value) if isinstance(value, list | tuple) else None
