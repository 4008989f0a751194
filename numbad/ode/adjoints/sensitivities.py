"""The pullback by forward sensitivities: the gradient, in dual numbers, of the solution times the seed.

It also stands in for a sweep back through steps where output times are dual numbers.
"""

from numba.core import types
from numba.core.registry import cpu_target

from numbad.compilation.memo import built_once
from numbad.errors import UnsupportedError
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
    """The Python function `pull(args, shadows, seed) -> (ys, adjoints)`; it does not use `records`."""
    common = common_dual(cpu_target.typing_context, (args, seed))
    code = Writer({"add_into": add_into})
    count = len(args)
    given = "".join(f"arg{k}, " for k in range(count))
    real = ".real" if _is_complex(seed) else ""
    source = f"def weighted({given}seed):\n    return (seed * solve({given})).sum(){real}\n"
    wrt = [k for k in wrt if any(leaf.kind != "constant" for leaf in leaves(parse(args[k], "")))]
    if any(_is_complex(leaf.type) for k in wrt for leaf in leaves(parse(args[k], ""))):
        raise UnsupportedError(
            "reverse mode cannot differentiate a solution by complex numbers where its output times are "
            "differentiated in forward mode. Way out: an implicit method, such as 'Rodas5P', or "
            'mode="forward" for the gradient within'
        )
    weighted = define(source, {"solve": solve})
    code.namespace["called"] = value_and_grad(weighted, tuple(wrt), mode="forward")
    passed = "".join(f"args[{k}], " for k in range(count))
    lines = [f"gradient = called({passed}seed)[1]"]
    parts = ["None"] * count
    for j, k in enumerate(wrt):
        parts[k] = _delivered(code, lines, args[k], f"shadows[{k}]", f"gradient[{j}]", common)
    code.namespace["solve"] = solve
    lines.append(f"return solve({passed}), ({''.join(part + ', ' for part in parts)})")
    text = "\n".join(map(indented, lines))
    parameters = "args, shadows, seed" + ", records" * len(records)
    return define(f"def pull({parameters}):\n{text}\n", code.namespace)


def _is_complex(ty):
    return isinstance(base_scalar(getattr(ty, "dtype", ty)), types.Complex)


def _delivered(code, lines, ty, shadow, gradient, common):
    """Add to the shadows of arrays; source of the adjoint of an argument of type `ty`."""
    tree, numbers = parse(ty, shadow), {}
    for leaf, part in zip(leaves(tree), leaves(parse(ty, gradient)), strict=True):
        if leaf.kind == "array":
            lines.append(f"add_into({leaf.source}, {part.source})")
        elif leaf.kind == "scalar":
            scalar = leaf.type if common is None else with_base(common, base_scalar(leaf.type))
            numbers[id(leaf)] = code.cast(part.source, scalar)
    return render(tree, lambda leaf: numbers.get(id(leaf), "None"), code.namespace)
