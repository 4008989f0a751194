"""`vjp`: the pullback of a function, with the structures that a user passes."""

import inspect

from numba.core import types

from ..errors import ArgumentError
from ..keywords import checks_keywords
from .adjoint import AdjointSource
from .argnums import checked_argnums, checked_out, refuse_starred
from .argument_structure import differentiated, leaves, parse, refuse_constants
from .describe import describe
from .operator_dispatcher import Operator, build, every_argument, parameter_names, starred
from .results import numeric_result, refuse_returned
from .tupled import TupledDispatcher


class VJP(Operator):
    """The cotangents of arguments for a cotangent of the result."""

    takes_tuples, takes_tangents = True, False
    dispatcher_class = TupledDispatcher

    def __init__(self, f, argnums, *, out=None):
        self.name = "vjp"
        super().__init__(f)
        self.names = parameter_names(self.f.py_func)
        self.explicit = argnums is not None
        every = every_argument(self.f.py_func)
        self.argnums = checked_argnums(self.name, argnums, self.names) if self.explicit else every
        self.out = checked_out(self.name, out, self.names)
        refuse_starred(self.name, self.f.py_func, self.argnums)

    def key(self):
        return self.name, self.argnums, self.explicit, self.out

    def parameters(self):
        return "primals, cotangent", {}

    def generate(self, typingctx, argtypes):
        arguments, cotangent = checked_primals(self, argtypes), argtypes[1]
        wrt = differentiable(self, arguments)
        if self.out is not None:
            wrt = (*wrt, self.out)
        source = AdjointSource(self, typingctx, self.f, arguments, wrt, (cotangent,))
        returned = [source.cotangent(k) for k in self.argnums]
        value, lines = pulled(self, source, "cotangent", cotangent)
        cotangents = "(" + "".join(part + ", " for part in returned) + ")"
        return source.write("vjp_source", "primals, cotangent", lines, f"{value}, {cotangents}")

    def moved(self, f, place):
        """The same of another function, where argument `k` has become argument `place(k)`."""
        argnums = tuple(map(place, self.argnums)) if self.explicit else None
        return VJP(f, argnums, out=None if self.out is None else place(self.out))

    def with_constants(self, result, places):
        """What `moved` gives as if it had every argument: those at other places are constants."""
        if self.explicit:
            return result
        value, cotangents = result
        given = dict(zip(places, cotangents, strict=True))
        return value, tuple(given.get(k) for k in range(len(self.names)))


def checked_primals(operator, argtypes):
    """`(source, type)` of every argument, defaults included; ArgumentError where they do not fit."""
    primals, cotangent = argtypes
    name, function = operator.name, operator.f.py_func
    if isinstance(primals, types.PyObject):
        raise ArgumentError(
            f"nd.{name} is called with (primals, cotangent), where primals is the tuple of all arguments: "
            "numbers, arrays, and tuples of these; Numba has no type for one of them"
        )
    if not isinstance(primals, types.BaseTuple):
        raise ArgumentError(
            f"nd.{name} is called with (primals, cotangent), where primals is the tuple of all "
            f"arguments; it got {describe(primals)} and {describe(cotangent)}"
        )
    parameters = list(inspect.signature(function).parameters.values())
    star = starred(function)
    fixed = len(parameters) if star is None else star
    if len(primals) > fixed and star is None:
        names = ", ".join(parameter_names(function)) or "nothing"
        raise ArgumentError(f"nd.{name}: {len(primals)} primals for a function of {names}")
    given = tuple(primals)
    arguments = [(f"primals[{k}]", ty) for k, ty in enumerate(given[:fixed])]
    for parameter in parameters[len(arguments) : fixed]:
        if parameter.default is parameter.empty:
            raise ArgumentError(f"nd.{name}: no value for argument '{parameter.name}' in primals")
        arguments.append((parameter.name, types.Omitted(parameter.default)))
    if star is not None:
        arguments.append((f"primals[{fixed}:]", types.BaseTuple.from_types(given[fixed:])))
    return arguments


def differentiable(operator, arguments):
    """The numbers of the arguments to differentiate by: those of argnums that hold floats."""
    found = []
    for k in operator.argnums:
        source, ty = arguments[k]
        if operator.explicit:
            differentiated(f"nd.{operator.name}", operator.names[k], source, ty)
        if holds_floats(ty):
            found.append(k)
    if not found:
        refuse_constants(f"nd.{operator.name}", operator.names, [ty for _, ty in arguments])
    return tuple(found)


def holds_floats(ty):
    """Whether there is something to differentiate by in an argument of this type."""
    return any(leaf.kind != "constant" for leaf in leaves(parse(ty, "")))


def pulled(operator, source, cotangent, ty):
    """Source of the value, and the lines that call the pullback with a cotangent of type `ty`."""
    if operator.out is None:
        numeric_result(operator, source.result)
        return "value", source.call(source.seed_from(cotangent, ty))
    refuse_returned(operator, source.result)
    source.seed_argument(operator.out, cotangent, ty)
    return source.arguments[operator.out][0], source.call(source.seed(lambda leaf: "None"))


@checks_keywords("nd.vjp", "primals, cotangent")
def vjp(f, argnums=None, *, out=None):
    """Value of a function, and the cotangents of its arguments (vector-Jacobian product).

    Parameters
    ----------
    f : function or Numba dispatcher
        Returns a float, an array, or a tuple of these.
    argnums : int or tuple of ints, optional
        The arguments to differentiate by; every argument where None.
    out : int, optional
        The argument that `f` writes its result into, where it returns None. The cotangent belongs
        to the final contents of that argument, which also is the value.

    Returns
    -------
    dispatcher
        Called with `(primals, cotangent)`: the tuple of all arguments, and a cotangent with the
        structure of the result. Returns `(value, cotangents)`, the latter a tuple with one entry
        for each of `argnums`, with the structure of the argument. What stands for a constant (an
        int, a string, a function) is a zero of its own type, or None. For complex numbers the
        cotangent is that of JAX: `w * h'(z)` for a holomorphic `h`, without conjugation.

    Raises
    ------
    ArgumentError
        Where the cotangent has another structure or shape than the result.
    UnsupportedError
        When compiled, for what cannot be differentiated.

    Examples
    --------
    >>> import numbad as nd
    >>> nd.vjp(lambda x, y: (x * y, x + y))((2.0, 3.0), (1.0, 10.0))
    ((6.0, 5.0), (13.0, 12.0))
    """
    return build(VJP(f, argnums, out=out))
