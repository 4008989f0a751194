"""`jvp` and `derivative`: one direction, one partial."""

import inspect

import numpy as np
from numba import typeof
from numba.core import types

from ..errors import ArgumentError
from ..forward import access
from ..forward.custom import value_of
from ..forward.dual import Dual, base_scalar, duals_in, join_tangent, primal_type
from ..forward.dual_arrays import dtype_of_type
from ..forward.dualize import replacement
from ..forward.layout import empty_as
from ..forward.promote import effects
from ..keywords import checks_keywords
from ..source import define
from . import overlap, runtime
from .argnums import checked_argnums, checked_number, checked_out, numbered, refuse_starred
from .argument_structure import (
    Branch,
    hides_floats,
    leaves,
    level_of,
    mapped_type,
    parse,
    refuse_constants,
    render,
)
from .describe import describe, hint, is_differentiable
from .operator_dispatcher import (
    Operator,
    as_dispatcher,
    build,
    every_argument,
    parameter_names,
    plain_parameters,
    starred,
)
from .results import call_type, numeric_result, refuse_returned
from .tupled import TupledDispatcher
from .written_arguments import WrittenArguments, has_stand_in, telling_of_collections


class Tangent(Operator):
    """The derivative of everything that a function returns, in one direction."""

    def __init__(self, f, argnums, *, name, out=None):
        self.name = name
        super().__init__(f)
        self.names = parameter_names(self.f.py_func)
        self.explicit = argnums is not None
        every = every_argument(self.f.py_func)
        self.argnums = checked_argnums(name, argnums, self.names) if self.explicit else every
        self.out = checked_out(name, out, self.names)
        refuse_starred(name, self.f.py_func, self.argnums if self.explicit else ())

    def key(self):
        return self.name, self.argnums, self.explicit, self.out

    def plain_parameters(self):
        return self.parameters()[0]

    def moved(self, f, place):
        """The same of another function, where argument `k` has become argument `place(k)`."""
        argnums = tuple(map(place, self.argnums)) if self.explicit else None
        out = None if self.out is None else place(self.out)
        return type(self)(f, argnums, name=self.name, out=out)

    def with_constants(self, result, places):
        """What `moved` gives as if it had every argument; constants have no place in the result."""
        return result


class Derivative(Tangent):
    """By one float argument."""

    def __init__(self, f, argnum, *, name):
        self.name = name
        super().__init__(numbered(as_dispatcher(f"nd.{name}", f), argnum), None, name=name)
        self.argnums = (checked_number(name, "argnum", argnum, self.names),)
        refuse_starred(name, self.f.py_func, self.argnums)

    def plain_parameters(self):
        return plain_parameters(self.f.py_func)

    def generate(self, typingctx, argtypes):
        (k,) = self.argnums
        ty = parse(argtypes[k], "").type
        if not is_differentiable(ty):
            several = isinstance(ty, types.Array | types.BaseTuple)
            advice = ". Perhaps you meant nd.grad or nd.jacobian" if several else hint(ty)
            raise ArgumentError(
                f"nd.derivative differentiates by a float; argument '{self.names[k]}' is "
                f"{describe(ty)}{advice}"
            )
        writer = TangentSource(self, typingctx, argtypes, argtypes)
        writer.scalar(k, f"arg{k}", "1.0", ty, types.float64)
        return writer.write(value=False)


class JVP(Tangent):
    """By any arguments, called with all of them as one tuple, and a tuple of tangents."""

    takes_tuples = takes_tangents = True
    dispatcher_class = TupledDispatcher

    def parameters(self):
        return "primals, tangents", {}

    def generate(self, typingctx, argtypes):
        return self.writer(typingctx, argtypes).write(value=True)

    def writer(self, typingctx, argtypes):
        """The source under construction, with arguments and tangents paired."""
        primals, tangents = checked_tuples(self, argtypes)
        refuse_constants(f"nd.{self.name}", self.names, primals)
        writer = TangentSource(self, typingctx, tuple(primals), argtypes)
        writer.sources = [f"primals[{k}]" for k in range(len(primals))]
        directed = self.argnums[: len(tangents)]
        for k, value in self._defaults(len(primals), max(directed, default=0) + 1):
            writer.append(*writer.default(k, value))
        for j, k in enumerate(directed):
            if k < len(writer.sources):
                primal = writer.sources[k], writer.argtypes[k]
                writer.argument(k, primal[0], f"tangents[{j}]", primal[1], tangents[j])
        return writer

    def _defaults(self, start, stop):
        """`(number, default)` of the arguments in a range that have one."""
        parameters = list(inspect.signature(self.f.py_func).parameters.values())
        for k, parameter in enumerate(parameters[start:stop], start):
            if parameter.default is not parameter.empty:
                yield k, parameter.default


