"""Arrays among the arguments that a problem's functions write to: each path of an ensemble has its own.

A path is then that of the solver for the same arguments, whatever the functions read of what they have
written; blocks can be evaluated again, and spread over threads.
"""

from numba.core import types

from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError
from numbad.forward.promote import effects
from numbad.ir.array_extents import arrays_overlap
from numbad.ode.rhs import is_plain_tuple
from numbad.operators.argument_structure import leaves, parse, render
from numbad.operators.operator_dispatcher import parameter_names
from numbad.sde.state_source import spread, state_type

_COPIED = types.Array | types.ListType | types.DictType


def own_args(problem, y0, args, namespace, source="args"):
    """Source of the arguments of a path, with copies of what is written to; `source` where nothing is."""
    tree, copied = parse(args, source), _copied(problem, y0, args, source)
    if not copied:
        return source
    copies = {leaf.source: f"{leaf.source}.copy()" for leaf in copied}
    return render(tree, lambda leaf: copies.get(leaf.source, leaf.source), namespace)


_SHARED = (
    "the drift, the diffusion or a function beside them writes to an array in args that shares memory with "
    "another one there: each path has a copy of it, which the other one would not see. Way out: pass one of "
    "them, or copies"
)


def refuse_shared(problem, y0, args, namespace, source="args"):
    """Lines that raise where what has copies shares memory with another array among the arguments."""
    copied = [leaf for leaf in _copied(problem, y0, args, source) if _is_array(leaf.type)]
    arrays = [leaf for leaf in leaves(parse(args, source)) if _is_array(leaf.type)]
    pairs = {
        frozenset((one.source, other.source))
        for one in copied
        for other in arrays
        if one.source != other.source
    }
    if not pairs:
        return []
    namespace |= {"arrays_overlap": arrays_overlap, "ArgumentError": ArgumentError}
    met = " or ".join(f"arrays_overlap({a}, {b})" for a, b in sorted(map(sorted, pairs)))
    return [f"if {met}:", f"    raise ArgumentError({_SHARED!r})"]


def _copied(problem, y0, args, source):
    """The leaves of which each path has a copy."""
    tree = parse(args, source)
    members = tree.members if is_plain_tuple(args) else [tree]
    changed = changed_args(problem, y0, args)
    return [leaf for k in changed for leaf in leaves(members[k]) if _is_copied(leaf.type)]


def _is_array(ty):
    return isinstance(ty, types.Array)


def _is_copied(ty):
    return isinstance(ty, _COPIED) and getattr(ty, "mutable", True)


@built_once(lambda problem, *_: problem.drift)
def changed_args(problem, y0, args):
    """The numbers of the further arguments that some function may change."""
    rest, state = spread(args), (types.float64, state_type(y0))
    if not any(_is_copied(leaf.type) for ty in rest for leaf in leaves(parse(ty, ""))):
        return frozenset()
    functions = [(problem.drift, state), (problem.diffusion, state)]
    if problem.jumps is not None:
        functions.append((problem.jumps.change, (*state, types.uint64)))
        if not isinstance(problem.jumps.rate, float):
            functions.append((problem.jumps.rate, state))
    for event in problem.events:
        functions += [(f, state) for f in (event.condition, event.change) if f is not None]
    found = set()
    for function, first in functions:
        every = range(len(parameter_names(function.py_func)))
        given = map(types.unliteral, (*first, *rest))
        done = effects(function, every, given, by_types=True).cautious()
        found.update(k - len(first) for k in done.changed if k >= len(first))
    return frozenset(found)
