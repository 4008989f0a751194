"""Finds the allocations that must hold dual numbers, on a function's untyped SSA IR.

`out = np.zeros(3); out[0] = x*y` allocates floats; when `x` is a dual number, the array must hold
duals. The analysis follows where active values flow and which names may share memory, marks the
allocations among them, and wraps each in `as_dual`, which converts a fresh float array or list and
leaves everything else as it is. It errs on the side of marking too much: an array promoted without
need costs time; one not promoted does not compile, and nothing is ever dropped in silence.
"""

from dataclasses import dataclass, replace
from functools import cache
from inspect import CO_VARARGS, signature

import numpy as np
from numba import njit
from numba.core import ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.ir_utils import build_definitions
from numba.core.registry import cpu_target
from numba.extending import register_jitable
from numba.np.unsafe.ndarray import empty_inferred

from ..compilation.decorated import own_code
from ..compilation.memo import remembered
from ..compilation.recursive_calls import GUESSES
from ..ir.leaves import fields_of
from ..ir.stack_arrays import refuse_stack_arrays
from ..ir.trial_types import types_so_far
from ..ir.untyped import constant_of, untyped
from ..rules.registry import CONSTANT_CALLS, JVP, SCALAR
from . import dual as d
from . import known
from .data_flow import Flow, spread, used_as_numbers
from .dual_arrays import as_dual, as_empty_of_duals, dtype_of_type
from .given_back import given_back, holds_constants, refuse_given_back
from .handed_on import is_op
from .instances import Instances, instances_met
from .made_instances import remade
from .merged import convert_merged
from .refuse import refused_at
from .retyped import ALLOCATORS
from .ruled_results import SHARED_WAY_OUT, calls_ruled, shared_result, unlike_function
from .stored_constants import raise_stored

_TEXTS = types.UnicodeType | types.StringLiteral
_NUMBERS = types.Number | types.Boolean | d.Dual | types.RawPointer  # such as where a tape ends
_WITHOUT_MEMORY = _NUMBERS | _TEXTS | types.NoneType


@dataclass
class CallSummary:
    """What a call does: whether its result is active, and which parameters it writes duals to."""

    written: frozenset = frozenset()
    changed: frozenset = frozenset()  # parameters written to, with duals or with constants
    returned: frozenset = frozenset()  # parameters whose memory the result may share
    fresh: bool = False  # the result shares no memory with any parameter
    random: bool = False  # it draws random numbers
    uncertain: frozenset = frozenset()  # parameters that functions of others get, and may write to
    opaque: bool = False  # functions of others may draw random numbers
    walked: frozenset = frozenset()  # parameters whose members, if tuples, need be of one type

    def of_tuple(self):
        """The same where the function's arguments come as one tuple, argument 0."""
        changed = frozenset([0]) if self.changed else frozenset()
        uncertain = frozenset([0]) if self.uncertain else frozenset()
        return CallSummary(changed, changed, frozenset(), True, self.random, uncertain, self.opaque)

    def of_pullback(self):
        """The same for `pull(args, shadows, seed)`, whose result may hold arrays of its arguments."""
        returned = frozenset([0]) if self.returned else frozenset()
        return replace(self.of_tuple(), returned=returned, fresh=not returned)

    def of_args(self, first):
        """The same for a solver `solve(y0, ts, args)`, which gives the function `args` from `first` on."""

        def third(numbers):
            return frozenset([2] if any(k >= first for k in numbers) else ())

        named = {name: third(getattr(self, name)) for name in ("written", "changed", "uncertain")}
        return replace(self, returned=frozenset(), fresh=True, walked=frozenset(), **named)

    @classmethod
    def of_part(cls, count):
        """Of code that is not looked into: it may write to each of its parameters."""
        every = frozenset(range(count))
        return cls(every, every)

    def without(self, scalars):
        """The same for parameters that are numbers, which nothing is written to."""
        kept = frozenset(scalars)
        return replace(
            self,
            written=self.written - kept,
            changed=self.changed - kept,
            uncertain=self.uncertain - kept,
        )

    def without_duals(self):
        """The summary of an operator on the function: it changes what the function changes."""
        certain = self.changed, self.changed, frozenset(), True, self.random
        return CallSummary(*certain, self.uncertain, self.opaque)

    def cautious(self):
        """The same where functions of others do all that they may."""
        changed, random = self.changed | self.uncertain, self.random or self.opaque
        return replace(self, changed=changed, random=random)