def checked_tuples(operator, argtypes):
    """The types of `(primals, tangents)`; ArgumentError where they do not fit the function."""
    primals, tangents = argtypes
    name, names = operator.name, operator.names
    if isinstance(primals, types.PyObject) or isinstance(tangents, types.PyObject):
        raise ArgumentError(
            f"nd.{name} is called with two tuples, (primals, tangents), of numbers, arrays, and tuples of "
            "these; Numba has no type for what one of them holds"
        )
    if not isinstance(primals, types.BaseTuple) or not isinstance(tangents, types.BaseTuple):
        raise ArgumentError(
            f"nd.{name} is called with two tuples, (primals, tangents); it got "
            f"{describe(primals)} and {describe(tangents)}"
        )
    left_out = not operator.explicit and len(tangents) == len(primals)  # defaults have no tangents
    if len(tangents) != len(operator.argnums) and not left_out:
        which = "one for each of argnums" if operator.explicit else "one for every argument"
        raise ArgumentError(
            f"nd.{name} needs {len(operator.argnums)} tangents, {which}; it got {len(tangents)}"
        )
    if len(primals) > len(names):
        if (star := starred(operator.f.py_func)) is not None:
            raise ArgumentError(
                f"nd.{name} cannot call a function of '*{names[star]}'; pass a tuple as one argument"
            )
        raise ArgumentError(
            f"nd.{name}: {len(primals)} primals for a function of {', '.join(names) or 'nothing'}"
        )
    for parameter in list(inspect.signature(operator.f.py_func).parameters.values())[
        len(primals) :
    ]:
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL:
            raise ArgumentError(f"nd.{name}: no value for argument '{parameter.name}' in primals")
    return primals, tangents


