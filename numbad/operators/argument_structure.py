"""The structure of arguments and results: which numbers in them are differentiated, and their source.

A `ArgumentLeaf` is one scalar or array within an argument; a `Branch` a tuple of members. Both carry the
source expression by which generated code reads them.
"""

from dataclasses import dataclass, field

from numba import typeof
from numba.core import types

from ..errors import ArgumentError
from ..forward.dual import base_scalar
from .describe import contains_floats, describe, hint, is_differentiable


@dataclass
class ArgumentLeaf:
    """A scalar, an array, or a constant (`kind`) of Numba type `type`, read by `source`."""

    kind: str
    type: types.Type
    source: str
    number: int = -1  # among the scalars, or among the arrays


@dataclass
class Branch:
    """A tuple or namedtuple of members."""

    type: types.Type
    members: list = field(default_factory=list)


def parse(ty, source):
    """The structure of an argument or result of type `ty`."""
    ty = types.unliteral(ty)
    if isinstance(ty, types.Omitted):
        ty = typeof(ty.value)
    if isinstance(ty, types.BaseTuple):
        members = [parse(t, f"{source}[{i}]") for i, t in enumerate(ty)]
        return Branch(ty, members)
    if is_differentiable(ty):
        return ArgumentLeaf("scalar", ty, source)
    if isinstance(ty, types.Array) and is_differentiable(ty.dtype):
        return ArgumentLeaf("array", ty, source)
    return ArgumentLeaf("constant", ty, source)


def leaves(tree):
    """The leaves of a structure, in order."""
    if isinstance(tree, Branch):
        for member in tree.members:
            yield from leaves(member)
    else:
        yield tree


def render(tree, leaf, namespace):
    """Source that rebuilds the structure, `leaf(leaf)` giving that of every leaf."""
    if not isinstance(tree, Branch):
        return leaf(tree)
    members = "".join(render(m, leaf, namespace) + ", " for m in tree.members)
    if isinstance(tree.type, types.BaseNamedTuple):
        cls = tree.type.instance_class
        name = f"{cls.__name__}_{len(namespace)}"
        namespace[name] = cls
        return f"{name}({members})"
    return f"({members})"


def mapped_type(tree, leaf):
    """The Numba type of the structure with `leaf(leaf)` in place of every leaf's type."""
    if not isinstance(tree, Branch):
        return leaf(tree)
    members = [mapped_type(m, leaf) for m in tree.members]
    if isinstance(tree.type, types.BaseNamedTuple):
        cls = tree.type.instance_class
        if members and len(set(members)) == 1:
            return types.NamedUniTuple(members[0], len(members), cls)
        return types.NamedTuple(members, cls)
    return types.BaseTuple.from_types(members)


def hides_floats(leaf):
    """Whether a leaf that operators take for a constant holds floats: a list, a record, an object."""
    return leaf.kind == "constant" and contains_floats(leaf.type)


def refuse_constants(operator, names, tys):
    """ArgumentError where no argument holds anything to differentiate by."""
    trees = [parse(ty, "") for ty in tys]
    if any(leaf.kind != "constant" for tree in trees for leaf in leaves(tree)):
        return
    given = zip(names, trees, strict=False)
    told = ", ".join(f"'{name}' is {describe(tree.type)}" for name, tree in given)
    advice = next(filter(None, (hint(tree.type) for tree in trees)), "")
    raise ArgumentError(f"{operator}: no argument holds floats ({told or 'there is none'}){advice}")


def level_of(argtypes):
    """The nesting level of an operator that meets these argument types."""
    from ..forward.dual import duals_in

    return 1 + max((dual.tag for ty in argtypes for dual in duals_in(ty)), default=-1)


def differentiated(operator, name, source, ty):
    """The structure of argument `name`, read by `source`; ArgumentError where it holds no float."""
    tree = parse(ty, source)
    found = list(leaves(tree))
    if found and all(leaf.kind == "constant" for leaf in found):
        raise ArgumentError(
            f"{operator} differentiates by argument '{name}', which is {describe(tree.type)}; "
            f"it must hold floats{hint(tree.type)}"
        )
    return tree


def refuse_complex(operator, name, tree):
    """Gradients by complex numbers are not defined in forward mode."""
    for leaf in leaves(tree):
        scalar = leaf.type.dtype if leaf.kind == "array" else leaf.type
        if leaf.kind != "constant" and isinstance(base_scalar(scalar), types.Complex):
            raise ArgumentError(
                f"{operator} differentiates by argument '{name}', which is complex: use "
                "nd.derivative or nd.jvp for holomorphic functions, nd.grad or nd.vjp in reverse "
                "mode for real-valued ones, or pass the real and imaginary parts as two floats"
            )
