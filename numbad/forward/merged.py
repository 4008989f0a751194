"""Arrays of constants that meet arrays of dual numbers: `w = np.ones_like(x) if given is None else given`.

Numba wants one type where branches or the rounds of a loop meet, of what several returns give, and of what
is gathered in a list, or in a tuple that is walked: `for y in (constants, np.array([x, 1.0]))`. What comes
in as constants is copied into duals on its way; so this is done where nobody can tell a copy from the array.
"""

from types import SimpleNamespace

from numba.core import ir, types
from numba.core.ir_utils import build_definitions

from .data_flow import RESULT
from .dual import Dual, is_dual_array, is_float_array
from .dual_arrays import as_dual, as_scalar, members_as_dual
from .handed_on import is_op, members, put_member, writes_out_tuple


def convert_merged(func_ir, typemap, activity, changes, dual, promoted=frozenset()):
    """Put a conversion on the way of constants into merges; returns whether there was any.

    What is in `promoted` holds duals by now, whatever the types say.
    """
    converted = set()
    while True:  # what has become an array of duals meets others
        duals = _copies(func_ir, converted | promoted)
        found = [
            meeting
            for meeting in _meetings(func_ir, activity.flow)
            if meeting.target.name not in converted
            and _differ(meeting, typemap, activity, duals)
            and _may_be_copied(meeting, _constants_in(meeting, typemap, duals), changes)
        ]
        if not found:
            break
        converted.update(meeting.target.name for meeting in found)
        for meeting in found:
            _convert(func_ir, meeting, _arrays(typemap, dual, duals))
    for statement in list(_tuples_given(func_ir, typemap, activity.flow)):
        name = statement.target.name
        copied = _may_be_copied(statement, [name], changes)
        if copied or name in activity.fresh_calls:
            _convert_given(func_ir, statement, (members_as_dual if copied else as_dual)(dual))
            converted.add(name)
    if any(_has_no_place(typemap.get(name)) for name in _made_of_numbers(func_ir, activity)):
        converted.update(_convert_numbers(func_ir, typemap, dual))
    if converted:
        func_ir._definitions = build_definitions(func_ir.blocks)
    return bool(converted)


def _copies(func_ir, names):
    """The names, and those that are assigned one of them."""
    found, before = set(names), None
    while found != before:
        before = set(found)
        for block in func_ir.blocks.values():
            for statement in block.find_insts(ir.Assign):
                value = statement.value
                if isinstance(value, ir.Expr) and value.op == "cast":
                    value = value.value
                if isinstance(value, ir.Var) and value.name in found:
                    found.add(statement.target.name)
    return found


def _meetings(func_ir, flow):
    return [*_phis(func_ir), *_gatherings(func_ir, flow), *_results(func_ir)]


def _phis(func_ir):
    return (s for s in _assigned(func_ir) if s.value.op == "phi")


def _gatherings(func_ir, flow):
    """What writes out lists, and tuples that are to be of the type of others."""
    found = (s for s in _assigned(func_ir) if s.target.name in flow.inside.union(flow.merges))
    return [s for s in found if s.value.op == "build_list" or writes_out_tuple(func_ir, s.value)]


def _results(func_ir):
    """What several returns give, as one that assigns what comes in to `$result`."""
    returns = [s for block in func_ir.blocks.values() for s in block.find_insts(ir.Return)]
    value = SimpleNamespace(op="return", returns=returns)
    return [SimpleNamespace(target=SimpleNamespace(name=RESULT), value=value)]


def _assigned(func_ir):
    for block in func_ir.blocks.values():
        for statement in block.find_insts(ir.Assign):
            if isinstance(statement.value, ir.Expr):
                yield statement


def _incoming(value):
    """The variables that come in."""
    if value.op == "return":
        return [s.value for s in value.returns]
    return value.incoming_values if value.op == "phi" else members(value)


def _differ(meeting, typemap, activity, duals):
    """Whether constants come in, and duals, or what is active and not known yet."""
    incoming = [v.name for v in _incoming(meeting.value) if isinstance(v, ir.Var)]
    if not _constants_in(meeting, typemap, duals):
        return False
    if meeting.target.name in activity.flow.inside & activity.holds:  # duals are in those beside it
        return True
    unknown = meeting.target.name in activity.active and any(
        name not in typemap for name in incoming
    )
    return unknown or any(is_dual_array(typemap.get(name)) or name in duals for name in incoming)


def _is_constant(name, typemap, duals):
    return is_float_array(typemap.get(name)) and name not in duals


def _constants_in(meeting, typemap, duals):
    incoming = [v.name for v in _incoming(meeting.value) if isinstance(v, ir.Var)]
    return [name for name in incoming if _is_constant(name, typemap, duals)]


