"""`try`: which blocks have their exceptions handled in the function, and what takes their place.

Numba's own code jumps to the handler from the middle of a block, wherever a statement raises. Analyses and
adjoints know no such jumps. So a block whose statements do not raise loses its way to the handler, and before
a division there comes a test of what it divides by, with a branch to the handler.
"""

from numba.core import ir, types
from numba.core.registry import cpu_target
from numba.core.typing import signature
from numba.core.unsafe import eh

from .fence import Place
from .function import is_expr, is_phi, name_of
from .inline import redirect
from .sequences import call_helper

TEST_BEFORE = "test for the cause with `if` before, or leave out `try`"
_RAISING = ir.StaticRaise | ir.DynamicRaise


def handled(fn, label):
    """Whether an exception in a block goes on in the function, at a handler that does not raise.

    Numba ends such a block with a test whether there was one.
    """
    block = fn.blocks[label]
    if not _checks(fn, block):
        return False
    return not isinstance(fn.blocks[block.terminator.truebr].terminator, _RAISING)


def _checks(fn, block):
    """Whether a block ends with a test whether there was an exception."""
    end = block.terminator
    return isinstance(end, ir.Branch) and _calls(fn, fn.definition(end.cond), eh.exception_check)


def _calls(fn, value, function):
    return is_expr(value, "call") and fn.constant(value.func) is function


def catch_all(fn):
    """`except Exception` catches every exception, as `except` does: Numba knows no other test."""
    for block in fn.blocks.values():
        for s in block.body:
            if isinstance(s, ir.Assign) and _calls(fn, s.value, eh.exception_match):
                s.value = ir.Const(True, s.loc)
                fn.types[s.target.name] = types.boolean
        end = block.terminator
        test = fn.definition(end.cond) if isinstance(end, ir.Branch) else None
        if _calls(fn, test, bool) and fn.constant(test.args[0]) is True:
            _leave(fn, block, end.falsebr)
    fn.changed()


def branch_instead(fn, ops, options):
    """Let branches take the place of exceptions where it is known what raises; whether there were any.

    `ops` says for each label what its statements are. What may raise in a way that no test foresees keeps
    Numba's own way to the handler.
    """
    found = [label for label, block in fn.blocks.items() if _checks(fn, block)]
    changed = [label for label in found if _branch(fn, label, ops[label], options)]
    return bool(changed)


def _branch(fn, label, ops, options):
    """The same for one block; the first statement that may raise splits it."""
    position = next((k for k, op in enumerate(ops) if _may_raise(op, options)), None)
    if position is None:
        _leave(fn, fn.blocks[label], fn.blocks[label].terminator.truebr)
        fn.changed()
        return True
    test = ops[position].zero_test() if handled(fn, label) else None
    if test is None or not _split(fn, label, position):
        return False
    _test(fn, label, ops[position].statement, *test)
    rest = [op for op in ops[position:] if not _is_constant(op.statement)]
    _branch(fn, max(fn.blocks), rest, options)
    return True


def _may_raise(op, options):
    return op.may_raise(options) and not getattr(op.loc, "tested", False)


def _leave(fn, block, target):
    """Take away one of the two ways out of a block."""
    end = block.terminator
    (kept,) = {end.truebr, end.falsebr} - {target}
    block.body[-1] = ir.Jump(kept, end.loc)
    (own,) = (k for k, b in fn.blocks.items() if b is block)
    for phi in _phis(fn, target):
        pairs = zip(phi.incoming_blocks, phi.incoming_values, strict=True)
        left = [(source, value) for source, value in pairs if source != own]
        phi._kws["incoming_blocks"] = [source for source, _ in left]
        phi._kws["incoming_values"] = [value for _, value in left]


def _phis(fn, label):
    return [s.value for s in fn.blocks[label].body if is_phi(s)]


def _split(fn, label, position):
    """Put what follows a position into a block of its own, the last; False where a handler reads of it."""
    block = fn.blocks[label]
    early = [s for s in block.body[position:-1] if _is_constant(s)]
    late = [s for s in block.body[position:] if not _is_constant(s)]
    made = {s.target.name for s in late if isinstance(s, ir.Assign)}
    handler = block.terminator.truebr
    if any(name_of(v) in made for v in _incoming(fn, handler, label)):
        return False
    rest = fn.new_label()
    fn.blocks[rest] = new = ir.Block(block.scope, block.loc)
    new.body = late
    block.body = [*block.body[:position], *early]
    redirect(fn, new, label, rest)
    block.append(ir.Jump(rest, block.loc))
    _add_way(fn, handler, label, rest)
    return True


def _is_constant(s):
    return isinstance(s, ir.Assign) and isinstance(s.value, ir.Const | ir.Global | ir.FreeVar)


def _incoming(fn, target, label):
    """The variables that the phis of a block take when control comes from another one."""
    for phi in _phis(fn, target):
        for source, value in zip(phi.incoming_blocks, phi.incoming_values, strict=True):
            if source == label and value is not ir.UNDEFINED:
                yield value


def _add_way(fn, target, label, known):
    """The phis of a block take from one more block what they take from one that is known."""
    for phi in _phis(fn, target):
        value = phi.incoming_values[phi.incoming_blocks.index(known)]
        phi._kws["incoming_blocks"] = [*phi.incoming_blocks, label]
        phi._kws["incoming_values"] = [*phi.incoming_values, value]


def _test(fn, label, statement, helper, arguments):
    """End a block with a test: where it holds, `statement` would raise, which it does no more."""
    block, rest = fn.blocks[label], fn.blocks[max(fn.blocks)]
    onward = block.body.pop().target
    cond = call_helper(fn, helper, arguments, block.body, statement.loc)
    block.append(ir.Branch(cond, rest.terminator.truebr, onward, statement.loc))
    statement.loc = Place.of(statement.loc)
    statement.loc.error_model, statement.loc.tested = "numpy", True
    statement.value.loc = statement.loc
    fn.changed()


def catch_in(fn, labels, rest):
    """Let the handler of block `rest` catch what is raised in blocks, a callee's code put in place."""
    handler = fn.blocks[rest].terminator.truebr
    for label in labels:
        block = fn.blocks[label]
        if isinstance(block.terminator, _RAISING):
            block.body[-1] = ir.Jump(handler, block.terminator.loc)
            _add_way(fn, handler, label, rest)
        elif not _checks(fn, block) and any(map(_does, block.body[:-1])):
            _check(fn, label, handler)
            _add_way(fn, handler, label, rest)
    fn.changed()


def _does(s):
    """Whether a statement is more than a name for something."""
    return not isinstance(s, ir.Assign) or (isinstance(s.value, ir.Expr) and not is_phi(s))


def _check(fn, label, handler):
    """End a block with Numba's test for an exception."""
    block, onward = fn.blocks[label], fn.new_label()
    fn.blocks[onward] = new = ir.Block(block.scope, block.loc)
    end = block.body.pop()
    new.body = [end]
    redirect(fn, new, label, onward)
    ty = cpu_target.typing_context.resolve_value_type(eh.exception_check)
    function, checked = fn.fresh("$check", ty, end.loc), fn.fresh("$raised", types.boolean, end.loc)
    call = ir.Expr.call(function, (), (), end.loc)
    fn.calls[call] = signature(types.boolean)
    block.append(
        ir.Assign(ir.Global("exception_check", eh.exception_check, end.loc), function, end.loc)
    )
    block.append(ir.Assign(call, checked, end.loc))
    block.append(ir.Branch(checked, handler, onward, end.loc))