class DualActivity:
    """The least set of names that hold or may hold active values, and of containers of duals."""

    def __init__(
        self, flow, active_parameters, analyse, every_store=False, holding=(), suspicious=False
    ):
        self.flow = flow
        self.analyse = analyse
        self.every_store = every_store  # count stores of constants as well
        self.suspicious = suspicious  # functions of others write to what they are given
        self.active = {flow.parameters[i] for i in active_parameters if i in flow.parameters}
        self.holds = set(holding)
        self.stored_to = set()  # those of them that something is written to by this name
        self.fresh_calls = set()
        self.random, self.opaque = flow.draws, bool(flow.unknown)
        self.suspects = {name for names in flow.unknown for name in names} - flow.scalars
        while self._step():
            pass

    def _step(self):
        before = len(self.active), len(self.holds), len(self.fresh_calls)
        spread(self.active, self.flow.forward)
        for target, callee, given, args in self.flow.calls:
            self._dispatcher_call(target, callee, given, args)
        if self.suspicious:
            for names in self.flow.unknown:
                if self.active.intersection(names):
                    self._store_to(names)
        for container, values in self.flow.stores:
            if self.every_store or values & self.active:
                self._store_to([container])
        if not self.every_store:  # what is picked need be of one type, and is not written to
            self.holds.update(m for m in self.flow.merges if m in self.active)
        spread(self.holds, self.flow.shares)
        self.active |= self.holds
        return before != (len(self.active), len(self.holds), len(self.fresh_calls))

    def _store_to(self, names):
        names = set(names) - self.flow.scalars
        self.stored_to |= names
        self.holds |= names

    def _dispatcher_call(self, target, callee, given, args):
        active = frozenset(i for i, names in enumerate(given) if self.active.intersection(names))
        if not _all_given(given, args):  # assume the most
            self.flow._mingle(target, *args)
            if set(args) & self.active or self.every_store:
                self._store_to(args)
            return
        summary = self.analyse(callee, active, self.flow.types_of(given))
        self.random |= summary.random
        self.opaque |= summary.opaque
        uncertain = _named(summary.uncertain, given) - self.flow.scalars
        self.suspects |= uncertain
        if self.suspicious and active:
            self._store_to(uncertain)
        if active and callee not in CONSTANT_CALLS:
            self.active.add(target)
        written = summary.changed if self.every_store else summary.written
        self._store_to(_named(written, given))
        self.flow._share(target, *_named(summary.returned, given))
        for name in _named(summary.walked, given):
            self.flow.unify_members(name)
        if summary.fresh:
            self.fresh_calls.add(target)

    def written_by(self, statement):
        """The names of what a statement writes to, with active values or with constants."""
        stores, calls = self.flow.done.get(id(statement), ((), ()))
        names = {container for container, _ in stores}
        for _, callee, given, args in calls:
            known = _all_given(given, args)
            changed = self.analyse(callee, frozenset()).changed if known else ()
            names |= _named(changed, given) if known else set(args)
        return names

    def promoted(self):
        """The names whose allocation must hold duals."""
        return self.holds & (self.flow.fresh | self.fresh_calls | self.flow.made)

    def written(self):
        """The numbers of the parameters that active values are written to, or anything with `every_store`."""
        found = self.flow.parameters_among(self.holds)
        if not self.every_store:  # what meets duals is written to as well
            return found
        names = self.flow.parameters
        return frozenset(i for i in found if self.flow.derived_with(names[i]) & self.stored_to)

    def uncertain(self):
        """The numbers of the parameters that functions of others may write to."""
        reached = set(self.suspects)
        spread(reached, self.flow.shares)
        return self.flow.parameters_among(reached)