def _may_be_copied(meeting, constants, changes):
    """Whether nobody can tell copies of the constants from the arrays, where they meet others.

    They are not written to here, nor kept. Arguments that one of several returns gives may be written to by
    the caller, under either name. Where what they become is returned otherwise, whoever writes to it passes
    arrays of duals: writes to what meets duals count as such (`CallSummary.written`), for arrays, not for
    what holds them.
    """
    flow = changes.flow
    if any(flow.derived_with(name) & changes.stored_to for name in constants):
        return False
    reached = flow.reached(set(constants))
    if meeting.target.name in flow.unified_results and flow.parameters_among(reached):
        return False
    shared = flow.reached({meeting.target.name})
    if {value for _, value in flow.kept} & shared - flow.scalars:
        return False
    given = (ty for i, ty in enumerate(flow.args) if flow.parameters.get(i) in shared)
    return not shared & flow.results or all(isinstance(ty, types.Array) for ty in given)


def _tuples_given(func_ir, typemap, flow):
    """What gives tuples of arrays, of constants and of duals, which are of one type else: calls, for one.

    They are walked: `for y in pair(constants, x)`. A tuple that is written out here has become one of duals.
    """
    for s in _assigned(func_ir):
        ty = typemap.get(s.target.name)
        given = is_op(s.value, "call", "static_getitem") and s.target.name in flow.walked
        if given and type(ty) is types.Tuple:
            constants = [member for member in ty if is_float_array(member)]
            duals = [member for member in ty if is_dual_array(member)]
            kinds = {
                (member.ndim, member.layout) for member in ty if isinstance(member, types.Array)
            }
            if constants and duals and len(constants + duals) == len(ty) and len(kinds) == 1:
                yield s


def _convert_given(func_ir, statement, convert):
    """Convert what a statement assigns."""
    body, at = _statement(func_ir, statement)
    target, loc = statement.target, statement.loc
    fn = target.scope.redefine("$numbad_as_dual", loc)
    statement.target = target.scope.redefine(f"{target.name}.given", loc)
    body[at + 1 : at + 1] = [
        ir.Assign(ir.Global("as_dual", convert, loc), fn, loc),
        ir.Assign(ir.Expr.call(fn, [statement.target], (), loc), target, loc),
    ]


def _made_of_numbers(func_ir, activity):
    """What is active and nobody writes to, or is made of what is: `np.full(2, s)`, unlike `np.zeros(2)`."""
    yield from activity.active - activity.holds
    kept = activity.active & activity.holds
    for s in _assigned(func_ir):
        if s.target.name in kept and any(v.name in activity.active for v in s.value.list_vars()):
            yield s.target.name


def _has_no_place(ty):
    """Whether what is active, and nobody writes to, was taken for an array of constants, or has no type."""
    return ty is None or is_float_array(ty)


def _convert_numbers(func_ir, typemap, dual):
    """Convert constants where they meet dual numbers: `s = 0.0`, `s += x`, in a loop, `np.array([s])`.

    Inference takes `s` for a float at first, and unites numbers of the two types, but no arrays of them.
    """
    found = [phi for phi in _phis(func_ir) if isinstance(typemap.get(phi.target.name), Dual)]
    for phi in found:
        _convert(func_ir, phi, _numbers(typemap, typemap[phi.target.name]))
    return [phi.target.name for phi in found]


def _arrays(typemap, dual, duals):
    """What converts a name that stands for an array of constants, as a function of the name."""
    convert = as_dual(dual)
    return lambda name: convert if _is_constant(name, typemap, duals) else None


def _numbers(typemap, dual):
    """The same for a number."""
    convert = as_scalar(dual)
    return lambda name: convert if isinstance(typemap.get(name), types.Number) else None


def _convert(func_ir, meeting, conversion):
    for k, value in enumerate(_incoming(meeting.value)):
        convert = conversion(value.name) if isinstance(value, ir.Var) else None
        if convert is None:
            continue
        body, at = _way_in(func_ir, meeting, k)
        fn = value.scope.redefine("$numbad_as_dual", value.loc)
        copied = value.scope.redefine(f"{value.name}.merged", value.loc)
        body[at:at] = [
            ir.Assign(ir.Global("as_dual", convert, value.loc), fn, value.loc),
            ir.Assign(ir.Expr.call(fn, [value], (), value.loc), copied, value.loc),
        ]
        if meeting.value.op == "phi":
            meeting.value.incoming_values[k] = copied
        elif meeting.value.op == "return":
            meeting.value.returns[k].value = copied
        else:
            put_member(meeting.value, k, copied)


def _way_in(func_ir, meeting, k):
    """The statements, and the place among them, through which the k-th of what comes in goes."""
    if meeting.value.op == "phi":
        body = func_ir.blocks[meeting.value.incoming_blocks[k]].body
        return body, len(body) - 1
    return _statement(
        func_ir, meeting.value.returns[k] if meeting.value.op == "return" else meeting
    )


def _statement(func_ir, statement):
    """The statements of a block, and the place of one among them."""
    body = next(b.body for b in func_ir.blocks.values() if any(s is statement for s in b.body))
    return body, next(i for i, s in enumerate(body) if s is statement)
