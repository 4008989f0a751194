"""The pullback by forward sensitivities: the gradient, in dual numbers, of the solution times the seed.

It also stands in for a sweep back through steps where output times are dual numbers.
"""

from numba.core import types
from numba.core.registry import cpu_target

from numbad.compilation.memo import built_once
from numbad.forward.dual import base_scalar, duals_in, with_base
from numbad.forward.promote import common_dual
from numbad.ode.compiling import generic
from numbad.ode.integrate import content_of, dispatcher_of
from numbad.ode.state import plain
from numbad.operators.argument_structure import leaves, parse, render
from numbad.operators.first_order import value_and_grad
from numbad.operators.generated_names import Writer, indented
from numbad.operators.runtime import add_into
from numbad.source import define


@built_once(dispatcher_of)
def forward_pullback(problem, settings, wrt, solve):
    """The dispatcher `pull(args, shadows, seed) -> (ys, adjoints)` of the solver `solve`."""
    content = "forward", *content_of(problem), tuple(settings), wrt

    def pull_forward(args, shadows, seed):
        raise NotImplementedError(content)

    def choose(*argument_types):
        return gradient_in_duals(solve, wrt, *argument_types)

    origin = forward_pullback, (problem, settings, wrt, solve)
    return generic(pull_forward, content, choose, origin)


def have_duals(ts):
    """Whether output times of a type are differentiated in forward mode."""
    return any(duals_in(ts))


def solution_without_record(solve):
    """The Python function that gives the solution, and that nothing of it is recorded."""

    def solve_alone(y0, ts, args=()):
        return solve(y0, ts, plain(args)), ()

    return solve_alone


def gradient_in_duals(solve, wrt, args, shadows, seed, *records):
    """The Python function `pull(args, shadows, seed) -> (ys, adjoints)`; it does not use `records`.

    Gradients in dual numbers are by floats: a complex number goes as a pair of these.
    """
    common = common_dual(cpu_target.typing_context, (args, seed))
    code = Writer({"add_into": add_into, "solve": solve})
    wrt = [k for k in wrt if any(leaf.kind != "constant" for leaf in leaves(parse(args[k], "")))]
    passed = [f"args[{k}]" for k in range(len(args))]
    weighted, pairs, parts = _weighted(code, wrt, args, seed), [*passed], ["None"] * len(args)
    for k in wrt:
        pairs[k] = render(parse(args[k], passed[k]), _pair, code.namespace)
    code.namespace["called"] = value_and_grad(weighted, tuple(wrt), mode="forward")
    lines = [f"gradient = called({', '.join(pairs)}, seed)[1]"]
    for j, k in enumerate(wrt):
        parts[k] = _delivered(code, lines, args[k], f"shadows[{k}]", f"gradient[{j}]", common)
    lines.append(f"return solve({', '.join(passed)}), ({''.join(part + ', ' for part in parts)})")
    text = "\n".join(map(indented, lines))
    parameters = "args, shadows, seed" + ", records" * len(records)
    return define(f"def pull({parameters}):\n{text}\n", code.namespace)


def _weighted(code, wrt, args, seed):
    """The function of a solver's arguments, numbers that are differentiated as pairs, and of the seed."""
    names = [f"arg{k}" for k in range(len(args))]
    given = [
        render(parse(args[k], name), _joined, code.namespace) if k in wrt else name
        for k, name in enumerate(names)
    ]
    real = ".real" if _is_complex(seed) else ""
    source = f"    return (seed * solve({', '.join(given)})).sum(){real}\n"
    return define(f"def weighted({', '.join(names)}, seed):\n{source}", dict(code.namespace))


def _is_complex(ty):
    return isinstance(base_scalar(getattr(ty, "dtype", ty)), types.Complex)


def _pair(leaf):
    is_pair = leaf.kind != "constant" and _is_complex(leaf.type)
    return f"({leaf.source}.real, {leaf.source}.imag)" if is_pair else leaf.source


def _joined(leaf, sign="+"):
    """Source of a leaf that stands as a pair."""
    if leaf.kind == "constant" or not _is_complex(leaf.type):
        return leaf.source
    return f"({leaf.source}[0] {sign} 1j * {leaf.source}[1])"


def _delivered(code, lines, ty, shadow, gradient, common):
    """Add to the shadows of arrays; source of the adjoint of an argument of type `ty`.

    The cotangent of x + iy is that of x less i times that of y.
    """
    tree, numbers = parse(ty, shadow), {}
    for leaf, part in zip(leaves(tree), leaves(parse(ty, gradient)), strict=True):
        if leaf.kind == "array":
            lines.append(f"add_into({leaf.source}, {_joined(part, '-')})")
        elif leaf.kind == "scalar":
            scalar = leaf.type if common is None else with_base(common, base_scalar(leaf.type))
            numbers[id(leaf)] = code.cast(_joined(part, "-"), scalar)
    return render(tree, lambda leaf: numbers.get(id(leaf), "None"), code.namespace)