def _all_given(given, args):
    """Whether each argument of a call goes to a parameter of the callee."""
    return set(args) <= {None}.union(*given)


def _named(numbers, given):
    """The names of what the parameters with these numbers are given."""
    return {name for i in numbers if i < len(given) for name in given[i]} - {None}


def _has_rule(dispatcher):
    return dispatcher in SCALAR or dispatcher in JVP


class Analyser:
    """Summaries of callees, computed once for each set of active parameters.

    With the types of the arguments, where `typed`, numbers are known: in `s = p[0]; s *= x`, without them,
    `s` may be a row of `p`, which is written to.
    """

    def __init__(self, instances, typed=False):
        self.instances, self.typed = instances, typed
        self.by_use = False  # what is used as a number is taken for one, where types are not known
        self._flows = {}
        self._summaries = {}
        self._visited = None  # what was summarised in this round; None between rounds

    def __call__(self, dispatcher, active, argtypes=None):
        argtypes = argtypes if self.typed else None
        if self._visited is not None:
            return self._visit(dispatcher, active, argtypes)
        while True:  # functions that call each other: until nothing more is learnt
            before = dict(self._summaries)
            self._visited = set()
            summary = self._visit(dispatcher, active, argtypes)
            self._visited = None
            if self._summaries == before:
                return summary

    def _visit(self, dispatcher, active, argtypes=None):
        if _has_rule(dispatcher) or dispatcher in CONSTANT_CALLS:
            return CallSummary(fresh=True)
        if hasattr(dispatcher, "operator"):
            operator = dispatcher.operator
            given = None if argtypes is None else operator.types_of_f(argtypes)
            inner = self._visit(operator.f, frozenset(), given).without_duals()
            return inner.of_tuple() if operator.takes_tuples else inner
        if hasattr(dispatcher, "pulled"):
            return self._visit(dispatcher.pulled, frozenset()).of_pullback()
        if hasattr(dispatcher, "handed_args"):
            return self._solver(dispatcher, active)
        if hasattr(dispatcher, "numbad_code"):  # a part of a function, there for what it writes
            return CallSummary.of_part(len(signature(dispatcher.py_func).parameters))
        if dispatcher.py_func.__code__.co_flags & CO_VARARGS:
            argtypes = None  # they are not those of `*args`
        key = dispatcher.py_func, active, argtypes, self.by_use
        if key not in self._visited:
            self._visited.add(key)
            self._summaries[key] = self._summarise(dispatcher, active, argtypes)
        return self._summaries.get(key, CallSummary())

    def _solver(self, solve, active):
        """The summary of `solve(y0, ts, args)`, which calls functions with `args` after their first ones."""
        called, before = [], self.by_use
        self.by_use = True
        for fun, first in solve.handed_args:
            count = len(signature(fun.py_func).parameters)
            met = frozenset(range(count) if active else ())
            called.append(self._visit(fun, met).of_args(first))
        self.by_use = before
        union = {
            name: frozenset().union(*(getattr(summary, name) for summary in called))
            for name in ("written", "changed", "uncertain")
        }
        drawn = {name: any(getattr(s, name) for s in called) for name in ("random", "opaque")}
        return CallSummary(fresh=True, **union, **drawn)

    def _summarise(self, dispatcher, active, argtypes):
        key = dispatcher.py_func, argtypes, self.by_use
        if key not in self._flows:
            func_ir = untyped(dispatcher)
            refuse_stack_arrays(dispatcher, func_ir)
            self._flows[key] = self._flow(func_ir, argtypes)
        flow = self._flows[key]
        activity = DualActivity(flow, active, self)
        changes = DualActivity(flow, active, self, every_store=True)
        returned = flow.returned()
        return CallSummary(
            activity.written(),
            changes.written(),
            returned,
            not returned,
            activity.random,
            changes.uncertain(),
            activity.opaque,
            flow.parameters_among(flow.walked),
        )

    def _flow(self, func_ir, argtypes):
        typemap = {}
        if argtypes is not None and len(argtypes) == func_ir.arg_count:
            contexts = cpu_target.typing_context, cpu_target.target_context
            for context in contexts:
                context.refresh()
            typemap = types_so_far(func_ir, *contexts, argtypes, complete=True)
        numbers = scalar_names(typemap)
        if self.by_use:
            numbers |= used_as_numbers(func_ir)
        return Flow(func_ir, (), numbers, self.instances, typemap=typemap).build()