class TangentSource:
    """The source of a function that pairs arguments with tangents and calls `f` once."""

    def __init__(self, operator, typingctx, argtypes, every_type):
        self.operator, self.typingctx = operator, typingctx
        self.given_types = tuple(argtypes)
        self.argtypes = list(argtypes)
        self.names = operator.names
        self.sources = [f"arg{k}" for k in range(len(argtypes))]
        self.tag = level_of(every_type)
        self.lines, self.after = [], []
        self.paired = {}  # number of an argument -> (array in it, its duals)
        self.namespace = {
            **overlap.NAMES,
            "pair": access.pair,
            "paired": runtime.paired,
            "empty_as": empty_as,
            "ArgumentError": ArgumentError,
            "value_of": value_of,
            "tangent_of_level": runtime.tangent_of_level,
            "store": runtime.store,
            "store_flat": runtime.store_flat,
            "load": runtime.load,
            "load_flat": runtime.load_flat,
            "np": np,
        }

    def default(self, k, value):
        """`(source, type)` of an argument left to its default."""
        name = f"default_of_{k}"
        self.namespace[name] = value
        return name, typeof(value)

    def append(self, source, ty):
        """Take one more argument."""
        self.sources.append(source)
        self.argtypes.append(ty)

    n = 1  # partials

    def dual(self, scalar, tangent_scalar=None):
        if tangent_scalar is not None:
            scalar = join_tangent(self.typingctx, scalar, tangent_scalar)
        return Dual(scalar, self.n, self.tag)

    def scalar(self, k, source, tangent_source, ty, tangent_ty):
        self.sources[k] = f"pair({source}, {tangent_source}, {self.tag})"
        self.argtypes[k] = self.dual(ty, tangent_ty)

    def argument(self, k, source, tangent_source, ty, tangent_ty):
        """Pair an argument of any structure with its tangent; constants stay as they are."""
        tree, directions = parse(ty, source), parse(tangent_ty, tangent_source)
        found = list(leaves(tree))
        if all(leaf.kind == "constant" for leaf in found):
            if self.operator.explicit and found:
                raise ArgumentError(
                    f"nd.{self.operator.name} differentiates by argument '{self.names[k]}', which "
                    f"is {describe(tree.type)}; it must hold floats{hint(tree.type)}"
                )
            self._refuse_hidden(k, found, directions)
            return
        pairs = {}
        self._match(k, tree, directions, pairs)

        def rebuilt(leaf):
            return leaf.source if leaf.kind == "constant" else pairs[id(leaf)][0]

        def retyped(leaf):
            return leaf.type if leaf.kind == "constant" else pairs[id(leaf)][1]

        self.sources[k] = render(tree, rebuilt, self.namespace)
        self.argtypes[k] = mapped_type(tree, retyped)
        self.paired[k] = [(x.source, pairs[id(x)][0]) for x in found if x.kind == "array"]

    def _match(self, k, tree, directions, pairs):
        if isinstance(tree, Branch):
            if not isinstance(directions, Branch) or len(directions.members) != len(tree.members):
                self._mismatch(k, tree, directions)
            for member, direction in zip(tree.members, directions.members, strict=True):
                self._match(k, member, direction, pairs)
        elif tree.kind == "array":
            if (
                not isinstance(directions.type, types.Array)
                or directions.type.ndim != tree.type.ndim
            ):
                self._mismatch(k, tree, directions)
            self._check_scalar(k, tree.type.dtype, directions.type.dtype)
            name = f"dual{k}_{len(pairs)}"
            dual = self.dual(tree.type.dtype, directions.type.dtype)
            self._pair(name, tree, directions, dual)
            pairs[id(tree)] = name, types.Array(dual, tree.type.ndim, tree.type.layout)
        elif tree.kind == "scalar":
            if not isinstance(directions.type, types.Number | Dual):
                self._mismatch(k, tree, directions)
            self._check_scalar(k, tree.type, directions.type)
            source = f"pair({tree.source}, {directions.source}, {self.tag})"
            pairs[id(tree)] = source, self.dual(tree.type, directions.type)
        else:
            self._refuse_hidden(k, [tree], directions)

    def _check_scalar(self, k, ty, tangent):
        """ArgumentError where a number cannot have a tangent of a type."""
        given = base_scalar(types.unliteral(tangent))
        told = f"nd.{self.operator.name}: the tangent of '{self.names[k]}' is {describe(tangent)}"
        if given == types.float16:
            raise ArgumentError(told + hint(given))
        if isinstance(given, types.Complex) and not isinstance(base_scalar(ty), types.Complex):
            raise ArgumentError(
                f"{told}, but the argument is real ({base_scalar(ty)}): pass the real part and the "
                "imaginary part one after the other; the derivative is linear in the tangent"
            )

    def _pair(self, name, tree, directions, dual):
        """Lines that make an array of type `dual` of an array and its direction."""
        self.lines.append(f"{name} = paired({tree.source}, {directions.source}, {self.tag})")

    def _refuse_hidden(self, k, found, directions):
        """A direction of floats that are out of reach would be lost in silence."""
        given = any(not isinstance(leaf.type, types.NoneType) for leaf in leaves(directions))
        for leaf in filter(hides_floats, found if given else ()):
            raise ArgumentError(
                f"nd.{self.operator.name}: '{self.names[k]}' has a tangent, but what it holds, "
                f"{describe(leaf.type)}, is a constant{hint(leaf.type)}; the tangent of a constant is None"
            )

    def _mismatch(self, k, tree, directions):
        raise ArgumentError(
            f"nd.{self.operator.name}: the tangent of '{self.names[k]}' must have its structure, "
            f"{tree.type}; it is {directions.type}"
        )

    def _given(self, k):
        """The source of argument `k` as the caller passed it."""
        return f"primals[{k}]" if self.operator.name != "derivative" else f"arg{k}"

    def _carry_written(self):
        """Arrays that the function writes to hold duals during the call."""
        active = {k for k, ty in enumerate(self.argtypes) if any(True for _ in duals_in(ty))}
        tys = [*map(primal_type, self.argtypes)]
        done = effects(self.operator.f, active, tys, by_types=overlap.may_meet(tys)).cautious()
        arguments = {k: (ty, self._given(k)) for k, ty in enumerate(self.given_types)}
        self.lines += overlap.checks(self.operator, self.names, arguments, done)
        self.written = [(k, self.argtypes[k]) for k in done.written if k < len(self.argtypes)]
        written = WrittenArguments(self, self.lines, self.lines, self.after)
        for k in sorted(done.changed):
            ty = self.argtypes[k] if k < len(self.argtypes) else None
            for array, duals in self.paired.get(k, ()):
                self.after.append(f"store({array}, {duals})")
            if k not in self.paired and k in done.written and has_stand_in(ty):
                given = self._given(k)
                self.sources[k], self.argtypes[k] = written.stand_in(k, given, ty, duals=True)

    def new_duals(self, source, ty):
        """Source of an array of duals like another array, not set to anything."""
        name = f"dtype{len(self.namespace)}"
        self.namespace[name] = dtype_of_type(self.dual(ty.dtype))
        return f"empty_as({source}, {name}())"

    def _arguments(self):
        """Sources of the arguments of the call, and their types."""
        star = starred(self.operator.f.py_func)
        sources, tys = [], []
        for k, (source, ty) in enumerate(zip(self.sources, self.argtypes, strict=True)):
            if isinstance(ty, types.Dispatcher):
                self.namespace[f"function{k}"] = replacement(ty.dispatcher)
                source = f"function{k}"
                ty = self.typingctx.resolve_value_type(self.namespace[source])
            if k == star and not isinstance(self.operator, JVP):
                sources.append(f"*{source}")
                tys.extend(ty)
            else:
                sources.append(source)
                tys.append(ty)
        while tys and isinstance(tys[-1], types.Omitted):
            sources.pop()
            tys.pop()
        return sources, tys

    def _check_result(self, tys):
        """ArgumentError where `f` returns, or writes, nothing that has a derivative."""
        operator = self.operator
        with telling_of_collections(operator, self.names, self.written):
            tree = parse(call_type(self.typingctx, operator, self.namespace["f"], tys), "r")
        if operator.out is None:
            writes = isinstance(operator, JVP) and tree.type == types.none  # into its arguments
            if not writes:
                numeric_result(operator, tree)
            return
        refuse_returned(operator, tree)
        k = operator.out
        ty = self.given_types[k] if k < len(self.given_types) else types.none
        if not (isinstance(ty, types.Array) and is_differentiable(ty.dtype)):
            raise ArgumentError(
                f"nd.{operator.name}: out={k} names '{self.names[k]}', which is no array of floats"
            )

    def write(self, value, returned=None):
        """The function; `returned` is the source of what it returns, made of `{r}` and `{tag}`."""
        self._carry_written()
        self.namespace["f"] = self.operator.target()
        sources, tys = self._arguments()
        self._check_result(tys)
        lines = [*self.lines, f"r = f({', '.join(sources)})", *self.after]
        result = "r" if self.operator.out is None else self.sources[self.operator.out]
        found = f"tangent_of_level({result}, {self.tag})"
        kept = f"value_of({result}, {self.tag})"
        chosen = f"{kept}, {found}" if value else found
        lines.append("return " + (returned.format(r=result, tag=self.tag) if returned else chosen))
        body = "\n".join("    " + line.replace("\n", "\n    ") for line in lines)
        name = f"{self.operator.name}_source"
        return define(f"def {name}({self.operator.plain_parameters()}):\n{body}\n", self.namespace)


