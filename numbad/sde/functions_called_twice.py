"""Whether a drift or a diffusion reads what an earlier call has left in an array in args.

Adjoints that go back along a path, or forward along it once more, call both functions in another order than
the solution did: each is called twice before, see `numbad.ode.adjoints.left_in_args`.
"""

from dataclasses import replace

from numba.core import types
from numba.core.registry import cpu_target

from numbad.ode.adjoints.left_in_args import REMEMBERS, called_twice
from numbad.ode.complaint import returned_type
from numbad.sde.stretch_source import core


def called_again(problem, y0, args, *order):
    """The problem whose functions are called twice, `keep(args)`, `put_back(args, kept)`, the type of `kept`.

    `order` says in messages what calls them in another order, and what does not. None for types of arguments
    in which neither drift nor diffusion changes an array.
    """
    functions = [
        (problem.drift, 2, REMEMBERS.format("the drift", *order)),
        (problem.diffusion, 2, REMEMBERS.format("the diffusion", *order)),
    ]
    found = called_twice(functions, y0, args)
    if found is None:
        return None
    (drift, diffusion), keep, put_back = found
    twice = replace(problem, drift=drift, diffusion=diffusion)
    kept = types.unliteral(returned_type(cpu_target.typing_context, keep, (args,)))
    return twice, keep, put_back, kept


def repeatable(problem, y0, ts, args, key):
    """The functions `keep(args)`, `try_out(y0, ts, kept, key)` and `put_back(args, kept)`.

    `try_out` solves, and raises ModelError where a function remembers. None where `called_again` is.
    """
    order = f"adjoint={problem.adjoint!r}", 'adjoint="discrete"'
    found = called_again(problem, y0, args, *order)
    if found is None:
        return None
    twice, keep, put_back, kept = found
    return keep, core(twice, y0, ts, kept, key), put_back


def trial(problem, y0, ts, args, key):
    """Lines that try out the functions of a problem for `y0`, `ts`, `args` and `key`; the names in them."""
    found = repeatable(problem, y0, ts, args, key)
    if found is None:
        return [], {}
    lines = ["kept = keep(args)", "try_out(y0, ts, kept, key)", "put_back(args, kept)"]
    return lines, dict(zip(("keep", "try_out", "put_back"), found, strict=True))
