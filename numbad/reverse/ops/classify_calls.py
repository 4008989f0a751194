"""Tells for every call which `Op` it is."""

import inspect
import random
import types as python_types

import numpy as np
from numba.core import types
from numba.core.dispatcher import LiftedCode

from ...forward.custom import CHANGE_WAY_OUT, first_changed, of_change
from ...forward.object_mode import OBJECT_MODE_WAY_OUT
from ...forward.refuse import place_of_def
from ...forward.retyped import ALLOCATORS
from ...ir.callee import callee_of, implementation
from ...ir.fence import refuse
from ...ir.leaves import leaves
from ...ir.reached import refused_draw
from ...rules.foreign import FOREIGN, FOREIGN_WAY_OUT
from ...rules.function_of_ufunc import ruled_function
from ...rules.registry import CONSTANT, CONSTANT_CALLS, COPYING, JVP, STOPPING, VJP, name_of
from ..parallel import LoopDispatcher
from . import list_changes, list_helpers, lists, objects
from .array import ConstantArray, Fresh, StoppedCopy
from .base import Constant, Unknown, without_floats, without_floats_in
from .by_name import FUNCTIONS, METHODS, READING_METHODS, output_of
from .call import PlainCall, Pure, StopGradient
from .checkpointed import Checkpointed
from .parallel_loop import Parallel
from .pulled import Custom, Pulled
from .recursive import Recursive
from .ruled_by_jvp import RuledByJvp
from .scalar_function import ScalarOp, has_rule, is_scalar


def classify_call(fn, label, s, call):
    """The `Op` of a call."""
    if s.target.name in fn.recursive:
        return Recursive(fn, label, s, call.args, *fn.recursive[s.target.name])
    callee = callee_of(fn, call)
    if callee.kind == "ufunc":
        return _ufunc(fn, label, s, call, callee.key)
    if callee.kind == "dispatcher":
        return _dispatcher(fn, label, s, call, callee.key)
    if lists.is_list(fn.type_of(s.target)) and not _has_own_floats(fn, call):
        op = lists.new_list(fn, label, s, call)
        if op is not None:
            return op
    op = list_changes.typed_from_values(fn, label, s, call)
    if op is not None:
        return op
    if callee.kind == "method":
        return _method(fn, label, s, call, callee)
    if callee.kind == "class":
        found = FUNCTIONS.get("class")
        return found(fn, label, s, call, callee.key)
    if callee.kind == "function":
        return _function(fn, label, s, call, callee)
    if callee.kind == "foreign" and not without_floats(fn, s):
        return Foreign(fn, label, s, callee.key)
    return _opaque(fn, label, s)


def _ufunc(fn, label, s, call, ufunc):
    """A call of what `numba.vectorize` made."""
    if isinstance(fn.type_of(s.target), types.Array):
        operator = FUNCTIONS["array operator"]
        return operator(fn, label, s, ufunc, call.args, call)
    return _dispatcher(fn, label, s, call, ruled_function(ufunc) or ufunc._dispatcher)


def _has_own_floats(fn, call):
    """Whether a call is none that makes an empty list: those are of nothing that holds floats."""
    callee = callee_of(fn, call)
    given = [v for v in call.args if not fn.is_type(v)]
    if callee.kind == "dispatcher" or any(leaves(fn.type_of(v)) for v in given):
        return True
    return callee.kind == "method" and bool(leaves(fn.type_of(callee.owner)))


def _opaque(fn, label, s):
    floats = without_floats(fn, s)
    return Constant(fn, label, s) if floats else Unknown(fn, label, s)


def _dispatcher(fn, label, s, call, dispatcher):
    if isinstance(dispatcher, LiftedCode):
        return Constant(fn, label, s) if without_floats(fn, s) else ObjectMode(fn, label, s)
    if dispatcher in list_helpers.FINDS_ORDER or dispatcher in CONSTANT_CALLS:
        return Constant(fn, label, s)
    if has_rule(dispatcher):
        return ScalarOp(fn, label, s, dispatcher, arguments_of(fn, call, dispatcher))
    if dispatcher in VJP or dispatcher in JVP:
        arguments = arguments_of(fn, call, dispatcher)
        changed = first_changed(dispatcher, [types.unliteral(fn.type_of(v)) for v in arguments])
        if changed is not None:
            return RuledChange(fn, label, s, dispatcher, changed)
        made = Custom if dispatcher in VJP else RuledByJvp
        return made(fn, label, s, arguments, dispatcher)
    if isinstance(dispatcher, LoopDispatcher):
        return Parallel(fn, label, s, call.args, dispatcher)
    if hasattr(dispatcher, "numbad_pullback"):
        arguments = arguments_of(fn, call, dispatcher)
        if hasattr(dispatcher, "numbad_chosen"):  # code that is differentiated, for some types
            chosen = dispatcher.numbad_chosen([fn.type_of(v) for v in arguments])
            if chosen is not None:
                return PlainCall(fn, label, s, chosen)
        made = Checkpointed if hasattr(dispatcher, "numbad_effects") else Pulled
        return made(fn, label, s, arguments, dispatcher)
    return PlainCall(fn, label, s, dispatcher)


