"""States that a solver does not take as they are, put into vectors or tuples of floats that it takes.

Each function of the user's gets the state in the form of `y0`. What it has to know of `y0` beyond its type
comes in before the other arguments. All of it is differentiated as code of the user's is.
"""

from dataclasses import dataclass

from numba.core import types
from numba.core.registry import cpu_target

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.ode.complaint import returned_type
from numbad.ode.rhs import is_plain_tuple, members
from numbad.source import define

PARAMETERS = "y0, ts, args=()"


class StateForm:
    """A form of states, as source text. Equal forms have the same code, so that they have a hash."""

    extra = ()  # names of what functions get before the other arguments

    @property
    def names(self):
        """What the code refers to."""
        return {}

    def extra_of(self, y0):
        """Source of what belongs to `extra`."""
        return ()

    def user_type(self, y0):
        """The type in which the user's functions get a state, for one of `y0`."""
        raise NotImplementedError

    def given(self, y):
        """Source of the state as the user's functions get it."""
        raise NotImplementedError

    def taken(self, what, found, ty):
        """Source lines that return a result `found` of the user's, of a type, as a state.

        Raises ModelError where it is none.
        """
        raise NotImplementedError

    def written(self, call):
        """Source lines for a right-hand side that writes its result; `call(dy)` is its call."""
        raise NotImplementedError

    def jacobian(self, found):
        """Source of a Jacobian by components of the solver's state."""
        raise NotImplementedError

    def start(self, y0):
        """Source of the initial state."""
        raise NotImplementedError

    def rows(self, ys):
        """Source of a table of states in the user's form, of one of the solver's."""
        raise NotImplementedError


@dataclass(frozen=True)
class _Translation:
    """The form, and the number of further arguments, None where they are one that is no tuple."""

    form: StateForm
    count: int | None

    @property
    def extra(self):
        return "".join(f"{name}, " for name in self.form.extra)

    @property
    def others(self):
        return "".join(f"a{k}, " for k in range(1 if self.count is None else self.count))

    @property
    def passed(self):
        """What a solver is given as args."""
        extra = "".join(f"{source}, " for source in self.form.extra_of("y0"))
        own = "args, " if self.count is None else "".join(f"args[{k}], " for k in range(self.count))
        return f"({extra}{own})"


def solver_of_form(form, build, problem, events, keeps, argtypes):
    """The jitted `solve(y0, ts, args)` for a state of a form, of types without duals.

    `build(problem, events)` is the solver for the state that it takes; `keeps`, whether it returns events.
    """
    y0, _, *given = argtypes
    args = given[0] if given and not isinstance(given[0], types.Omitted) else types.Tuple(())
    changed = translated(form, problem, events, y0, args)
    return _around(build(*changed), _translation(form, args), keeps)


def _translation(form, args):
    return _Translation(form, len(args) if is_plain_tuple(args) else None)


def translated(form, problem, events, y0, args):
    """The problem and the events for the state that the solver takes."""
    translation, rest = _translation(form, args), members(args)
    y = form.user_type(y0)
    given = types.float64, y
    found = _returned(problem.fun, (*given, *((y,) if problem.inplace else ()), *rest))
    if problem.inplace:
        fun = _written(problem.fun, translation)
    else:
        lines = form.taken("the right-hand side", "found", found)
        fun = _function(problem.fun, translation, "", lines)
    jac = problem.jac
    if jac is not None:
        jac = _function(jac, translation, "", f"    return {form.jacobian('found')}\n")
    own = tuple(_event(event, translation, given, rest) for event in events)
    return problem._replace(fun=fun, jac=jac), own


@built_once(lambda solve, *_: solve)
def _around(solve, translation, keeps):
    form = translation.form
    given = f"on_plain({form.start('y0')}, ts, {translation.passed})"
    if keeps:
        body = (
            f"    ys, times, states, numbers = {given}\n"
            f"    return {form.rows('ys')}, times, {form.rows('states')}, numbers\n"
        )
    else:
        body = f"    ys = {given}\n    return {form.rows('ys')}\n"
    made = define(f"def solve({PARAMETERS}):\n{body}", {"on_plain": solve, **form.names})
    return jit(made, error_model="numpy", nogil=True)


def call_in_form(form, args, call, result, names, *further):
    """The jitted function `(y0, args=())` whose result is `call(y0, args)` for states that a solver takes.

    `call(start, passed)` gives its source, and `result` the source of what is returned of `found`. There may
    be `further` parameters, by their names.
    """
    found = call(form.start("y0"), _translation(form, args).passed)
    parameters = ", ".join(("y0", "args" if further else "args=()", *further))
    text = f"def in_form({parameters}):\n    found = {found}\n    return {result}\n"
    return jit(define(text, {**names, **form.names}), error_model="numpy", nogil=True)


@built_once(lambda function, *_: function)
def _function(function, translation, number, lines, timed=True):
    """A function of the user's for the solver's state; `lines` return what becomes of `found`.

    `number` is "k, " where the number of a time comes after the state; without `timed` it gets neither.
    """
    begin = f"t, y, {number}" if timed else ""
    given = f"t, {translation.form.given('y')}, {number}" if timed else ""
    call = f"function({given}{translation.others})"
    head = f"def translated({begin}{translation.extra}{translation.others}):\n"
    return _jitted(f"{head}    found = {call}\n{lines}", function, translation)


@built_once(lambda function, *_: function)
def _written(function, translation):
    """A right-hand side that writes its result, for the solver's state."""
    form = translation.form

    def call(dy):
        return f"function(t, {form.given('y')}, {dy}, {translation.others})"

    head = f"def translated(t, y, dy, {translation.extra}{translation.others}):\n"
    return _jitted(head + form.written(call), function, translation)


def _jitted(source, function, translation):
    made = define(source, {"function": function, **translation.form.names})
    made.__name__ = made.__qualname__ = function.py_func.__name__
    return jit(made, error_model="numpy")


def _event(event, translation, given, rest):
    """An event for the solver's state."""
    own, plain = {}, "    return found\n"
    if event.condition is not None:
        _returned(event.condition, (*given, *rest))
        own["condition"] = _function(event.condition, translation, "", plain)
    if event.times is not None:
        own["times"] = _function(event.times, translation, "", plain, False)
    if event.change is not None:
        number = () if event.times is None else (types.intp,)
        found = _returned(event.change, (*given, *number, *rest))
        lines = translation.form.taken("the change of an event", "found", found)
        own["change"] = _function(event.change, translation, "k, " if number else "", lines)
    return event._replace(**own)


def _returned(fun, given):
    return returned_type(cpu_target.typing_context, fun, given)
