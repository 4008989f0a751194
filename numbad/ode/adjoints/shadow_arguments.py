"""The further arguments of a right-hand side in generated code: raised to dual numbers, and their shadows."""

from functools import partial

from numbad.forward.dual import base_scalar, with_base
from numbad.forward.dual_arrays import as_dual
from numbad.forward.layout import zeros_as
from numbad.ode.rhs import is_plain_tuple
from numbad.operators.argument_structure import leaves, parse, render
from numbad.operators.generated_names import Writer


class Arguments(Writer):
    """The source of what is done with the further arguments of type `p`, which `source` stands for."""

    def __init__(self, p, source="args[2]"):
        super().__init__()
        self.p, self.source = p, source
        self.single = not is_plain_tuple(p)
        self.given = (p,) if self.single else tuple(p)
        self.namespace["zeros_as"] = zeros_as

    def trees(self):
        for j, ty in enumerate(self.given):
            yield parse(ty, self.source if self.single else f"{self.source}[{j}]")

    def raised_to(self, common, differentiated):
        """Source of the further arguments in a scalar type, where they are differentiated."""
        given = []
        for tree in self.trees():
            leaf = partial(self._raised, common) if differentiated else _source
            given.append(render(tree, leaf, self.namespace))
        return tuple_of(given)

    def _raised(self, common, leaf):
        """Source of a leaf of the arguments in the scalar type of all that is differentiated."""
        if common is None or leaf.kind == "constant":
            return leaf.source
        scalar = leaf.type.dtype if leaf.kind == "array" else leaf.type
        raised = with_base(common, base_scalar(scalar))
        if raised == scalar:
            return leaf.source
        if leaf.kind == "scalar":
            return self.cast(leaf.source, raised)
        return f"{self.constant('convert', as_dual(raised))}({leaf.source})"

    def own_shadows(self, tree, common):
        """New shadows for arrays, of cotangents that nobody has asked for in this form."""
        if not has_arrays(tree):
            return "None"

        def zeros(leaf):
            if leaf.kind != "array":
                return "None"
            scalar = leaf.type.dtype
            if common is not None:
                scalar = with_base(common, base_scalar(scalar))
            return f"zeros_as({leaf.source}, {self.dtype(scalar)})"

        return render(tree, zeros, self.namespace)


def has_arrays(tree):
    """Whether a structure has arrays of floats."""
    return any(leaf.kind == "array" for leaf in leaves(tree))


def tuple_of(sources):
    """Source of a tuple."""
    return f"({''.join(source + ', ' for source in sources)})"


def _source(leaf):
    return leaf.source
