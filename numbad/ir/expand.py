"""Puts the code of active callees and helpers in place, until nothing is left to expand."""

from collections import Counter
from functools import partial

from numba.core import ir, types

from ..errors import UnsupportedError
from .fence import Place, located, refuse
from .handlers import branch_instead, catch_all, catch_in, handled
from .inline import bind, inline
from .normalize import normalize
from .sequences import call_helper
from .spelling import spell
from .typing import plain_type

LIMIT = 2000  # expansions; more means a recursion through data that analysis cannot see the end of


def expand(fn, analyse, body_of, root=(), stays=None):
    """Expand every active call and whole-array statement of `fn`; returns the last analysis.

    A call of a callee within its own code is a recursion: it is left, and noted in `fn.recursive`.
    So are calls for which `stays(activity, op, arguments, number of calls)` says so.
    `body_of` gives the normalised code of a dispatcher for argument types;
    `root` is what `fn` itself is the code of: `((dispatcher, types),)`.
    """
    options = root[0][0].targetoptions if root else {}
    if any(handled(fn, label) for label in fn.blocks):
        catch_all(fn)
        normalize(fn)
    for _ in range(LIMIT):
        activity = analyse(fn)
        if branch_instead(fn, activity.ops, options):
            normalize(fn)
            continue
        ops = activity.expandables()
        if not ops:
            return activity
        calls = Counter(op.dispatcher for op in ops)
        written = [spell(fn, op.statement) for op in ops]
        for op, construct in zip(ops, written, strict=True):
            with located(op.loc):
                own = stays and partial(stays, activity, op, calls=calls[op.dispatcher])
                _expand(fn, op, construct, body_of, root, own)
        normalize(fn)
    raise refuse("calls nested this deep", fn.loc)


def _expand(fn, op, construct, body_of, root, stays):
    label, index = _find(fn, op.statement)
    place = Place.of(op.statement.loc, construct=construct)
    if hasattr(op, "arguments"):
        index = _replace_by_helper(fn, op, label, index)
    call = fn.blocks[label].body[index].value
    if getattr(op, "owner", None) is not None:
        call = ir.Expr.call(call.func, [op.owner, *call.args], call.kws, call.loc, call.vararg)
    before = []
    py_func = op.dispatcher.py_func
    arguments = bind(fn, call, py_func, before)
    argtypes = tuple(plain_type(fn.type_of(v)) for v in arguments)
    chain = fn.chains.get(op.target, root) if isinstance(op.statement, ir.Assign) else root
    _take_options(fn, op.dispatcher)
    model = _error_model(op, root)
    if (op.dispatcher, argtypes) in chain or (model is None and stays and stays(arguments)):
        _leave_recursive(fn, label, index, call, arguments, before, (op.dispatcher, argtypes))
        return
    callee = _body(fn, op, body_of, arguments, argtypes)
    place.error_model = model
    if model is not None:
        _mark(callee, model)
    caught, known = handled(fn, label), set(fn.blocks)
    called = inline(fn, label, index, callee, arguments, before, place)
    if caught:
        *new, rest = sorted(set(fn.blocks) - known)
        catch_in(fn, new, rest)
    for name in called:
        fn.chains[name] = (*chain, (op.dispatcher, argtypes))


def _body(fn, op, body_of, arguments, argtypes):
    """The code of a callee, for literals where it asks for them and the call has them."""
    try:
        return body_of(op.dispatcher, argtypes)
    except UnsupportedError as error:
        values = {k: fn.constant(arguments[k]) for k in getattr(error, "asked", ())}
        if not values or any(value is None for value in values.values()):
            raise
    given = [types.literal(values[k]) if k in values else ty for k, ty in enumerate(argtypes)]
    return body_of(op.dispatcher, tuple(given))


def _take_options(fn, callee):
    """What the callee asks for explicitly holds for all: stricter arithmetic, checked bounds."""
    options = callee.targetoptions
    if "fastmath" in options and not options["fastmath"]:
        fn.strict = True
    if options.get("boundscheck"):
        fn.checked = True


def _error_model(op, root):
    """The error model of a callee, None where it is that of the whole.

    A callee without one of its own has that of the code that calls it.
    """
    own = op.dispatcher.targetoptions.get("error_model")
    if own is None or not root:
        return getattr(op.loc, "error_model", None)
    return None if own == root[0][0].targetoptions.get("error_model", "python") else own


def _mark(callee, model):
    """Let the statements of a callee keep its error model among those of another function."""
    for _, s in callee.statements():
        s.loc = Place.of(s.loc)
        s.loc.error_model = model
        if isinstance(getattr(s, "value", None), ir.Inst):
            s.value.loc = s.loc


def _leave_recursive(fn, label, index, call, arguments, before, key):
    """A recursive call gets all its arguments by position."""
    block = fn.blocks[label]
    statement = block.body[index]
    statement.value = ir.Expr.call(call.func, list(arguments), (), call.loc)
    block.body[index:index] = before
    fn.recursive[statement.target.name] = key
    fn.changed([label])


def _find(fn, statement):
    named = isinstance(statement, ir.Assign)
    for label in [fn.definitions[statement.target.name][0]] if named else fn.blocks:
        for index, s in enumerate(fn.blocks[label].body):
            if s is statement:
                return label, index
    raise AssertionError("the statement to expand is gone")


def _replace_by_helper(fn, op, label, index):
    """The statement becomes a call of the helper that does it with loops."""
    made = []
    block = fn.blocks[label]
    statement = block.body[index]
    result = call_helper(fn, op.dispatcher, op.arguments, made, statement.loc)
    if isinstance(statement, ir.Assign):
        made[-1] = ir.Assign(made[-1].value, statement.target, statement.loc)
        fn.types[statement.target.name] = fn.type_of(result)
    block.body[index : index + 1] = made
    fn.changed([label])
    return index + len(made) - 1