@checks_keywords("nd.derivative", "*args")
def derivative(f, argnum=0):
    """Derivative of a function by one of its arguments, a float (or complex number).

    Parameters
    ----------
    f : function or Numba dispatcher
        Returns a float, an array, or a tuple of these.
    argnum : int
        Which argument to differentiate by: a float, or a complex number. By a complex number, the
        derivative is that along the real axis, which is f'(z) where `f` is holomorphic.

    Returns
    -------
    dispatcher
        Takes the arguments of `f`; returns what `f` returns, differentiated: a tuple of its structure
        where that is a tuple, with arrays of the shapes of its arrays.

    Raises
    ------
    ArgumentError
        Where the argument is not a float: an int, say, or an array. Where the result is none that has
        a derivative: a list, say, or a float on some paths and None on others.
    UnsupportedError
        When compiled, for what cannot be differentiated.

    Examples
    --------
    >>> import math, numbad as nd
    >>> nd.derivative(math.sin)(0.0)
    1.0
    >>> nd.derivative(nd.derivative(lambda x: x**3))(2.0)
    12.0
    """
    return build(Derivative(f, argnum, name="derivative"))


@checks_keywords("nd.jvp", "primals, tangents")
def jvp(f, argnums=None, *, out=None):
    """Value of a function and its derivative in a given direction (Jacobian-vector product).

    Parameters
    ----------
    f : function or Numba dispatcher
    argnums : int or tuple of ints, optional
        The arguments that have a tangent; every argument where None, and what stands for a
        constant argument (an int, a string, a function) is ignored.
    out : int, optional
        The argument that `f` writes its result into, where it returns None.

    Returns
    -------
    dispatcher
        Called with `(primals, tangents)`, two tuples: all arguments, and a tangent of the structure and
        shapes of the argument for each of `argnums`. Returns `(value, tangent)`, both with the
        structure of the result.

    Raises
    ------
    ArgumentError
        Where a tangent has another structure or shape than its argument; where it belongs to floats
        that are out of reach, in a list or a record (its tangent is None); where
        no argument holds floats.
    UnsupportedError
        When compiled, for what cannot be differentiated.

    Examples
    --------
    >>> import numbad as nd
    >>> nd.jvp(lambda x, y: x * y)((2.0, 3.0), (1.0, 0.5))
    (6.0, 4.0)
    """
    return build(JVP(f, argnums, name="jvp", out=out))
