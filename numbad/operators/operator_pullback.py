"""The pullback of an operator's result: reverse mode around a function that differentiates.

Every operator is the pullback of its function, or the tangent of it, so its own pullback is the
pullback of the function on dual numbers, and generated code is never differentiated. With the
function's Jacobian J at x, a direction `dx` and a cotangent `c + e dc`, one call of the pullback at
`x + e dx` gives

    y = f(x)            dy = J dx
    xbar = J^T c        dxbar = D_dx[J^T] c + J^T dc

where e is infinitesimal. So the pullback of `jvp`, at (x, dx), takes the cotangents (dc, c) to
(dxbar, xbar); that of `vjp`, at (x, c), takes (dc, dx) to (dxbar, dy), second derivatives being
symmetric; that of a gradient is that of `vjp` with c = 1. A Jacobian is `jvp` column by column.
"""

import dis

from numba.core import types
from numba.core.registry import CPUDispatcher

from ..errors import UnsupportedError
from ..forward.dualize import has_own_rule
from ..forward.promote import effects
from .adjoint import aligned
from .argument_structure import leaves, parse
from .aux_results import beside_gradient, value_and_aux
from .columns import write_columns
from .dualpull import DualPull
from .jacobian_operator import Jacobian
from .operator_dispatcher import PULLBACKS, Operator, parameter_names, starred
from .reverse_gradient import in_tuple
from .second_order import HVP
from .tangent import JVP, Derivative
from .vjp import VJP, checked_primals, holds_floats


class Pullback(Operator):
    """`pull(args, shadows, seed) -> (value, adjoints)` of the function that an operator returned.

    A `bare` one gives None as the value.
    """

    takes_tuples = True

    def __init__(self, f, wrt, bare=False):
        self.name = "pullback"
        super().__init__(f)
        self.wrt, self.bare = tuple(wrt), bare
        if not self.inner.has_pullback:
            raise UnsupportedError(
                f"reverse mode cannot differentiate the sparse Jacobian of {self.inner.f.py_func.__name__}. "
                "Way out: nd.jacobian without sparsity="
            )

    @property
    def inner(self):
        """The operator whose result this is the pullback of."""
        return self.f.operator

    def key(self):
        return self.name, self.wrt, self.bare

    def parameters(self):
        return "args, shadows, seed", {}

    def _refuse_effects(self, argtypes):
        """A second call would meet what the first one changed."""
        f = self.inner.f
        given = self.inner.types_of_f(argtypes)
        done = effects(f, range(len(parameter_names(f.py_func))), given, by_types=True)
        if not (done.changed or done.random):
            return
        what = "may change its arguments" if done.changed else "draws random numbers"
        raise UnsupportedError(
            f"reverse mode cannot differentiate nd.{self.inner.name} of {f.py_func.__name__}, which "
            f'{what}. Way out: mode="forward" for the derivative around it'
        )

    def generate(self, typingctx, argtypes):
        args, _, seed = argtypes
        self._refuse_effects(args)
        for kind, write in _WRITERS.items():
            if isinstance(self.inner, kind):
                return write(self, typingctx, tuple(args), seed, argtypes)
        raise UnsupportedError(f"reverse mode cannot differentiate nd.{self.inner.name}")


def _dual_pull(pullback, typingctx, f, arguments, argtypes, scalar=False):
    """The call on dual numbers; arrays leave it by the value alone, if there is one that is no number."""
    return DualPull(pullback, typingctx, f, arguments, argtypes, ends=pullback.bare or scalar)


def _write(pullback, pull, value, adjoints, count):
    """The pullback, from the lines of the call."""
    return pull.write("None" if pullback.bare else value, adjoints, count)


def _plain_arguments(args):
    return [(f"args[{k}]", ty) for k, ty in enumerate(args)]


