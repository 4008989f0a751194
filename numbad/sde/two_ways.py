"""A function compiled from one code for its values and from another one for its derivatives."""

from numbad.forward.dual import duals_in
from numbad.forward.dualize import dualized
from numbad.ode.by_structure import around_core
from numbad.ode.compiling import GenericDispatcher, generic, relink
from numbad.reverse import pullback
from numbad.source import define


class TwoWaysDispatcher(GenericDispatcher):
    """Calls `values`; derivatives are those of `differentiated`, which returns the same.

    Reverse mode keeps the arguments of a call alone and evaluates it again, as `nd.checkpoint` does.
    """

    numbad_changes = False

    slopes = (
        None  # `(recorded, pull_at)` where slopes are found with the values, see `slopes_at_once`
    )

    def before_derivatives(self):
        """Called when code for derivatives is asked for."""

    def numbad_pullback(self, wrt):
        self.before_derivatives()
        return pullback(self.differentiated, wrt)

    @property
    def numbad_pullback_at(self):
        return None if self.slopes is None else self.slopes[1]


class AtOnceDispatcher(TwoWaysDispatcher):
    """The same, with slopes of its own beside the values."""

    def numbad_recorded(self):
        self.before_derivatives()
        return self.slopes[0]


def two_ways(
    values, differentiated, parameters, origin, slopes=None, before_derivatives=None, forward=None
):
    """The dispatcher; `origin` is a function and arguments for which it is made again.

    `before_derivatives()` is called when code for derivatives is asked for. Dual numbers go through `forward`
    where that is another dispatcher.
    """
    forward = forward or differentiated
    content = values, differentiated, forward
    namespace = {"content": content}
    stub = define(f"def block({parameters}):\n    raise NotImplementedError(content)\n", namespace)

    def choose(*given):
        if not any(True for ty in given for _ in duals_in(ty)):
            return values.py_func
        made.before_derivatives()
        call = f"def block({parameters}):\n    return target({parameters})\n"
        return define(call, {"target": dualized(forward)})

    kind = TwoWaysDispatcher if slopes is None else AtOnceDispatcher
    made = generic(stub, content, choose, origin, kind)
    if users := getattr(values, "users", ()):
        relink(made, content, lambda given: around_core(values, users, given))
    made.differentiated, made.slopes = differentiated, slopes
    if before_derivatives is not None:
        made.before_derivatives = before_derivatives
    return made
