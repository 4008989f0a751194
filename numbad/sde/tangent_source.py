"""Paths with their tangents beside them: forward mode for the blocks of an ensemble.

A step y' = F(y, a) takes the tangents S of the state with it, S' = (dF/dy) S + dF/da (pathwise derivatives:
Glasserman, "Monte Carlo Methods in Financial Engineering", 2003, chapter 7.2). The slopes of F come from
reverse mode, component by component; slopes and tangents that are zero for all values, by the pattern of the
step, are left out. As for the values, all paths of a block take a step in a loop, a row of memory for each
number, which LLVM makes vectors of. What the caller differentiates by is met at the outputs alone: the
tangents are those by the initial state and the arguments.
"""

from dataclasses import dataclass, replace
from inspect import signature

import numpy as np
from numba import njit
from numba.core import types
from numba.core.errors import TypingError
from numba.core.registry import cpu_target

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.errors import SparsityError, UnsupportedError
from numbad.forward.access import dtype_like, strip
from numbad.forward.dual import Dual, duals_in, primal_type
from numbad.forward.dualize import dualized
from numbad.forward.linearized import pushed
from numbad.ir.fence import tells_of_defect
from numbad.ode.compiling import generic
from numbad.operators.argument_structure import Branch, leaves, parse, render
from numbad.patterns.detect import detect
from numbad.reverse import pullback
from numbad.reverse.pipeline import written_call
from numbad.sde import checks
from numbad.sde.aligned_memory import aligned, noise_rows
from numbad.sde.brownian import draw_steps
from numbad.sde.model_names import function_of
from numbad.sde.one_step import model_namespace
from numbad.sde.state_source import form_of
from numbad.sde.steps import StepWriter, write_step
from numbad.source import define

MOST_PATHS = 512
"""Paths in a block, at most."""

_STRIDE = MOST_PATHS + 16  # of rows: what belongs to a path lies in different sets of the cache
_MOST_NUMBERS, _MOST_COMPONENTS = 48, 4  # beyond which it takes long to compile
_FEW_TANGENTS = 16  # so many take less time than a sweep back
_STATE, _ARGS = 0, 1  # the arguments of a block that derivatives are taken by
_OF_STEP = 3  # the arguments of a step before the state: t, h, args


@njit(error_model="numpy", fastmath={"contract"})
def _plus(total, slope, tangent):
    """A term of the chain rule added."""
    return total + slope * tangent


@njit(error_model="numpy", fastmath={"contract"})
def _plus_with_care(total, slope, tangent):
    """The same, where a factor that is zero makes it zero, be the other infinite."""
    product = slope * tangent
    return total + (product if (slope != 0.0) & (tangent != 0.0) else 0.0)


@njit(error_model="numpy")
def _are_finite(numbers, first, rows, count):
    """Whether all numbers of some rows are finite."""
    found = True
    for k in range(first, rows):
        for p in range(count):
            found &= abs(numbers[_STRIDE * k + p]) < np.inf
    return found


@dataclass(frozen=True)
class Inputs:
    """The floats that have tangents: numbers of components of the state, and of leaves of the arguments."""

    state: tuple
    args: tuple

    @property
    def count(self):
        return len(self.state) + len(self.args)


@dataclass(frozen=True)
class Tangents:
    """What components read (numbers of components, for each), and the tangents that are carried.

    `carried` has the number of a row for (component, input); a tangent that is not there is always zero.
    """

    reads: tuple
    carried: dict

    @classmethod
    def of(cls, inputs, columns):
        """Those where component `i` of a step depends on `columns[i]`: components, then further inputs."""
        count, first = len(columns), len(inputs.state)
        reads = [{c for c in found if c < count} for found in columns]
        by = [{first + c - count for c in found if c >= count} for found in columns]
        for k, i in enumerate(inputs.state):
            by[i].add(k)
        for _ in range(count):
            by = [own.union(*(by[q] for q in read)) for own, read in zip(by, reads, strict=True)]
        which = [(i, k) for i in range(count) for k in sorted(by[i])]
        return cls(tuple(reads), {pair: row for row, pair in enumerate(which)})


