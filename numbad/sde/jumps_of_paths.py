"""`jumps`: jumps of a path beside its diffusion, of a given rate or one that depends on the state."""

import math
from dataclasses import dataclass

from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target

from numbad.errors import ArgumentError, ModelError
from numbad.ode.compiling import as_dispatcher
from numbad.sde.poisson import MOST, candidate, count_candidates, is_taken, unit_of
from numbad.sde.state_source import check_vector, returned, spread, state_type


@dataclass(frozen=True)
class Jumps:
    """What `jumps` returns: `rate` is a number or a function, at most `bound`."""

    rate: object
    change: Dispatcher
    bound: float

    @property
    def content(self):
        """What compiled code depends on."""
        return self.rate, self.change, self.bound


def jumps(rate, change, *, bound=None):
    """Jumps of the solutions of `nd.sde.solver(..., jumps=...)`.

    Parameters
    ----------
    rate : float or function
        How many there are in a unit of time on average: a number, or `rate(t, y, *args)`,
        never above `bound`.
    change : function
        `change(t, y, mark, *args)` is the state after a jump from `y`. `mark` is a key of this jump alone,
        of which `nd.random.normal(mark, 0)` and the like are functions.
    bound : float, optional
        The highest rate, in 1 / time; of a number, itself.

    Returns
    -------
    Jumps

    Raises
    ------
    ArgumentError
        for what is no rate, no function, no bound; DataError when solved, for a rate that is not between 0
        and `bound`; UnsupportedError for derivatives by what the rate depends on, with the way out.

    Notes
    -----
    Candidates come at the rate `bound`, at times that are functions of the key, and are taken with
    probability rate / bound (Lewis & Shedler, 1979). A jump takes place at the end of the step in which it
    falls, and the rate is that there: the error is of order 1 in `dt`. Events within a step come before its
    jumps, none of which happens after a terminal one; a jump that changes the sign of a condition leads to
    that event. Derivatives are those of a path whose jumps stay, and the events at them.

    Examples
    --------
    Merton's model (1976), and the slope of a path by the mean size of its jumps:

    >>> import math
    >>> import numbad as nd
    >>> def jump(t, y, mark, mean):
    ...     return y * math.exp(mean + 0.1 * nd.random.normal(mark, 0))
    >>> solve = nd.sde.solver(lambda t, y, mean: 0.05 * y, lambda t, y, mean: 0.2 * y,
    ...                       jumps=nd.sde.jumps(3.0, jump), dt=0.01)
    >>> key = nd.random.key(2)
    >>> end = lambda mean: math.log(solve(1.0, (0.0, 1.0), (mean,), key)[-1, 0])
    >>> round(nd.derivative(end)(-0.1), 9)                                          # how many there were
    3.0
    """
    if isinstance(rate, int | float) and not isinstance(rate, bool):
        rate = float(rate)
        bound = rate if bound is None else bound
    else:
        rate = as_dispatcher(rate, "rate")
    if bound is None:
        raise ArgumentError("a rate that is a function has a bound: give bound=, the highest rate")
    try:
        bound = float(bound)
    except (TypeError, ValueError):
        raise ArgumentError(f"bound must be a float, not {bound!r}") from None
    if not 0.0 < bound < math.inf or (isinstance(rate, float) and not 0.0 <= rate <= bound):
        raise ArgumentError(f"rates lie between 0 and a positive bound, not {rate!r} and {bound!r}")
    return Jumps(rate, as_dispatcher(change, "change"), bound)


def check_jumps(given, scheme, adjoint, dt):
    """Raise ArgumentError where jumps do not go with a method, an adjoint, a step size."""
    if not isinstance(given, Jumps):
        raise ArgumentError(f"jumps must be what nd.sde.jumps returned, not {given!r}")
    if scheme.carries:
        raise ArgumentError(
            f"method {scheme.name!r} goes on from more than the state, which jumps do not change. Way "
            "out: method='Heun'"
        )
    if adjoint not in ("auto", "discrete", "forward"):
        raise ArgumentError(
            f"adjoint={adjoint!r} does not go back over jumps. Way out: adjoint='discrete', with "
            "checkpoints= where memory is scarce"
        )
    if given.bound * dt > MOST:
        raise ArgumentError(
            f"a step has {given.bound * dt:.3g} candidates of jumps on average; {MOST:.0f} at most. Way "
            "out: a smaller dt or bound"
        )


def names_of_jumps(given):
    """The names that the lines of `jump_lines` use."""
    names = {"count_candidates": count_candidates, "candidate": candidate, "is_taken": is_taken}
    names["unit_of"] = unit_of
    rate = {} if isinstance(given.rate, float) else {"rate": given.rate}
    return {**names, "change": given.change, **rate}


def jump_lines(given, form, y, dt, landing=None):
    """Lines after a step `k` in which jumps are taken, from the state in `y`.

    `landing` are lines that move it over the jump, to what the names in "n" hold, and set `over`.
    """
    _check_types(given, form)
    time, state = "t + h", form.state(y)
    rate = repr(given.rate)
    if not isinstance(given.rate, float):
        rate = f"rate({time}, {state}{form.arguments()})"
    members = [f"after[{c}]" for c in range(form.count)] if form.is_tuple else ["after"]
    new = y if landing is None else form.names("n")
    landed = [] if landing is None else [*landing, "if over == 1.0:", "    break"]
    return [
        f"for c in range(count_candidates(number, path, cells[k], {given.bound * dt!r})):",
        "    place, level, mark = candidate(number, path, cells[k], c)",
        "    if place >= parts[k, 0] and place < parts[k, 1]:",
        f"        chance = {rate}",
        f"        if is_taken(chance, level, {given.bound!r}):",
        "            one = unit_of(chance)",
        f"            after = change({time}, {state}, mark{form.arguments()})",
        *(
            f"            {name} = {source} * one"
            for name, source in zip(new, members, strict=True)
        ),
        *("            " + line for line in landed),
    ]


def _check_types(given, form):
    """Raise ModelError for functions that do not fit the state."""
    typingctx, rest = cpu_target.typing_context, spread(form.args)
    state = types.float64, state_type(form.y0)
    if not isinstance(given.rate, float):
        found = returned(typingctx, given.rate, (*state, *rest))
        if not isinstance(found, types.Float | types.Integer):
            raise ModelError(f"the rate of jumps must return a number; it returns {found}")
    after = returned(typingctx, given.change, (*state, types.uint64, *rest))
    check_vector("change of a jump", after, form.count)
