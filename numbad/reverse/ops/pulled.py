"""Calls whose derivative is code of its own: another pullback, or a user's `vjp` rule."""

from functools import cache
from types import FunctionType

from numba import typeof
from numba.core import ir, types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher, cpu_target

from ...compilation.linking import PLAIN
from ...errors import NumbadError, RuleError
from ...forward.custom import two_of
from ...forward.dual import duals_in
from ...forward.dualize import dispatcher_for_duals
from ...forward.promote import own_effects, returned_arguments
from ...forward.refuse import reason, told_before
from ...forward.ruled_results import SHARED_WAY_OUT, shared_result
from ...ir.fence import refuse
from ...ir.function import is_expr, may_follow, read_by
from ...ir.leaves import HANDLES, leaves
from ...rules.registry import CONSTANT_CALLS, VJP, name_of
from .. import random_state
from ..constant_memory import constant_parts, may_change_from
from ..memory_helpers import (
    add_cotangent,
    check_unread,
    exchanged_draws,
    kept,
    kept_draws,
    kept_type,
    nth_cotangent,
)
from ..pullbacks import pullback
from .base import Op
from .lists import refuse_lists
from .objects import refuse_instances


class RuleDispatcher(CPUDispatcher):
    """A function of a rule; what is wrong with it is told as the rule's fault."""

    def compile(self, sig):
        try:
            return super().compile(sig)
        except NumbaError as error:
            if isinstance(error, NumbadError) or told_before(error) is not None:
                raise
            told = name_of(self.py_func.__numbad_rule_of__)
            raise RuleError(
                f"the rule of {told}: its function {self.py_func.__name__} does not compile for what "
                f"it is called with: {reason(error)}"
            ) from error


def copy_of(function):
    """Another function of the same code."""
    return FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )


@cache
def of_rule(function, callee):
    """A function of a rule of `callee`: calls of `callee` in it mean its code, for dual numbers too."""
    if isinstance(function, Dispatcher) and type(function) not in PLAIN:
        return function
    copy = copy_of(getattr(function, "py_func", function))
    copy.__numbad_rule_of__ = callee
    options = getattr(function, "targetoptions", {"nopython": True})
    return RuleDispatcher(copy, locals=getattr(function, "locals", {}), targetoptions=options)


class Called(Op):
    """A call; `arguments` are its variables in the order of the parameters."""

    def __init__(self, fn, label, statement, arguments, callee):
        self.arguments, self.callee = arguments, callee
        super().__init__(fn, label, statement)

    def analyse(self):
        given = [(k, leaf) for k, v in enumerate(self.arguments) for leaf in self.leaves(v)]
        inputs = [leaf for _, leaf in given]
        outputs = self.leaves(self.target)
        for source, _ in inputs:
            self.flows += [(source, target) for target, _ in outputs]
        if changes := self.changes():
            for k, (target, leaf) in given:
                if leaf.kind in HANDLES and (changes is True or _is_among(changes, k, target[1])):
                    self.stores.append(target)
                    self.flows += [(source, target) for source, _ in inputs if source != target]

    def changes(self):
        """Whether the callee may write to its arguments; or to which, as `{(argument, place in it)}`."""
        return False

    def shadows(self, e):
        for identity in self.defined():
            if e.active(identity):
                e.set_shadow(identity, e.new_shadow_at(identity))

    def refuse_shared(self, e):
        """Refuse a result that may be a part of an argument, where that shows."""
        if not isinstance(self.callee, Dispatcher):
            return
        tys = [types.unliteral(self.fn.type_of(v)) for v in self.arguments]
        for k in returned_arguments(self.callee, tys):
            if shows_sharing(self, e.activity, [self.arguments[k]]):
                raise refuse(shared_result(self.callee), self.loc, SHARED_WAY_OUT)

    def _is_active(self, e, var):
        return any(e.active(leaf) for leaf, _ in self.leaves(var))

    def must_copy(self, e, var):
        """Whether an array may be another when the reverse sweep reads it."""
        handles = [leaf for leaf, what in self.leaves(var) if what.kind in HANDLES]
        return any(e.activity.node(leaf) in e.activity.written for leaf in handles)

    def _types_in(self, raised):
        """The types of the arguments where the function is compiled: `raised` of those that it has itself."""
        for var in self.arguments:
            ty = self.fn.type_of(var)
            yield ty if _is_constant(self.fn, var) else raised(ty)

    def kept_type(self, k):
        """The type of a copy of an argument that is kept."""
        return kept_type(types.unliteral(self.fn.type_of(self.arguments[k])))

    def is_live(self, e):
        """Whether any cotangent comes in."""
        out = [leaf for leaf, _ in self.leaves(self.target)]
        return any(e.active(leaf) for leaf in [*out, *self.stores])

    def seed(self, e, ty, path=()):
        """The cotangent of the result, taken."""
        ty = ty.type if isinstance(ty, types.Optional) else ty
        if isinstance(ty, types.BaseTuple):
            return e.tuple([self.seed(e, t, (*path, k)) for k, t in enumerate(ty.types)])
        leaf = self.target, path
        found = leaves(ty)
        if not found:
            return e.none()
        if found[0].kind in HANDLES:
            return self.seed_of_array(e, leaf)
        if not e.pending(leaf):
            return e.zero_of(ty)
        return e.take(leaf)

    def seed_of_array(self, e, leaf):
        """The cotangent of an array that is returned."""
        return e.shadow(leaf) if e.active(leaf) else e.new_shadow_at(leaf)

    def add_all(self, e, var, cotangent, path=()):
        """Add a cotangent of the structure of an argument to the adjoints of its leaves."""
        self._add(e, var, self.fn.type_of(var), cotangent, path)

    def _add(self, e, var, ty, cotangent, path):
        ty = ty.type if isinstance(ty, types.Optional) else types.unliteral(ty)
        if isinstance(ty, types.BaseTuple):
            for k, t in enumerate(ty.types):
                if leaves(t):
                    self._add(e, var, t, e.item(cotangent, k), (*path, k))
            return
        leaf = var.name, path
        if leaves(ty) and e.active(leaf):
            self._add_leaf(e, leaf, ty, cotangent)

    def _add_leaf(self, e, leaf, ty, cotangent):
        if leaves(ty)[0].kind in HANDLES:
            e.call(add_cotangent, e.shadow(leaf), cotangent)
        else:
            e.add(leaf, cotangent)


