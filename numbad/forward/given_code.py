"""The code of others that Numba chooses for the values of dual numbers: of functions, methods, attributes."""

from numba.core.errors import NumbaError

from ..ir import chosen
from ..ir.extension_types import holds_parts, whole_type
from . import dual as d


def is_of_duals(ty):
    """Whether a value holds dual numbers, or is what stands for an extension type among them."""
    return holds_parts(ty) or any(True for _ in d.duals_in(ty))


def value_type(ty):
    """The type of the value in the user's own code."""
    return whole_type(d.primal_type(ty))


def chosen_for(original, args, kws):
    """The dispatcher that Numba chooses for the values of arguments, if it is one of others."""
    plain = [value_type(ty) for ty in args], {k: value_type(ty) for k, ty in kws.items()}
    if any(map(is_of_duals, (*plain[0], *plain[1].values()))):
        return None  # `a.flat`, say, which `primal_type` knows no other type for
    try:
        return chosen.of_function(original, *plain)
    except NumbaError:  # it takes no such values
        return None


def given_by_others(original, args, kws):
    """Whether it is others who told Numba what a function does of the values of arguments."""
    plain = [value_type(ty) for ty in args], {k: value_type(ty) for k, ty in kws.items()}
    return chosen.is_by_others(original, *plain)


def given_method(owner, name, args, kws):
    """The dispatcher of a method that others gave to the type of the value of `owner`, or None."""
    plain = [value_type(ty) for ty in args], {k: value_type(ty) for k, ty in kws.items()}
    return chosen.of_method(value_type(owner), name, *plain)


def given_attribute(owner, name):
    """The dispatcher of an attribute that others gave to the type of the value of `owner`, or None."""
    return chosen.of_attribute(value_type(owner), name) if name in chosen.names_given()[1] else None