@built_once(lambda ensemble, *_: ensemble.problem.drift)
def with_tangents(ensemble, parameters, otherwise):
    """The dispatcher of a block for dual numbers; `otherwise` is one for types that have no such code."""
    content = otherwise, ensemble.content

    def choose(*given):
        found = _block_with_tangents(ensemble, parameters, given)
        call = f"def block({parameters}):\n    return target({parameters})\n"
        return found or define(call, {"target": dualized(otherwise)})

    stub = define(
        f"def block({parameters}):\n    raise NotImplementedError(content)\n", {"content": content}
    )
    return generic(stub, content, choose, (with_tangents, (ensemble, parameters, otherwise)))


def goes_beside(ensemble, y0, args):
    """Whether all tangents beside the state, for types with dual numbers, take less than a sweep back."""
    inputs = _inputs(ensemble.problem, y0, args)
    components = len(y0) if isinstance(y0, types.BaseTuple) else 1
    few = inputs is not None and components * inputs.count <= _FEW_TANGENTS
    return few and _parts(ensemble, y0, args) is not None


def _block_with_tangents(ensemble, parameters, given):
    """The function of a block for `given` types with dual numbers; None where it is not for these."""
    y0, args = given[_STATE], given[_ARGS]
    others = any(True for ty in given[_ARGS + 1 :] for _ in duals_in(ty))
    parts = None if others else _parts(ensemble, y0, args)
    if parts is None:
        return None
    form, inputs, advance, tangents = parts
    namespace = {"advance": advance, "draw_steps": draw_steps, "are_finite": _are_finite}
    lines = _lines(ensemble, form, inputs, tangents, (y0, args), namespace)
    return function_of(f"block({parameters})", lines, namespace)


def _parts(ensemble, y0, args):
    """The form of a problem, its `Inputs`, the step, compiled, and `Tangents`; None where there is none."""
    inputs = _inputs(ensemble.problem, y0, args)
    if inputs is None:
        return None
    problem = replace(ensemble.problem, dt=None)
    form = form_of(cpu_target.typing_context, problem, primal_type(y0), primal_type(args))
    if form.count > _MOST_COMPONENTS or form.count * (1 + inputs.count) > _MOST_NUMBERS:
        return None
    advance, tangents = advance_with_tangents(problem, form, inputs)
    try:
        advance.compile(_types_of_advance(form))
    except TypingError as error:  # reverse mode refuses what forward mode may take
        if tells_of_defect(error):
            raise
        return None
    return form, inputs, advance, tangents


def _inputs(problem, y0, args):
    """The `Inputs` of types with dual numbers of one level over floats; None for other types."""
    scheme = problem.scheme
    if problem.goes_alone or scheme.is_implicit or scheme.carries or scheme.needs_levy:
        return None
    trees = [list(leaves(parse(ty, ""))) for ty in (y0, args)]
    duals = {leaf.type for tree in trees for leaf in tree if isinstance(leaf.type, Dual)}
    plain = types.Number | types.Boolean | types.NoneType | Dual
    if len(duals) != 1 or next(iter(duals)).scalar != types.float64:
        return None
    if not all(isinstance(leaf.type, plain) for tree in trees for leaf in tree):
        return None
    numbers = [[k for k, leaf in enumerate(tree) if leaf.type in duals] for tree in trees]
    return Inputs(*map(tuple, numbers))


# -- one step ------------------------------------------------------------------------------------------


@built_once(lambda problem, *_: problem.drift)
def _component_of(problem, form, i):
    """`component(t, h, args, *state, *w, *areas)`: component `i` of the state after a step."""
    writer = StepWriter(form, problem.scheme, problem.calculus)
    lines = [*write_step(problem.scheme, writer), f"return {writer.y[i]}"]
    head = ", ".join(["t", "h", "args", *writer.y, *writer.w, *writer.areas])
    compiled = jit(error_model="numpy", nogil=True)
    return compiled(function_of(f"component({head})", lines, model_namespace(problem, form)))