def effects(dispatcher, active, argtypes=None, by_types=False):
    """What a dispatcher does to its parameters when those numbered in `active` are duals.

    Without the types of the arguments methods may be of classes that are not known, and numbers may seem to
    be written to, as what shares a tuple with an array. With `by_types`, where something seems to be written
    to, inference is asked what are numbers: it costs time, and compiles what the code calls.
    """
    argtypes = None if argtypes is None else tuple(argtypes)
    instances = Instances(complete=argtypes is not None).of_types(argtypes or ())
    instances, active = instances.of_dispatcher(dispatcher), frozenset(active)
    found = Analyser(instances)(dispatcher, active)
    if by_types and found.changed:
        found = Analyser(instances, typed=True)(dispatcher, active, argtypes)
    return found.without(i for i, ty in enumerate(argtypes or ()) if shares_nothing(ty))


def own_effects(dispatcher, argtypes=None):
    """What the code of a function with a rule does, whatever the rule says."""
    argtypes = None if argtypes is None else tuple(map(d.primal_type, argtypes))
    known = remembered(dispatcher, "own effects")
    if argtypes not in known:
        known[argtypes] = effects(njit(own_code(dispatcher.py_func)), (), argtypes)
    return known[argtypes]


def is_own_rule(function):
    """Whether a function has a rule of numbad's: it returns new arrays, and changes none."""
    ours = isinstance(function, Dispatcher) and (function.py_func.__module__ or "")
    return bool(ours) and ours.partition(".")[0] == "numbad" and _has_rule(function)


def returned_arguments(dispatcher, argtypes=None):
    """The numbers of the arguments that a function with a rule may return."""
    if is_own_rule(dispatcher):
        return frozenset()
    return own_effects(dispatcher, argtypes).returned


def activities(func_ir, args, scalars=frozenset()):
    """What active values do in `func_ir` for these argument types, and what it changes at all."""
    instances = instances_met(func_ir, args)
    flow = Flow(func_ir, args, scalars, instances).build().unify_results()
    active = frozenset(i for i, ty in enumerate(args) if any(d.duals_in(ty)))
    # What is assigned to a field of duals must hold duals, even if they are all constant.
    given = {i: name for i, name in flow.parameters.items() if i < len(args)}
    holding = {name for i, name in given.items() if fields_of(args[i]) and i in active}
    analyse = Analyser(instances)
    found = DualActivity(flow, active, analyse, holding=holding, suspicious=True)
    return found, DualActivity(flow, active, analyse, every_store=True, suspicious=True)


def _calls_unlike_functions(found, changes):
    def returned(callee):
        return returned_arguments(callee) if isinstance(callee, Dispatcher) else ()

    return unlike_function(found.flow, changes, returned)


def common_dual(typingctx, args):
    """The dual type that holds every dual among the argument types; None where there is none."""
    duals = sorted({dual for ty in args for dual in d.duals_in(ty)}, key=lambda t: t.tag)
    joined = None
    for dual in duals:
        wider = dual if joined is None else d.join(typingctx, joined, dual)
        joined = dual if wider is None else wider
    return joined


