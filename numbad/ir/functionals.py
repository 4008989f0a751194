"""The functions that take a function and return another one, or a number: operators, `quad`, solvers.

Each module that has some says here how they take what their function captures, for compiled code that
hands them closures: see `lifting`.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

FUNCTIONALS = {}
"""function -> its `Functional`."""


@dataclass(frozen=True)
class Functional:
    """How a function that takes a function is called, and given what the function captures.

    `takes` says where: "after" (the result takes it after the function's own arguments), "primals" (in the
    tuple that the result gets first), "args" (in the tuple of that name that the result gets third), or
    "own args" (in its own argument of that name: it returns no function).
    """

    function: Callable
    takes: str
    as_dispatcher: Callable
    fit: Callable = (
        None  # options, own arguments, captured arguments -> the options for all of them
    )
    leading: Callable = None  # options -> how many arguments of the function are not in "args"
    in_nopython: bool = True  # whether compiled code can call it with a dispatcher

    @property
    def name(self):
        return f"nd.{self.function.__name__}"

    @property
    def returns_function(self):
        return self.takes != "own args"

    @property
    def parameters(self):
        """The names of its parameters, of which the function is the first."""
        return list(inspect.signature(self.function).parameters)

    def applied(self, f, options, own=None, captured=0):
        """The result of the call with these options; `f` takes `captured` arguments after `own` others."""
        if captured and self.fit is not None:
            options = self.fit(dict(options), own, captured)
        result = self.function(f, **options)
        return marked(result, captured) if self.takes == "after" else result


_CAPTURED = "__numbad_captured__"


def marked(function, captured):
    """A function that says how many of its arguments, the last ones, a closure has captured."""
    if captured:
        setattr(getattr(function, "py_func", function), _CAPTURED, captured)
    return function


def captured_count(function):
    """How many of the arguments of a Python function a closure has captured."""
    return getattr(function, _CAPTURED, 0)


def functional(function, takes, as_dispatcher, **rest):
    """Let compiled code hand closures to a function."""
    FUNCTIONALS[function] = Functional(function, takes, as_dispatcher, **rest)


def functional_of(value):
    """The `Functional` of an object, None if it is none."""
    try:
        return FUNCTIONALS.get(value)
    except TypeError:  # unhashable
        return None
