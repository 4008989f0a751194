"""Calls of functions with a rule name every argument: rules take them by their places.

`hill(x, k=0.5)` of a `def hill(x, n=2.0, k=1.0)` becomes `hill(x, 2.0, 0.5)`.
"""

import inspect

from numba.core import ir
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.ir_utils import build_definitions

from ..rules.registry import JVP, SCALAR, VJP
from ..rules.tracing import arity
from .untyped import constant_of


@register_pass(mutates_CFG=False, analysis_only=False)
class CompleteCalls(FunctionPass):
    """Puts keywords in their places, and defaults where the arguments are left out."""

    _name = "numbad_complete_calls"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        changed = False
        for block in state.func_ir.blocks.values():
            body = []
            for s in block.body:
                call = s.value if isinstance(s, ir.Assign) else None
                if isinstance(call, ir.Expr) and call.op == "call" and not call.vararg:
                    changed |= _complete(call, constant_of(state.func_ir, call.func), body)
                body.append(s)
            block.body = body
        if changed:
            state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return changed


def _complete(call, function, body):
    """Name every argument that the rule of `function` takes; whether there was anything to do."""
    taken = taken_by_rule(function) if isinstance(function, Dispatcher) else 0
    if taken == 0 or not (call.kws or len(call.args) < taken):
        return False
    signature = inspect.signature(function.py_func)
    try:
        bound = signature.bind(*call.args, **dict(call.kws))
    except TypeError:  # Numba tells
        return False
    count = max(taken, 1 + max(map(list(signature.parameters).index, bound.arguments), default=-1))
    bound.apply_defaults()
    call.args = [_variable(value, call, body) for value in bound.args[:count]]
    call.kws = ()
    return True


def taken_by_rule(dispatcher):
    """How many arguments a call of a dispatcher may have, and its rule takes; 0 without a rule.

    Also 0 where the function takes `*args`, which its rule may count.
    """
    partials, vjp = SCALAR.get(dispatcher), VJP.get(dispatcher)
    counts = [arity(partials.partials)[1] - 1] if partials is not None else []
    counts += [arity(vjp[0])[1]] if vjp is not None else []
    parameters = inspect.signature(dispatcher.py_func).parameters.values()
    if not (counts or dispatcher in JVP) or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return 0
    return min([len(parameters), *counts])


def _variable(value, call, body):
    """The variable of an argument; of a default, a new one."""
    if isinstance(value, ir.Var):
        return value
    target = call.func.scope.redefine("$numbad_default", call.loc)
    body.append(ir.Assign(ir.Global("default", value, call.loc), target, call.loc))
    return target