def _returned(typingctx, found, args):
    """What a function of duals returns where it seems to return numbers: elsewhere they may be duals."""
    dual = common_dual(typingctx, args)
    if dual is None:
        return found
    if isinstance(found, types.BaseTuple) and not isinstance(found, types.BaseNamedTuple):
        members = [
            ty if isinstance(ty, types.Integer) else _returned(typingctx, ty, args) for ty in found
        ]
        return types.BaseTuple.from_types(members)
    if d.is_float_array(found):
        return found.copy(dtype=d.join(typingctx, found.dtype, dual))
    joined = d.join(typingctx, found, dual) if isinstance(found, types.Number | d.Dual) else None
    return found if joined is None else joined


GUESSES.append(_returned)


def shares_nothing(ty):
    """Whether values of a type share no memory with arrays, as numbers, texts and the tape of a sweep do."""
    return isinstance(ty, _WITHOUT_MEMORY) or not getattr(ty, "holds_arrays", True)


def _is_of_numbers(ty):
    """The same, of tuples of such values too: what `return low, high` gives."""
    return all(map(_is_of_numbers, ty)) if isinstance(ty, types.BaseTuple) else shares_nothing(ty)


def scalar_names(typemap):
    """The names that type inference found to be of such types."""
    return frozenset(name for name, ty in typemap.items() if shares_nothing(ty))


@register_pass(mutates_CFG=False, analysis_only=False)
class PromoteAllocations(FunctionPass):
    """Makes float arrays, lists and dicts that active values are written to hold duals."""

    _name = "numbad_promote_allocations"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        dual = common_dual(state.typingctx, state.args)
        if dual is None:
            return False
        self._check_calls(state)
        self._check_rules(state)
        if not self._may_matter(state):
            return False
        context = state.typingctx, state.targetctx
        typemap = types_so_far(state.func_ir, *context, state.args)
        scalars = scalar_names(typemap)
        found, _ = activities(state.func_ir, state.args, scalars)
        names = found.promoted()
        raised = raise_stored(state.func_ir, found.holds, typemap, dual)
        if names:
            self._wrap(state.func_ir, names - scalars, dual, typemap)
        found, changes = activities(state.func_ir, state.args, scalars)
        merged = convert_merged(state.func_ir, typemap, found, changes, dual, names - scalars)
        if names or merged or raised:
            refresh(state)
        return bool(names or merged or raised)

    @staticmethod
    def _check_calls(state):
        """Refuse what would hide from a structure of constants what is written to its arrays."""
        code = state.func_ir, state.args
        if not any(map(holds_constants, state.args)):
            return
        if not any(given_back(*code, *activities(*code))):
            return
        typemap = types_so_far(state.func_ir, state.typingctx, state.targetctx, state.args)
        numbers = frozenset(name for name, ty in typemap.items() if _is_of_numbers(ty))
        for statement in given_back(*code, *activities(*code, scalar_names(typemap)), numbers):
            refuse_given_back(statement)

    @staticmethod
    def _check_rules(state):
        """Refuse what would make one array of a function with a rule two, of which one is written to."""
        code = state.func_ir, state.args
        if not calls_ruled(state.func_ir) or not any(_calls_unlike_functions(*activities(*code))):
            return
        typemap = types_so_far(state.func_ir, state.typingctx, state.targetctx, state.args)
        for statement, callee in _calls_unlike_functions(*activities(*code, scalar_names(typemap))):
            raise refused_at(statement.loc, shared_result(callee), SHARED_WAY_OUT)

    @staticmethod
    def _may_matter(state):
        """Whether types are worth to be known."""
        found, _ = activities(state.func_ir, state.args)
        merges = found.flow.merges
        constants = any(map(d.is_float_array, state.args))
        kept = found.promoted() | (found.holds & found.flow.refined)
        return kept or (merges if constants else found.active.intersection(merges))

    @staticmethod
    def _wrap(func_ir, names, dual, typemap):
        remake = _Remaking(func_ir, dual)
        for block in func_ir.blocks.values():
            body = []
            for statement in block.body:
                body.append(statement)
                if not (isinstance(statement, ir.Assign) and statement.target.name in names):
                    continue
                loc, target = statement.loc, statement.target
                if remake.is_comprehension(statement.value):
                    body[-1:] = remake.comprehension(statement, typemap.get(target.name))
                    continue
                if remake.is_made(statement.value):
                    body[-1:] = remake.statements(statement)
                    continue
                if _is_list_of_arrays(statement.value, typemap):
                    continue
                raw = ir.Var(target.scope, f"{target.name}$raw", loc)
                convert = as_empty_of_duals if remake.is_empty(statement.value) else as_dual
                fn = ir.Var(target.scope, f"{target.name}$as_dual", loc)
                body[-1] = ir.Assign(statement.value, raw, loc)
                body.append(ir.Assign(ir.Global("as_dual", convert(dual), loc), fn, loc))
                body.append(ir.Assign(ir.Expr.call(fn, [raw], (), loc), target, loc))
            block.body = body
        func_ir._definitions = build_definitions(func_ir.blocks)