def _is_among(places, k, path):
    """Whether a leaf of argument `k` lies at one of the places in arguments, or within it."""
    return any(k == j and path[: len(place)] == place for j, place in places)


class Pulled(Called):
    """A call that is evaluated again in the reverse sweep, by the pullback of its callee.

    A callee with `numbad_adjoints(wrt)` has a pullback that does not give the value once more. A callee
    with `numbad_pullback_at(wrt)` is not evaluated: its pullback takes the result as fourth argument,
    or what `numbad_recorded()`, a function that returns `(result, records)`, gives beside it.
    `numbad_changes`, or that of the types of the arguments, says whether it may write to them, or to
    which: what it leaves in these is not to be read.
    """

    def changes(self):
        known = getattr(self.callee, "numbad_changes", True)
        if callable(known):
            return known(tuple(types.unliteral(self.fn.type_of(v)) for v in self.arguments))
        return known

    def is_pulled_plainly(self):
        return not (self.changes() or self.draws())

    def wrt(self, e):
        return tuple(k for k, v in enumerate(self.arguments) if self._is_active(e, v))

    def forward(self, e):
        if e.is_silent():
            e.append(self.statement)
            return
        self.keep_arguments(e)
        if not (self._pullback_at() and self.is_live(e)):
            e.append(self.statement)
            return
        records = self.statement.target
        mine = e.extra(self, "result", self._records_type)
        if hasattr(self.callee, "numbad_recorded"):
            pair = e.call(self.callee.numbad_recorded(), *self.arguments)
            e.assign(e.item(pair, 0), self.statement.target)
            records = e.item(pair, 1)
        else:
            e.append(self.statement)
        e.assign(e.call(kept, e.var("$tape"), records), mine)

    def _records_type(self, raised):
        """The type of what is kept, for `_types_in`."""
        given = list(self._types_in(raised))
        if hasattr(self.callee, "numbad_recorded"):
            return kept_type(_returned(self.callee.numbad_recorded(), given).types[1])
        return kept_type(_returned(self.callee, given))

    def _pullback_at(self):
        return getattr(self.callee, "numbad_pullback_at", None)

    def keep_arguments(self, e):
        """Arrays that may change are copied as they are before the call."""
        if self.is_live(e):
            for k, var in enumerate(self.arguments):
                if self.must_copy(e, var):
                    e.assign(self._kept_argument(e, var), e.extra(self, k, self.kept_type(k)))
            if self.draws():
                e.assign(e.call(kept_draws, e.var("$tape")), e.extra(self, "draws", _STATES))

    def _kept_argument(self, e, var):
        return e.call(kept, e.var("$tape"), var)

    def draws(self):
        """Whether the callee draws random numbers, which the second evaluation must draw again."""
        return getattr(self.callee, "numbad_draws", False)

    def _refuse_generators(self):
        for var in self.arguments:
            if isinstance(self.fn.type_of(var), types.NumPyRandomGeneratorType):
                name = self.callee.py_func.__name__
                raise refuse(
                    f"{name} with a Generator: the reverse sweep would draw other numbers",
                    self.loc,
                    "draw before the call, and pass it the numbers",
                )

    def must_copy(self, e, var):
        gone = self._is_gone(e, var) or (_is_left(e) and self._holds_arrays(var))
        return gone or super().must_copy(e, var) or self._changes_constants(e, var)

    def _holds_arrays(self, var):
        return any(leaf.kind == "array" for leaf in leaves(self.fn.type_of(var)))

    def _is_gone(self, e, var):
        """Whether nobody may hold an array any more when the loop comes back to where it is passed."""
        if not self._holds_arrays(var) or e.plan.is_outside(var):
            return False
        built = self.fn.definition(var)
        if is_expr(built, "build_tuple"):
            return any(self._is_gone_from_tuple(item) for item in built.items)
        return True

    def _is_gone_from_tuple(self, var):
        return (
            self._holds_arrays(var) and var.name not in self.fn.parameters
        )  # the caller holds those

    def _changes_constants(self, e, var):
        """Whether arrays of integers, say, will be others when the call is evaluated again."""
        changed = [
            part
            for part in constant_parts(self.fn.type_of(var))
            if _is_left(e) or may_change_from(self.fn, self.label, self.statement, part)
        ]
        for part in changed:
            if not isinstance(part, types.Array):
                raise refuse(
                    f"{self.callee.py_func.__name__}: the reverse sweep calls it again, when its argument of "
                    f"type {part} may have changed",
                    self.loc,
                    "pass it an array instead, or a copy",
                )
        return bool(changed)

    def reverse(self, e):
        if not self.is_live(e):
            return
        refuse_instances(self, self.arguments)
        refuse_lists(self, e, [*self.arguments, self.statement.target])
        self._refuse_generators()
        args = [
            e.extra_value(self, k, self.kept_type(k)) if self.must_copy(e, v) else e.value(v)
            for k, v in enumerate(self.arguments)
        ]
        wrt = self.wrt(e)
        shadows = [
            self._shadow(e, v, self.fn.type_of(v), ()) if k in wrt else e.none()
            for k, v in enumerate(self.arguments)
        ]
        self._check_unread(e)
        seed = self.seed(e, self.fn.type_of(self.target))
        adjoints = e.item(self._pull(e, wrt, args, shadows, seed), 1)
        for k in wrt:
            ty = self.fn.type_of(self.arguments[k])
            self._add_floats(e, self.arguments[k], ty, e.item(adjoints, k), ())

    def _check_unread(self, e):
        """No cotangent may come in for what a solver leaves in arrays among its arguments."""
        places = self.changes()
        for k, var in enumerate(self.arguments if isinstance(places, set) else ()):
            for leaf, what in self.leaves(var):
                if what.kind in HANDLES and e.active(leaf) and _is_among(places, k, leaf[1]):
                    e.call(check_unread, e.shadow(leaf))

    def _pull(self, e, wrt, args, shadows, seed):
        now = (
            e.call(exchanged_draws, e.extra_value(self, "draws", _STATES)) if self.draws() else None
        )
        result = [e.extra_value(self, "result", self._records_type)] if self._pullback_at() else []
        pull = self.pull_of(wrt)
        pair = e.call(pull, e.tuple(args), e.tuple(shadows), seed, *result)
        if now is not None:
            e.call(random_state.restore, now)
        return pair

    def pull_of(self, wrt):
        """The dispatcher that pulls the cotangent of the result back to some arguments."""
        own = self._pullback_at() or getattr(self.callee, "numbad_adjoints", None)
        return own(wrt) if own else pullback(self.callee, wrt)

    def _add_floats(self, e, var, ty, cotangent, path):
        """Adjoints of arrays are in their shadows already."""
        if isinstance(ty, types.BaseTuple):
            for k, t in enumerate(ty.types):
                if any(leaf.kind == "scalar" for leaf in leaves(t)):
                    self._add_floats(e, var, t, e.item(cotangent, k), (*path, k))
        elif leaves(ty) and leaves(ty)[0].kind == "scalar" and e.active((var.name, path)):
            e.add((var.name, path), cotangent)

    def _shadow(self, e, var, ty, path):
        if isinstance(ty, types.BaseTuple):
            if not any(leaf.kind in HANDLES for leaf in leaves(ty)):
                return e.none()
            return e.tuple([self._shadow(e, var, t, (*path, k)) for k, t in enumerate(ty.types)])
        found = leaves(ty)
        if not found or found[0].kind not in HANDLES:
            return e.none()
        return self.shadow_of_array(e, (var.name, path))

    def shadow_of_array(self, e, leaf):
        """What the pullback adds the adjoint of an array to."""
        return e.shadow(leaf) if e.active(leaf) else e.new_shadow_at(leaf)