def _jacobian(pullback, typingctx, args, seed, argtypes):
    """Of `grad` and `value_and_grad`; of `jacobian`, column by column."""
    inner = pullback.inner
    if not inner.scalar:
        return write_columns(pullback, typingctx, args, seed, argtypes)
    plain, number = _plain_arguments(args), not inner.has_aux
    pull = _dual_pull(pullback, typingctx, inner.f, plain, argtypes, number)
    along, ty = _seed_of_gradient(inner, seed)
    for j, k in enumerate(inner.argnums):
        if inner.single:
            pull.direct(k, along, ty)
        else:
            pull.direct(k, f"{along}[{j}]", ty[j])
    pull.prepare({*pullback.wrt, *inner.argnums})
    pull.call(*_seeds_of_result(inner, pull, seed))
    gradient = in_tuple(inner, [pull.primal_cotangent(k) for k in inner.argnums])
    if inner.with_value or inner.has_aux:
        pull.lines.append(f"returned = {pull.value()}")
    value = beside_gradient(inner, "returned", gradient)
    adjoints = {k: pull.deliver(f"[{k}]", args[k], pull.tangents(k)) for k in pullback.wrt}
    return _write(pullback, pull, f"({value})", adjoints, len(args))


def _seed_of_gradient(inner, seed):
    """Source and type of the cotangent of a gradient, in that of all that its call returns."""
    if inner.with_value:
        return "seed[1]", seed[1]
    return ("seed[0]", seed[0]) if inner.has_aux else ("seed", seed)


def _seeds_of_result(inner, pull, seed):
    """The cotangent of the function's result, and its direction: sources by the ids of leaves."""
    value, aux = value_and_aux(inner, pull.source.result)
    cotangent = {id(value): "1.0"}
    if aux is None:
        return cotangent, {id(value): "seed[0]"} if inner.with_value else {}
    place, ty = ("seed[0][1]", seed[0][1]) if inner.with_value else ("seed[1]", seed[1])
    direction = {key: leaf.source for key, leaf in aligned(aux, parse(ty, place))}
    if inner.with_value:
        direction[id(value)] = "seed[0][0]"
    return cotangent, direction


def _derivative(pullback, typingctx, args, seed, argtypes):
    """Of `derivative`: the direction is one."""
    (k,) = pullback.inner.argnums
    pull = _dual_pull(pullback, typingctx, pullback.inner.f, _plain_arguments(args), argtypes)
    pull.direct(k, "1.0", types.float64)
    pull.prepare(pullback.wrt)
    pull.call(pull.matched("seed", seed), {})
    adjoints = {k: pull.deliver(f"[{k}]", args[k], pull.tangents(k)) for k in pullback.wrt}
    return _write(pullback, pull, pull.tangent(), adjoints, len(args))


def _in_tuples(pullback, typingctx, args, argtypes, f, argnums, directions):
    """The pullback of an operator's function, for an operator that takes `(primals, ...)`.

    `directions` are `(source, types)` of a tuple with one direction for each of `argnums`.
    """
    arguments = checked_primals(pullback.inner, (args[0], args[1]))
    arguments = [(f"args[0]{source.removeprefix('primals')}", ty) for source, ty in arguments]
    pull = _dual_pull(pullback, typingctx, f, arguments, argtypes)
    source, tys = directions
    for j, k in enumerate(argnums[: len(tys)]):  # defaults may have none
        pull.direct(k, f"{source}[{j}]", tys[j])
    asked = _mentioned(f, arguments) if 0 in pullback.wrt else argnums
    pull.prepare({k for k in (*asked, *argnums) if holds_floats(arguments[k][1])})
    return pull


def _mentioned(f, arguments):
    """Numbers of the arguments that a function's code mentions; of the others, those that are numbers.

    An array of weights that one function of several ignores costs nothing then; a number costs nothing in
    any case. All of them, where what is differentiated is another code than the dispatcher's own.
    """
    if type(f) is not CPUDispatcher or has_own_rule(f):
        return range(len(arguments))
    found = set()
    for instruction in dis.get_instructions(f.py_func):
        names = instruction.argval
        found.update(names if isinstance(names, tuple) else (names,))
    names = parameter_names(f.py_func)
    return [
        k
        for k, (_, ty) in enumerate(arguments)
        if isinstance(ty, types.Number)
        or k >= len(names)
        or names[k] in found
        or starred(f.py_func) == k
    ]