def _is_list_of_arrays(value, typemap):
    """Whether an expression is a list, written out, of arrays, which hold duals if the list is to hold them.

    What a function gives is of one type, while a list that is written out may hold arrays of any layout.
    """
    if not is_op(value, "build_list") or not value.items:
        return False
    tys = [typemap.get(v.name) for v in value.items]
    return all(d.is_float_array(ty) or d.is_dual_array(ty) for ty in tys)


@cache
def _empty(scalar):
    """A nopython function of a shape that allocates an array."""
    dtype = dtype_of_type(scalar)
    return register_jitable(lambda shape: np.empty(shape, dtype()))


class _Remaking:
    """Calls of the user's classes become calls that make instances of duals."""

    def __init__(self, func_ir, dual):
        self.func_ir, self.dual = func_ir, dual

    def _function(self, value):
        called = isinstance(value, ir.Expr) and value.op == "call"
        fn = constant_of(self.func_ir, value.func) if called else None
        return fn if isinstance(fn, type) or callable(fn) else None

    def is_made(self, value):
        """Whether an expression is a call of a class."""
        fn = self._function(value)
        return fn is not None and known.makes_instances(known.stood_for(fn))

    def is_empty(self, value):
        """Whether an expression makes a list or dict of a type that is given."""
        return self._function(value) in known.EMPTY

    def is_comprehension(self, value):
        """Whether an expression allocates what `np.array([... for ...])` fills."""
        return self._function(value) is empty_inferred

    def comprehension(self, statement, ty):
        """What stands for that: where Numba has inferred no type, or one of integers, the same."""
        if not d.is_float_array(ty):
            return [statement]
        call, loc, target = statement.value, statement.loc, statement.target
        empty = self._global("empty", _empty(d.with_base(self.dual, ty.dtype)), target, loc)
        made = ir.Expr.call(empty.target, call.args, (), loc)
        return [empty, ir.Assign(made, target, loc)]

    def statements(self, statement):
        """What stands for the call."""
        call, loc, target = statement.value, statement.loc, statement.target
        given = [constant_of(self.func_ir, v) for v in call.args]
        fn, convert = remade(self._function(call), self.dual, given)
        made = [self._global("make", fn, target, loc)]
        func, args = made[0].target, list(call.args)
        if convert is not None:
            made.append(self._global("raised", convert, target, loc))
            raised = made[1].target
            for k, arg in enumerate(args):
                args[k] = ir.Var(target.scope, f"{target.name}$raised{k}", loc)
                made.append(ir.Assign(ir.Expr.call(raised, [arg], (), loc), args[k], loc))
        elif fn in ALLOCATORS:  # in place of `structref.new(type)`
            args = []
        made.append(ir.Assign(ir.Expr.call(func, args, call.kws, loc, call.vararg), target, loc))
        return made

    @staticmethod
    def _global(name, value, target, loc):
        var = ir.Var(target.scope, f"{target.name}${name}", loc)
        return ir.Assign(ir.Global(name, value, loc), var, loc)


def refresh(state):
    """Let the contexts learn what was registered since this compilation began."""
    state.typingctx.refresh()
    state.targetctx.refresh()
