"""Reverse mode by forward mode along the path: dual numbers for all that is differentiated, nothing kept."""

from numba.core import types

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.errors import UnsupportedError
from numbad.forward.dual import duals_in, primal_type
from numbad.forward.dualize import replacement
from numbad.ode.compiling import generic
from numbad.operators import grad
from numbad.operators.argument_structure import leaves, parse, render
from numbad.operators.runtime import add_into
from numbad.sde.functions_called_twice import repeatable
from numbad.sde.grid import BY_TIMES
from numbad.sde.model_names import function_of
from numbad.sde.stretch_source import core
from numbad.source import define

_TIMES = 1


def forward_pullback(problem, wrt, origin):
    """`pull(args, shadows, seed) -> (ys, adjoints)`."""
    if _TIMES in wrt:
        raise UnsupportedError(BY_TIMES)
    content = "forward", wrt, *problem.content

    def choose(*given):
        tys = tuple(types.unliteral(primal_type(ty)) for ty in given[0])
        return _written(problem, wrt, tys, any(any(duals_in(ty)) for ty in given))

    text = "def pull(args, shadows, seed):\n    raise NotImplementedError(content)\n"
    return generic(define(text, {"content": content}), content, choose, origin)


@built_once(lambda solve, *_: solve)
def _gradient(solve, wrt):
    """The gradient of the outputs' sum, weighted by a seed."""
    lines = [
        "ys, total = solve(y0, ts, args, key), 0.0",
        "for i in range(ys.shape[0]):",
        "    for c in range(ys.shape[1]):",
        "        total += seed[i, c] * ys[i, c]",
        "return total",
    ]
    weighted = function_of("weighted(y0, ts, args, key, seed)", lines, {"solve": solve})
    return grad(jit(error_model="numpy", nogil=True)(weighted), wrt, mode="forward")


def _written(problem, wrt, tys, of_duals):
    solve = core(problem, *tys)
    found, before, between, kept = repeatable(problem, *tys), [], [], {}
    if found is not None:  # as the functions may read what earlier calls have left
        keep, _, put_back = found
        before, between = ["kept = keep(args)"], ["put_back(args, kept)"]
        kept = {"keep": keep, "put_back": put_back}
    namespace = {
        **kept,
        "solve": replacement(solve) if of_duals else solve,
        "gradient": _gradient(solve, wrt),
        "add_into": add_into,
    }
    lines = [
        "y0, ts, args, key = args",
        *before,
        "ys = solve(y0, ts, args, key)",
        *between,
        "found = gradient(y0, ts, args, key, seed)",
    ]
    parts = ["None"] * len(tys)
    for j, k in enumerate(wrt):
        by, shadows = parse(tys[k], f"found[{j}]"), leaves(parse(tys[k], f"shadows[{k}]"))
        for leaf, shadow in zip(leaves(by), shadows, strict=True):
            if leaf.kind == "array":
                lines.append(f"add_into({shadow.source}, {leaf.source})")
        parts[k] = render(
            by, lambda leaf: leaf.source if leaf.kind == "scalar" else "None", namespace
        )
    lines.append(f"return ys, ({', '.join(parts)})")
    return function_of("pull(args, shadows, seed)", lines, namespace)