def _reads(component, form, inputs):
    """Numbers of what a component depends on: those of the state, then of the inputs among the arguments.

    All, where an argument is not a float, since integers may decide, or the code cannot be followed.
    """
    tree = parse(form.args, "args")
    kinds = [leaf.type for leaf in leaves(tree)]
    every = set(range(form.count + len(inputs.args)))
    if not set(kinds) <= {types.float64, types.none}:
        return every
    state = range(_OF_STEP, _OF_STEP + form.count)
    further = len(signature(component.py_func).parameters) - _OF_STEP
    given = 0.0, 0.0, _zeros(tree), *[0.0] * further
    try:
        found = detect(component, given, (*state, _OF_STEP - 1)).indices
    except (UnsupportedError, SparsityError):
        return every
    floats = [k for k, kind in enumerate(kinds) if kind == types.float64]
    numbers = {floats.index(k) + form.count: form.count + n for n, k in enumerate(inputs.args)}
    numbers |= {i: i for i in range(form.count)}
    return {numbers[k] for k in found.tolist() if k in numbers}


def _zeros(tree):
    """Arguments of a structure, every float of which is zero."""
    if not isinstance(tree, Branch):
        return None if tree.type == types.none else 0.0
    members = tuple(map(_zeros, tree.members))
    named = isinstance(tree.type, types.BaseNamedTuple)
    return tree.type.instance_class(*members) if named else members


@built_once(lambda problem, *_: problem.drift)
def advance_with_tangents(problem, form, inputs):
    """`advance(numbers, t, h, args, w, a, with_care)`: one step of all paths of a block; and its `Tangents`.

    `numbers` has a row for each component of the state, then for each of their tangents. `with_care`: a zero
    makes a product of the chain rule zero, be the other factor infinite.
    """
    writer = StepWriter(form, problem.scheme, problem.calculus)
    given = ["t", "h", "args", *writer.y, *writer.w, *writer.areas]
    components = [_component_of(problem, form, i) for i in range(form.count)]
    tangents = Tangents.of(inputs, [_reads(c, form, inputs) for c in components])
    namespace = {"plus": _plus, "plus_with_care": _plus_with_care}
    rows = [*writer.y, *(_name(*which) for which in tangents.carried)]
    lines = [f"{name} = numbers[{_STRIDE * k} + p]" for k, name in enumerate(rows)]
    lines += [f"{name} = w[{j}, p]" for j, name in enumerate(writer.w)]
    lines += [f"{name} = a[{j}, p]" for j, name in enumerate(writer.areas)]
    wrt = (*([_OF_STEP - 1] if inputs.args else []), *range(_OF_STEP, _OF_STEP + form.count))
    for i, component in enumerate(components):
        pull = pullback(component, wrt)
        handed = f"({', '.join(given)}), ({'None, ' * len(given)}), 1.0"
        call = written_call(pull, f"pull_{i}", handed, namespace, in_place=True)
        lines.append(f"new_{i}, slopes_{i} = {call}")
    both = []
    for choice, plus in (("if with_care:", "plus_with_care"), ("else:", "plus")):
        new = [f"new_{i}" for i in range(form.count)]
        new += [_next_tangent(form, inputs, tangents, plus, *which) for which in tangents.carried]
        put = [f"numbers[{_STRIDE * k} + p] = {source}" for k, source in enumerate(new)]
        loop = ["for p in range(w.shape[1]):", *("    " + line for line in (*lines, *put))]
        both += [choice, *("    " + line for line in loop)]
    function = function_of("advance(numbers, t, h, args, w, a, with_care)", both, namespace)
    return jit(error_model="numpy", nogil=True)(function), tangents


def _name(i, k):
    """The name of the tangent of component `i` by input `k`."""
    return f"s_{i}_{k}"


