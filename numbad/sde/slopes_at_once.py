"""The slopes of a block's sum, found with its value: reverse mode then draws the increments once, not twice.

Where the reducer returns one number, the sum of a block has one gradient, and a sweep back through the whole
program scales it by what comes in. Only for a cotangent of the squares (the standard error is differentiated)
is the block evaluated again.
"""

import numpy as np
from numba import njit
from numba.core import types

from numbad.errors import UnsupportedError
from numbad.forward.dual import duals_in
from numbad.forward.dualize import dualized
from numbad.ode.compiling import generic
from numbad.operators.argument_structure import leaves, parse, render
from numbad.reverse import pullback
from numbad.sde.grid import BY_TIMES
from numbad.source import define

_PULL = "args, shadows, seed, slopes"
_SMOOTH = 2  # how many of the arguments of a block are differentiated: y0 and args


@njit
def _seed_of_sum():
    return np.ones(1), np.zeros(1), None, None


def is_plain(ty):
    """Whether an argument is a number or a plain tuple of numbers."""
    if isinstance(ty, types.BaseTuple) and not isinstance(ty, types.BaseNamedTuple):
        return all(isinstance(member, types.Number) for member in ty)
    return isinstance(ty, types.Number)


def _floats(tys):
    """`(argument, source in it)` of the floats of `y0` and `args`."""
    return [
        (k, leaf.source)
        for k, ty in enumerate(tys)
        for leaf in leaves(parse(ty, ""))
        if leaf.kind == "scalar"
    ]


def _has_duals(tys):
    return any(True for ty in tys for _ in duals_in(ty))


def with_slopes(differentiated, parameters, tys, origin):
    """`recorded(*arguments) -> (sums, slopes)`; `slopes` is a tuple, a float for each of `y0` and `args`."""
    floats = _floats(tys)
    wrt = tuple(sorted({k for k, _ in floats}))
    names = parameters.split(", ")
    content = differentiated, wrt, parameters

    def choose(*given):
        if _has_duals(given):
            nothing = "(" + "0.0, " * len(floats) + ")"
            call = f"return target({parameters}), {nothing}"
            namespace = {"target": dualized(differentiated)}
        else:
            found = "".join(f"found[{k}]{source}, " for k, source in floats)
            call = (
                f"sums, found = pull(({parameters}), ({'None, ' * len(names)}), seed())\n"
                f"    return sums, ({found})"
            )
            namespace = {"pull": pullback(differentiated, wrt), "seed": _seed_of_sum}
        return define(f"def recorded({parameters}):\n    {call}\n", namespace)

    stub = define(
        f"def recorded({parameters}):\n    raise NotImplementedError(content)\n",
        {"content": content},
    )
    return generic(stub, content, choose, origin)


def pull_at(differentiated, tys, wrt, origin):
    """`pull(args, shadows, seed, slopes) -> (value, adjoints)`, for slopes that are known."""
    if any(k >= _SMOOTH for k in wrt):
        raise UnsupportedError(BY_TIMES)
    floats, slow = _floats(tys), pullback(differentiated, wrt)
    content = differentiated, wrt

    def choose(args, shadows, seed, slopes):
        namespace = {"slow": slow}
        if _has_duals((args, seed)):
            lines = ["return slow(args, shadows, seed)"]
        else:
            lines = _lines(floats, tys, wrt, len(args))
        text = "".join(f"    {line}\n" for line in lines)
        return define(f"def pull({_PULL}):\n{text}", namespace)

    stub = define(
        f"def pull({_PULL}):\n    raise NotImplementedError(content)\n", {"content": content}
    )
    return generic(stub, content, choose, origin)


def _lines(floats, tys, wrt, count):
    """Lines of the pullback for floats."""
    wanted = [(j, k, source) for j, (k, source) in enumerate(floats) if k in wrt]
    lines = ["if seed[1][0] != 0.0:", "    found = slow(args, shadows, seed)[1]"]
    lines += [f"    slope_{j} = found[{k}]{source}" for j, k, source in wanted]
    lines += ["else:", *(f"    slope_{j} = seed[0][0] * slopes[{j}]" for j, _, _ in wanted)]
    parts = ["None"] * count
    for k in wrt:
        numbers = iter([j for j, owner, _ in wanted if owner == k])
        tree = parse(tys[k], "")
        parts[k] = render(
            tree,
            lambda leaf, n=numbers: f"slope_{next(n)}" if leaf.kind == "scalar" else "None",
            {},
        )
    return [*lines, f"return 0.0, ({''.join(part + ', ' for part in parts)})"]
