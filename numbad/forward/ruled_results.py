"""Functions with a rule of the user's that return an argument's own array.

In `y = clipped(x)`, where the function returns `x`, the two are one array, while those that derivatives are
made with are two: what is written to one would not be seen in the other.
"""

from types import FunctionType

from numba.core import ir
from numba.core.dispatcher import Dispatcher

from ..ir.function import is_expr, may_follow, read_by
from ..ir.untyped import constant_of
from ..rules.registry import JVP, name_of
from .known import STANDS_FOR

SHARED_WAY_OUT = "let the function return a copy: return x.copy()"


def shared_result(callee):
    """What such a call is called in messages."""
    return (
        f"{name_of(callee)}, which has a rule and returns (a part of) an argument, where one of the two is "
        "written to and the other read afterwards"
    )


def calls_ruled(func_ir):
    """Whether code calls a jitted function with a rule of the user's."""
    for block in func_ir.blocks.values():
        for statement in block.find_insts(ir.Assign):
            if is_expr(statement.value, "call"):
                called = constant_of(func_ir, statement.value.func)
                if isinstance(called, FunctionType) and isinstance(
                    STANDS_FOR.get(called), Dispatcher
                ):
                    return True
    return False


def unlike_function(flow, changes, returned):
    """The calls by which an array is two in forward mode, and that shows; each with the function.

    `changes` is all that the code changes; `returned(callee)` are the arguments that a function may return.
    """
    blocks = changes.flow.func_ir.blocks
    for label, block in blocks.items():
        for k, statement in enumerate(block.body):
            for target, callee, given, _ in flow.done.get(id(statement), ((), ()))[1]:
                if callee not in JVP or target in flow.scalars:
                    continue
                results = flow.derived_with(target)
                for name in {n for i in returned(callee) if i < len(given) for n in given[i]}:
                    sources = flow.derived_with(name) if name is not None else ()
                    if not results.isdisjoint(sources) or name in flow.scalars:
                        continue
                    if _shows(changes, (label, k), results, sources):
                        yield statement, callee


def _shows(changes, call, results, sources):
    """Whether one of two sets of names is written to after a call, and the other read after that."""
    blocks = changes.flow.func_ir.blocks
    places = [(label, k, s) for label, b in blocks.items() for k, s in enumerate(b.body)]
    for written, read in ((results, sources), (sources, results)):
        for label, k, statement in places:
            if changes.written_by(statement).isdisjoint(written):
                continue
            if (label, k) != call and may_follow(blocks, call, (label, k), call):
                for other, m, reader in places:
                    names = {v.name for v in read_by(reader)}
                    if names & read and may_follow(blocks, (label, k), (other, m), call):
                        return True
    return False