def arguments_of(fn, call, dispatcher):
    """The arguments of a call in the order of the parameters."""
    named = dict(call.kws)
    names = list(inspect.signature(dispatcher.py_func).parameters)
    return [*call.args, *(named[n] for n in names[len(call.args) :] if n in named)]


def _method(fn, label, s, call, callee):
    owner = fn.type_of(callee.owner)
    if objects.is_object(owner):
        return objects.method(fn, label, s, call, callee)
    found = METHODS.get(callee.key)
    op = found(fn, label, s, call, callee.owner, owner) if found else None
    if op is not None:
        return op
    if not leaves(owner) and without_floats(fn, s):
        return Constant(fn, label, s)
    if callee.key in READING_METHODS and not leaves(fn.type_of(s.target)):
        return Constant(fn, label, s)
    if isinstance(owner, types.NumPyRandomGeneratorType) and callee.key not in PATHWISE:
        return NoPathwise(fn, label, s, callee.key)
    dispatcher = implementation(fn, call, callee)
    if dispatcher is not None:
        return PlainCall(fn, label, s, dispatcher, callee.owner)
    return Unknown(fn, label, s)


def _function(fn, label, s, call, callee):
    key = callee.key
    if _in(key, COPYING):
        return StoppedCopy(fn, label, s)
    if _in(key, STOPPING):
        return StopGradient(fn, label, s)
    if _in(key, VJP) or _in(key, JVP):
        if call.kws:
            return RuledByKeyword(fn, label, s, key)
        made = Custom if _in(key, VJP) else RuledByJvp
        return made(fn, label, s, call.args, key)
    found = _look_up(key)
    op = found(fn, label, s, call) if found else None
    if op is not None:
        return op
    arguments = [*call.args, *(v for _, v in call.kws)]
    if _known_constant(key):
        return _constant(fn, label, s, call, key, arguments)
    if has_rule(key) and all(is_scalar(fn.type_of(v)) for v in arguments):
        return ScalarOp(fn, label, s, key, arguments)
    if any(isinstance(fn.type_of(v), types.Array) for v in arguments) and has_rule(key):
        return FUNCTIONS["array operator"](fn, label, s, key, arguments, call)
    if _draws(key) and key.__name__ not in PATHWISE:
        return NoPathwise(fn, label, s, key.__name__)
    makes_array = _is_of_numpy(key) and isinstance(fn.type_of(s.target), types.Array)
    if makes_array and without_floats_in(fn, call) and not _draws(key):  # as np.hanning(n)
        return ConstantArray(fn, label, s)
    dispatcher = implementation(fn, call, callee)
    if dispatcher is not None and not without_floats(fn, s):
        return PlainCall(fn, label, s, dispatcher)
    return _unknown_function(fn, label, s, call, key)


def _constant(fn, label, s, call, key, arguments):
    """A call whose result has no derivative; an array that it is given for its result loses what it had."""
    if not leaves(fn.type_of(s.target)) or not isinstance(fn.type_of(s.target), types.Array):
        return Constant(fn, label, s)
    if output_of(key, arguments, call) is None:
        return ConstantArray(fn, label, s)
    return FUNCTIONS["array operator"](fn, label, s, key, arguments, call)


def _in(key, rules):
    try:
        return key in rules
    except TypeError:  # unhashable
        return False


class ObjectMode(Unknown):
    """A `with objmode` block: Python may do anything to what it is given."""

    def refusal(self):
        return refuse("a block in object mode", self.loc, OBJECT_MODE_WAY_OUT)


class Foreign(Unknown):
    """A C function without a rule, called by its address."""

    def __init__(self, fn, label, statement, callee):
        self.callee = callee
        super().__init__(fn, label, statement)

    def refusal(self):
        return refuse(f"{name_of(self.callee)}, {FOREIGN}", self.loc, FOREIGN_WAY_OUT)