def _primals_adjoint(pull, primals):
    """The adjoint of the tuple of primals, which has no place for arguments left to their defaults."""
    given = min(len(pull.arguments), len(primals))
    found = [entry for k in range(given) for entry in pull.tangents(k)]
    return pull.deliver("[0]", primals, found)


def _by_place(ty, source, places):
    """What belongs to each leaf of an argument, from `places`: source of the leaf -> entry."""
    return [places.get(leaf.source) for leaf in leaves(parse(ty, source))]


def _vjp(pullback, typingctx, args, seed, argtypes):
    """Of `vjp`: the cotangents say along which direction of the arguments."""
    inner = pullback.inner
    directions = "seed[1]", seed[1]
    pull = _in_tuples(pullback, typingctx, args, argtypes, inner.f, inner.argnums, directions)
    cotangent = pull.matched("args[1]", args[1])
    pull.call(cotangent, pull.matched("seed[0]", seed[0]))
    found = "".join(pull.primal_cotangent(k) + ", " for k in inner.argnums)
    adjoints = {}
    if 0 in pullback.wrt:
        adjoints[0] = _primals_adjoint(pull, args[0])
    if 1 in pullback.wrt:
        places = {cotangent[id(x)]: pull.along(x) for x in pull.result_leaves()}
        adjoints[1] = pull.deliver("[1]", args[1], _by_place(args[1], "args[1]", places))
    return _write(pullback, pull, f"({pull.value()}, ({found}))", adjoints, 2)


def _jvp(pullback, typingctx, args, seed, argtypes):
    """Of `jvp`: the cotangent of the tangent is pulled back, with that of the value along it."""
    inner = pullback.inner
    directions = "args[1]", args[1]
    pull = _in_tuples(pullback, typingctx, args, argtypes, inner.f, inner.argnums, directions)
    pull.call(pull.matched("seed[1]", seed[1]), pull.matched("seed[0]", seed[0]))
    adjoints = _tangents_too(pullback, pull, args, inner.argnums)
    return _write(pullback, pull, f"({pull.value()}, {pull.tangent()})", adjoints, 2)


def _tangents_too(pullback, pull, args, argnums):
    """The adjoints of `(primals, tangents)`."""
    adjoints = {}
    if 0 in pullback.wrt:
        adjoints[0] = _primals_adjoint(pull, args[0])
    if 1 in pullback.wrt:
        places = {}
        for j, k in enumerate(argnums[: len(args[1])]):
            given = dict(aligned(pull.source.trees[k], parse(args[1][j], f"args[1][{j}]")))
            for leaf, entry in zip(leaves(pull.source.trees[k]), pull.cotangents(k), strict=True):
                if leaf.kind != "constant":
                    places[given[id(leaf)].source] = entry
        adjoints[1] = pull.deliver("[1]", args[1], _by_place(args[1], "args[1]", places))
    return adjoints


def _hvp(pullback, typingctx, args, seed, argtypes):
    """Of `hvp` and `grad_and_hvp`: as `jvp` of value and gradient."""
    inner = pullback.inner
    argnums = inner.differentiated(args[0])
    given = inner.argnums
    f = inner.gradient(argnums, value=True)
    directions = "args[1]", args[1]
    pull = _in_tuples(pullback, typingctx, args, argtypes, f, given, directions)
    whole = inner.name == "grad_and_hvp"
    zero = types.Tuple((types.float64, seed[2] if whole else seed))
    pull.lines.append(f"cotangent = (0.0, {'seed[2]' if whole else 'seed'})")
    along = {}
    if whole:
        pull.lines.append("direction = (seed[0], seed[1])")
        along = pull.matched("direction", types.Tuple((seed[0], seed[1])))
    pull.call(pull.matched("cotangent", zero), along)
    adjoints = _tangents_too(pullback, pull, args, given)
    product = f"tangent_of_level(value[1], {pull.tag})"
    value = f"({pull.value()}[0], {pull.value()}[1], {product})" if whole else product
    return _write(pullback, pull, value, adjoints, 2)


_WRITERS = {Jacobian: _jacobian, Derivative: _derivative, JVP: _jvp, VJP: _vjp, HVP: _hvp}

PULLBACKS.append(Pullback)