def _is_left(e):
    """Whether the function is left before it is reversed, so that its caller may write to what it knows."""
    return e.plan.control.root is not None


_STATES = types.Array(types.uint8, 1, "C")  # of random number generators

_PAIR = two_of("forward function", "(value, residuals)")


def shows_sharing(call, activity, arguments):
    """Whether a result that is an argument's own memory, or a part, would be told from one of its own.

    It is where one of the two is written to after the call, and the other read after that.
    """
    results = {activity.node(i) for i, leaf in call.leaves(call.target) if leaf.kind in HANDLES}
    given = [pair for v in arguments for pair in call.leaves(v)]
    sources = {activity.node(i) for i, leaf in given if leaf.kind in HANDLES}
    if not results.isdisjoint(sources):
        return False

    def follows(first, then):
        places = [(op.label, op.number) for op in (first, then, call)]
        return may_follow(call.fn.blocks, *places)

    def reads(op, nodes):
        read = (identity for v in read_by(op.statement) for identity, _ in op.leaves(v))
        return any(activity.node(identity) in nodes for identity in read)

    for written, read in ((results, sources), (sources, results)):
        for writer in [op for node in written for op in activity.writers.get(node, ())]:
            later = writer is not call and follows(call, writer)
            if later and any(reads(op, read) and follows(writer, op) for op in activity.every()):
                return True
    return False


