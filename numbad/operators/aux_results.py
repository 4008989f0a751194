"""What a function returns beside the value that is differentiated: `has_aux` of gradients."""

from ..errors import ArgumentError
from .argument_structure import ArgumentLeaf, hides_floats, leaves
from .describe import describe, users_name
from .results import float_result, is_real


def value_and_aux(operator, tree):
    """The leaf of a result that is differentiated, and what the function returns beside it; or None.

    ArgumentError where the value is no float, or with `has_aux` where the result is no pair.
    """
    if not operator.has_aux:
        return float_result(operator, tree), None
    asked = _asked(operator)
    if isinstance(tree, ArgumentLeaf) or len(tree.members) != 2:
        several = not isinstance(tree, ArgumentLeaf)
        found = f"a tuple of {len(tree.members)}" if several else describe(tree.type)
        raise ArgumentError(f"{asked}; it returns {found}")
    value, aux = tree.members
    if not is_real(value):
        raise ArgumentError(f"{asked}, where value is a float; it is {describe(value.type)}")
    for leaf in leaves(aux):
        if hides_floats(leaf):
            raise no_aux(operator, leaf.type)
    return value, aux


def _asked(operator):
    f = users_name(operator.f)
    return f"nd.{operator.name}: with has_aux=True, {f} must return (value, aux)"


def no_aux(operator, ty):
    """The ArgumentError for what is no `aux`."""
    return ArgumentError(
        f"{_asked(operator)}, where aux holds numbers, arrays and tuples of these; it is or holds "
        f"{describe(ty)}"
    )


def beside_gradient(operator, result, gradient):
    """Source of what a gradient's call returns: `result` is that of the function's own result."""
    if operator.with_value:
        return f"{result}, {gradient}"
    return f"{gradient}, {result}[1]" if operator.has_aux else gradient