def _next_tangent(form, inputs, tangents, plus, i, k):
    """Source of the tangent of component `i` by input `k` after a step."""
    total = "0.0"
    if k >= len(inputs.state):
        by_args = [leaf.source for leaf in leaves(parse(form.args, f"slopes_{i}[{_OF_STEP - 1}]"))]
        total = by_args[inputs.args[k - len(inputs.state)]]
    for q in sorted(tangents.reads[i]):
        if (q, k) in tangents.carried:
            total = f"{plus}({total}, slopes_{i}[{_OF_STEP + q}], {_name(q, k)})"
    return total


def _types_of_advance(form):
    """The types that `advance` is called with."""
    row, f8 = types.Array(types.float64, 1, "C"), types.float64
    noise = types.Array(types.float64, 2, "C")
    return row, f8, f8, form.args, noise, noise, types.boolean


# -- all steps -----------------------------------------------------------------------------------------


def _lines(ensemble, form, inputs, tangents, tys, namespace):
    """Lines of the function of a block.

    It is solved without asking for zeros first, which takes half as long: what is not finite stays so to the
    end. Where something is not, it is solved again.
    """
    problem, mirrored = ensemble.problem, ensemble.mirrored
    areas, first = problem.scheme.needs_areas, "first // 2" if mirrored else "first"
    drawn = f"key, {first}, count, k, cells, parts, {problem.dt!r}, {areas}, {mirrored}"
    rows = form.count + len(tangents.carried)
    state, args = (
        list(leaves(parse(ty, name))) for ty, name in zip(tys, ("y0", "args"), strict=True)
    )
    by = [state[k].source for k in inputs.state] + [args[k].source for k in inputs.args]
    values = render(parse(tys[_ARGS], "args"), lambda leaf: f"strip({leaf.source})", namespace)
    namespace.update(aligned=aligned, strip=strip, dtype_like=dtype_like, pushed=pushed)
    solved = [
        *_start(form, inputs, tangents),
        "start, drawn = 0, 0",
        "for i in range(1, ends.size):",
        "    for k in range(ends[i - 1], ends[i]):",
        "        if k == drawn:",
        f"            start, drawn = k, k + draw_steps({drawn}, dw, dh)",
        "        noise = dw[k - start], dh[k - start]",
        "        advance(numbers, starts[k], sizes[k], values, noise[0], noise[1], with_care)",
        "    for p in range(count):",
        *("        " + line for line in _put(form, inputs, tangents)),
        f"if with_care or are_finite(numbers, {form.count}, {rows}, count):",
        "    break",
    ]
    return [
        "ends, cells, parts, starts, sizes = steps",
        *noise_rows(areas),
        f"numbers = aligned({_STRIDE * rows})",
        f"ys = np.empty((ends.size, {form.count}, count), dtype_like(y0, args))",
        f"by, values = ({''.join(f'{source}, ' for source in by)}), {values}",
        *checks.initial(form),
        "for p in range(count):",
        *(f"    ys[0, {i}, p] = {name}" for i, name in enumerate(form.names("y"))),
        "for with_care in (False, True):",
        *("    " + line for line in solved),
        "return ys",
    ]


def _start(form, inputs, tangents):
    """Lines that set `numbers` to the initial state and its tangents."""
    rows = [(i, f"strip({name})") for i, name in enumerate(form.names("y"))]
    one = [form.count + tangents.carried[i, k] for k, i in enumerate(inputs.state)]
    rows += [(k, "1.0") for k in one]
    set_rows = [f"numbers[{_STRIDE * k} : {_STRIDE * k} + count] = {value}" for k, value in rows]
    return ["numbers[:] = 0.0", *set_rows]


def _put(form, inputs, tangents):
    """Lines that make dual numbers of what belongs to path `p`, for output `i`."""
    for i in range(form.count):
        rows = [tangents.carried.get((i, k)) for k in range(inputs.count)]
        slopes = [
            "0.0, " if row is None else f"numbers[{_STRIDE * (form.count + row)} + p], "
            for row in rows
        ]
        yield f"ys[i, {i}, p] = pushed(numbers[{_STRIDE * i} + p], ({''.join(slopes)}), by)"