def _is_constant(fn, var):
    """Whether a variable is a constant, or comes of a call that gives no duals of duals."""
    built = fn.definition(var)
    while isinstance(built, ir.Expr) and built.op in ("static_getitem", "exhaust_iter", "cast"):
        built = fn.definition(built.value)
    if is_expr(built, "build_tuple"):
        return all(_is_constant(fn, item) for item in built.items)
    if isinstance(built, ir.Const | ir.Global | ir.FreeVar):
        return True
    callee = fn.type_of(built.func) if is_expr(built, "call") else None
    return isinstance(callee, types.Dispatcher) and callee.dispatcher in CONSTANT_CALLS


def _returned(function, given):
    """The type that a function returns for arguments of the given types."""
    given = tuple(map(types.unliteral, given))
    if any(map(any, map(duals_in, given))):
        function = dispatcher_for_duals(function)
    found = cpu_target.typing_context.resolve_function_type(typeof(function), given, {})
    return types.unliteral(found.return_type)


def does_the_same_again(call):
    """Whether a function with a rule gives the same when it is called again, and changes nothing."""
    if not isinstance(call.callee, Dispatcher):
        return False
    done = own_effects(call.callee, [types.unliteral(call.fn.type_of(v)) for v in call.arguments])
    done = done.cautious()
    return not (done.changed or done.random)


class Custom(Called):
    """A call of a function with a rule `(forward, backward)` of the user's."""

    def __init__(self, fn, label, statement, arguments, callee):
        self.forward_rule, self.backward_rule = (of_rule(part, callee) for part in VJP[callee])
        super().__init__(fn, label, statement, arguments, callee)

    def is_pulled_plainly(self):
        return does_the_same_again(self)

    def _residuals_type(self, raised):
        """The type of what is kept, for `_types_in`."""
        return kept_type(_returned(self.forward_rule, self._types_in(raised)).types[1])

    def forward(self, e):
        if any(self._is_active(e, v) for v in self.arguments):
            self.refuse_shared(e)
        if e.is_silent() or not self.is_live(e):
            e.append(self.statement)
            return
        pair = e.call(_PAIR, e.call(self.forward_rule, *self.arguments))
        e.assign(e.item(pair, 0), self.statement.target)
        residuals = e.item(pair, 1)
        mine = e.extra(self, "residuals", self._residuals_type)
        e.assign(e.call(kept, e.var("$tape"), residuals), mine)

    def reverse(self, e):
        if not self.is_live(e):
            return
        refuse_instances(self, [v for v in self.arguments if self._is_active(e, v)])
        refuse_lists(self, e, [*self.arguments, self.statement.target])
        seed = self.seed(e, self.fn.type_of(self.target))
        residuals = e.extra_value(self, "residuals", self._residuals_type)
        cotangents = e.call(self.backward_rule, residuals, seed)
        for k, var in enumerate(self.arguments):
            if self._is_active(e, var):
                one = e.call(nth_cotangent(k, len(self.arguments)), cotangents)
                self.add_all(e, var, one)
