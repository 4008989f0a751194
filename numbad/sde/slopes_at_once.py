"""The slopes of a block's sum, found with its value: reverse mode then draws the increments once, not twice.

Where the reducer returns one number, the sum of a block has one gradient, and a sweep back through the whole
program scales it by what comes in. Where tangents go beside the state, they give the gradient of the sum of
squares as well; else the block is evaluated again for a cotangent of the squares (the standard error is
differentiated).
"""

from itertools import count

import numpy as np
from numba import njit
from numba.core import types

from numbad.errors import UnsupportedError
from numbad.forward.access import partial, strip, unit
from numbad.forward.dual import Dual, duals_in
from numbad.forward.dualize import dualized
from numbad.ode.compiling import generic
from numbad.operators.argument_structure import leaves, mapped_type, parse, render
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


def with_slopes(differentiated, forward, parameters, tys, at_once, origin):
    """`recorded(*arguments) -> (sums, slopes)`; `slopes` is a tuple, a float for each of `y0` and `args`.

    They come from one pass of `forward` through dual numbers where `at_once(types of y0 and args)` says so,
    with those of the squares behind them; else from a sweep back through `differentiated`.
    """
    floats, content = _floats(tys), (differentiated, forward, parameters)

    def choose(*given):
        if _has_duals(given):
            nothing = "(" + "0.0, " * len(floats) + ")"
            lines, namespace = [f"return target({parameters}), {nothing}"], {}
            namespace["target"] = dualized(forward)
        elif at_once is not None and at_once(*_seeded_types(tys, len(floats))):
            lines, namespace = _by_tangents(forward, parameters, tys)
        else:
            lines, namespace = _by_sweep(differentiated, parameters, floats)
        text = "".join(f"    {line}\n" for line in lines)
        return define(f"def recorded({parameters}):\n{text}", namespace)

    stub = define(
        f"def recorded({parameters}):\n    raise NotImplementedError(content)\n",
        {"content": content},
    )
    return generic(stub, content, choose, origin)


def _by_sweep(differentiated, parameters, floats):
    """Lines that find the slopes by a sweep back, and the names in them."""
    wrt = tuple(sorted({k for k, _ in floats}))
    found = "".join(f"found[{k}]{source}, " for k, source in floats)
    nothing = "None, " * len(parameters.split(", "))
    lines = [
        f"sums, found = pull(({parameters}), ({nothing}), seed())",
        f"return sums, ({found})",
    ]
    return lines, {"pull": pullback(differentiated, wrt), "seed": _seed_of_sum}


def _seeded_types(tys, count):
    """The types with a dual number for each of `count` floats."""
    return [
        mapped_type(
            parse(ty, ""),
            lambda leaf: Dual(leaf.type, count, 0) if leaf.kind == "scalar" else leaf.type,
        )
        for ty in tys
    ]


def _by_tangents(forward, parameters, tys):
    """Lines that find the slopes by dual numbers, a partial for each float, and the names in them."""
    namespace, numbers = {"target": dualized(forward), "values_of": _values_of}, count()
    namespace |= {"unit": unit, "partial": partial}
    names = parameters.split(", ")
    trees = [parse(ty, name) for ty, name in zip(tys, names, strict=False)]
    n = sum(leaf.kind == "scalar" for tree in trees for leaf in leaves(tree))

    def seeded(leaf):
        return (
            f"unit({leaf.source}, {next(numbers)}, {n}, 0)"
            if leaf.kind == "scalar"
            else leaf.source
        )

    given = ", ".join([render(tree, seeded, namespace) for tree in trees] + names[len(trees) :])
    slopes = "".join(f"partial({of}[0], {k}), " for of in ("total", "squares") for k in range(n))
    lines = [
        f"total, squares, good, bad = target({given})",
        f"return (values_of(total), values_of(squares), good, bad), ({slopes})",
    ]
    return lines, namespace


@njit
def _values_of(numbers):
    """The values of an array with one dual number."""
    return np.full(1, strip(numbers[0]))


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
            lines = _lines(floats, tys, wrt, len(args), len(slopes) > len(floats))
        text = "".join(f"    {line}\n" for line in lines)
        return define(f"def pull({_PULL}):\n{text}", namespace)

    stub = define(
        f"def pull({_PULL}):\n    raise NotImplementedError(content)\n", {"content": content}
    )
    return generic(stub, content, choose, origin)


def _lines(floats, tys, wrt, count, with_squares):
    """Lines of the pullback for floats."""
    wanted = [(j, k, source) for j, (k, source) in enumerate(floats) if k in wrt]
    lines = [f"slope_{j} = seed[0][0] * slopes[{j}]" for j, _, _ in wanted]
    again = [] if with_squares else ["found = slow(args, shadows, seed)[1]"]
    for j, k, source in wanted:
        squares = f"slope_{j} + seed[1][0] * slopes[{j + len(floats)}]"
        again.append(f"slope_{j} = {squares if with_squares else f'found[{k}]{source}'}")
    lines += ["if seed[1][0] != 0.0:", *("    " + line for line in again)]
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