class RuledChange(Unknown):
    """A function with a rule that changes an argument, of which the rule says nothing."""

    def __init__(self, fn, label, statement, callee, changed):
        self.callee, self.changed = callee, changed
        super().__init__(fn, label, statement)

    def refusal(self):
        return refuse(of_change(self.callee, self.changed), _place(self), CHANGE_WAY_OUT)


class RuledByKeyword(Unknown):
    """A function of NumPy's with a rule, called by keyword: a rule gets arguments in their places."""

    def __init__(self, fn, label, statement, callee):
        self.callee = callee
        super().__init__(fn, label, statement)

    def refusal(self):
        name = name_of(self.callee)
        return refuse(
            f"{name}, which has a rule and is called by keyword",
            self.loc,
            "pass arguments in their places",
        )


def _place(op):
    """Where a function with a rule is called; where it is defined, if numbad wrote the call."""
    code = getattr(op.callee, "py_func", None)
    return place_of_def(code) if code and op.loc.filename.startswith("<numbad") else op.loc


PATHWISE = {
    *("random", "random_sample", "ranf", "sample", "rand", "randn", "standard_normal"),
    *("normal", "gauss", "normalvariate", "uniform", "exponential", "expovariate"),
    *("standard_exponential", "lognormal", "lognormvariate", "laplace", "logistic", "gumbel"),
    *("rayleigh", "weibull", "weibullvariate", "pareto", "paretovariate", "power", "triangular"),
}
"""Distributions whose draws depend smoothly on their parameters, the random numbers given."""


_MOVING = {"shuffle", "permutation", "choice"}  # numbers that they are given


def _draws(key):
    return isinstance(getattr(key, "__self__", None), np.random.RandomState | random.Random)


class NoPathwise(Unknown):
    """A draw; if its parameters are differentiated, the draw is no smooth function of them.

    A draw by numbers is refused when a call reaches it, other ones when code is made.
    """

    refused = False

    def __init__(self, fn, label, statement, name):
        self.name = name
        super().__init__(fn, label, statement)

    def analyse(self):
        given = [leaf for var in self.read() for _, leaf in self.leaves(var)]
        self.by_numbers = self.name not in _MOVING and all(leaf.kind == "scalar" for leaf in given)
        if not self.by_numbers:
            super().analyse()

    def meets_varied(self):
        if not self.by_numbers:
            super().meets_varied()
        self.refused = True

    def forward(self, e):
        if self.refused:
            e.call(refused_draw(self.name, self.loc))
        super().forward(e)

    def fresh(self):
        return True

    def writes(self):
        return self.name == "shuffle"

    def shadows(self, e):
        for identity in self.defined():
            if e.active(identity):
                e.set_shadow(identity, e.new_shadow(self.statement.target))

    def takes_constants(self):
        return True

    def construct(self):
        return f"a draw of '{self.name}' by its parameters, which has no pathwise derivative"


def _look_up(key):
    try:
        if key in ALLOCATORS:
            return objects.allocation
        return FUNCTIONS.get(key)
    except TypeError:
        return None


def _known_constant(key):
    try:
        return key in CONSTANT or key in READING
    except TypeError:
        return False


READING = {len, print, range, isinstance, hash, id, str, repr, slice, type, np.shape}
READING |= {np.size, np.ndim, np.argmax, np.argmin, np.argsort, np.searchsorted, np.any, np.all}
READING |= {np.nonzero, np.count_nonzero, np.array_equal, np.allclose, np.linalg.matrix_rank}


def _is_of_numpy(key):
    function = python_types.BuiltinFunctionType | python_types.FunctionType | np.ufunc
    return isinstance(key, function) and (getattr(key, "__module__", "") or "").startswith("numpy")


def _unknown_function(fn, label, s, call, key):
    random = isinstance(getattr(key, "__self__", None), np.random.RandomState)
    if without_floats_in(fn, call) and not any(
        leaf.kind != "scalar" for leaf in leaves(fn.type_of(s.target))
    ):
        return Constant(fn, label, s)
    if random and without_floats_in(fn, call):
        return Fresh(fn, label, s)
    returns = not isinstance(fn.type_of(s.target), types.NoneType)
    if _is_of_numpy(key) and returns:
        return Pure(fn, label, s)
    return Unknown(fn, label, s)
