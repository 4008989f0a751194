"""What an operator asks of the result of the function that it differentiates."""

from contextlib import contextmanager

from numba.core import types
from numba.core.errors import loc_info

from ..errors import ArgumentError, UnsupportedError
from ..forward.dual import Dual, base_scalar, primal_type
from ..ir.capture import capture
from ..ir.capture import result_type as captured_result
from .argument_structure import ArgumentLeaf, hides_floats, leaves, mapped_type, parse
from .describe import describe, users_name


def float_result(operator, tree):
    """The single leaf of a result that is a float; ArgumentError where the result is anything else."""
    scalar_result(operator, tree)
    if isinstance(tree.type, types.Integer | types.Boolean):
        raise ArgumentError(
            f"nd.{operator.name} needs a function that returns a float; {users_name(operator.f)} "
            f"returns {describe(tree.type)}, whose derivative is 0 by everything. If that is meant, "
            "return float(...)"
        )
    return tree


def scalar_result(operator, tree):
    """The single leaf of a result that is a number; ArgumentError where the result is anything else."""
    name, f = operator.name, users_name(operator.f)
    differentiates = name not in ("quad", "root", "fixed_point", "minimize", "minimize_scalar")
    if not isinstance(tree, ArgumentLeaf) or isinstance(tree.type, types.Array):
        kind = "a tuple" if not isinstance(tree, ArgumentLeaf) else f"a {tree.type.ndim}-D array"
        raise ArgumentError(
            f"nd.{name} needs a function that returns a float; {f} returns {kind}"
            + ". Perhaps you meant nd.jacobian" * differentiates
            + _or_aux(operator, tree)
        )
    if isinstance(tree.type, types.NoneType):
        way = "writes its result into an argument is differentiated by nd.jacobian(f, out=...)"
        raise ArgumentError(
            f"nd.{name} needs a function that returns a float; {f} returns None"
            + f". A function that {way}" * differentiates
        )
    if isinstance(base_scalar(tree.type), types.Complex):
        raise ArgumentError(
            f"nd.{name} needs a function that returns a float; {f} returns a complex number. Use "
            "nd.derivative or nd.jvp, or return its real or imaginary part"
        )
    if not holds_numbers(tree):
        raise ArgumentError(
            f"nd.{name} needs a function that returns a float; {f} returns {describe(tree.type)}"
        )
    return tree


def is_real(tree):
    """Whether a result, or a member of one, is a float."""
    is_number = isinstance(tree, ArgumentLeaf) and isinstance(tree.type, types.Float | Dual)
    return is_number and isinstance(base_scalar(tree.type), types.Float)


def _or_aux(operator, tree):
    """A hint for a function that returns a value and something beside it."""
    is_pair = not isinstance(tree, ArgumentLeaf) and len(tree.members) == 2
    takes_pairs = operator.name in ("grad", "value_and_grad")
    if not (is_pair and takes_pairs and is_real(tree.members[0])):
        return ""
    return ", or has_aux=True, for a function that returns (value, aux)"


def scalar_of(leaf):
    """The scalar type of a leaf: an array's elements', or its own."""
    return leaf.type.dtype if isinstance(leaf.type, types.Array) else leaf.type


def holds_numbers(leaf):
    """Whether a leaf of a result has a derivative at all, if only zero: an int has, a string not."""
    return isinstance(scalar_of(leaf), types.Number | types.Boolean | Dual)


def numeric_result(operator, tree):
    """The structure of a result; ArgumentError where there is no number in it, or one out of reach."""
    told = why_not_numeric(tree)
    if told:
        f = users_name(operator.f)
        raise ArgumentError(f"nd.{operator.name} needs a function that returns numbers; {f} {told}")
    return tree


def why_not_numeric(tree):
    """What a function returns, in words, whose result has no derivative; "" where it has one."""
    for leaf in leaves(tree):
        if hides_floats(leaf):
            return (
                f"returns {describe(leaf.type)}, whose floats have no derivative. Return a "
                "float, an array or a tuple of these"
            )
    if any(holds_numbers(leaf) for leaf in leaves(tree)):
        return ""
    if isinstance(tree.type, types.NoneType):
        return "returns None. If it writes its result into an argument, name that one by out="
    return f"returns {describe(tree.type)}"


def refuse_returned(operator, tree):
    """ArgumentError where a function with `out=` returns floats as well, which nobody would see."""
    if any(leaf.kind != "constant" or hides_floats(leaf) for leaf in leaves(tree)):
        raise ArgumentError(
            f"nd.{operator.name}: with out=, {users_name(operator.f)} must return None; it "
            f"returns {describe(tree.type)}"
        )


@contextmanager
def _no_place():
    """Let a refusal name no statement: Numba remembers the one that it typed last, of other code."""
    before = loc_info.pop("loc", None)
    try:
        yield
    finally:
        if before is not None:
            loc_info["loc"] = before


def call_type(typingctx, operator, target, tys):
    """The type that a call of `target`, which stands for the operator's function, returns."""
    typingctx.refresh()  # the stand-in of a function with a rule may be a new one
    function = typingctx.resolve_value_type(target)
    with _no_place():
        resolved = typingctx.resolve_function_type(function, tuple(tys), {})
    if resolved is None:
        raise UnsupportedError(f"cannot compile {users_name(operator.f)} for {tys}")
    return resolved.return_type


def result_type(typingctx, f, argtypes):
    """The type that `f` returns for plain arguments: inferred, not compiled, where it is unknown."""
    if len(argtypes) < len(f._compiler.pysig.parameters):  # what is left out has defaults
        _, argtypes = f._compiler.fold_argument_types(argtypes, {})
    known = f.overloads.get(tuple(argtypes))
    if known is not None:
        return known.signature.return_type
    if hasattr(f.py_func, "__numbad_operator__"):  # a stub, whose code depends on the types
        return typingctx.resolve_function_type(types.Dispatcher(f), argtypes, {}).return_type
    return captured_result(capture(f, tuple(argtypes)))


def plain_result(typingctx, f, argtypes):
    """The type that `f` returns where duals among the arguments are taken for plain numbers."""
    plain = tuple(mapped_type(parse(ty, ""), _plain_leaf) for ty in argtypes)
    return result_type(typingctx, f, plain)


def _plain_leaf(leaf):
    return primal_type(leaf.type)
