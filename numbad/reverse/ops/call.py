"""Calls: callees whose code is put in place, and those with a pullback of their own."""

from .base import Unknown


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
    """`nd.stop_gradient(x)`: a constant for the derivative, refused where it is written to."""

    linear = True

    def analyse(self):
        pass

    def construct(self):
        return "a write of differentiated values into what nd.stop_gradient returned"


class StandIn(Unknown):
    """A statement that a jitted helper does with scalar loops; the helper's code takes its place."""

    expandable = True

    def __init__(self, fn, label, statement, helper, arguments, writes=None):
        self.dispatcher, self.arguments, self.written = helper, list(arguments), writes
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

    def writes(self):
        return False  # but for what `analyse` adds

    def fresh(self):
        return self.written is None
