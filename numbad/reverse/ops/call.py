"""Calls: callees whose code is put in place, and those with a pullback of their own."""

import inspect

from numba import njit

from ...compilation.memo import built_once
from ...rules.registry import CONSTANT_CALLS
from ...source import define
from .base import Unknown


@built_once(lambda dispatcher: dispatcher)
def raises(dispatcher):
    """A function with the parameters of a dispatcher that tells whether it raises an exception."""
    names = ", ".join(inspect.signature(dispatcher.py_func).parameters)
    lines = [f"def raises({names}):", "    try:", f"        called({names})"]
    lines += ["    except Exception:", "        return True", "    return False"]
    made = njit(define("\n".join(lines) + "\n", {"called": dispatcher}))
    CONSTANT_CALLS.add(made)
    return made


class PlainCall(Unknown):
    """A call of compiled Python code, which can be put in its place."""

    expandable = True

    def __init__(self, fn, label, statement, dispatcher, owner=None):
        self.dispatcher, self.owner = dispatcher, owner
        super().__init__(fn, label, statement)

    def read(self):
        return [*self._reads(self.statement), *([self.owner] if self.owner else [])]


class Pure(Unknown):
    """A call of a function of NumPy's without a rule here: it changes nothing that goes in."""

    repeatable = True

    def writes(self):
        return False

    def fresh(self):
        return False


class StopGradient(Unknown):
    """What returns its argument as a constant of the derivative, refused where it is written to."""

    linear = True

    def analyse(self):
        pass

    def construct(self):
        return "a write of differentiated values into what is a constant of derivatives"


class StandIn(Unknown):
    """A statement that a jitted helper does with scalar loops; the helper's code takes its place."""

    expandable = True

    def __init__(self, fn, label, statement, helper, arguments, writes=None, changes=True):
        """`changes` is False for a function that changes nothing, not even a hidden state."""
        self.dispatcher, self.arguments, self.written = helper, list(arguments), writes
        self.changes = changes
        super().__init__(fn, label, statement)

    def analyse(self):
        super().analyse()
        if self.written is not None:
            self._into(self.written.name)

    def _into(self, name):
        """What goes in may end up in the array that is written to."""
        self.stores.append((name, ()))
        for var in self.arguments:
            for source, _ in self.leaves(var):
                if source[0] != name:
                    self.flows.append((source, (name, ())))

    def read(self):
        return self.arguments

    def zero_test(self):
        """A function that changes nothing is run before, where what it raises is handled."""
        return None if self.changes else (raises(self.dispatcher), self.arguments)

    def writes(self):
        return False  # but for what `analyse` adds

    def fresh(self):
        return self.written is None
