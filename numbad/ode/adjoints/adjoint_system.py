"""The adjoint system: what the cotangents of a solution do between outputs, backwards in time.

    lambda' = -(df/dy)^T lambda,    mu' = -(df/dp)^T lambda,

with vector-Jacobian products of f. Its state is an array: lambda; the solution itself, where that is
integrated backwards as well ("backsolve"); and mu, a number for each float in the arguments, two for a
complex one. L. S. Pontryagin et al., "The Mathematical Theory of Optimal Processes", 1962; Y. Cao, S. Li,
L. Petzold, R. Serban, "Adjoint sensitivity analysis for differential-algebraic equations", SIAM Journal on
Scientific Computing 24 (2003), doi:10.1137/S1064827501380630.
"""

import numpy as np
from numba.core import types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array

from numbad.compilation.memo import built_once
from numbad.forward.access import primal
from numbad.forward.dual import base_scalar
from numbad.ode.adjoints.shadow_arguments import Arguments, tuple_of
from numbad.ode.adjoints.stage_pulls import BY_STATE, SCRATCH, SEED, SLOPE, STATE, kernel, pull_at
from numbad.ode.compiling import generic
from numbad.ode.integrate import content_of, dispatcher_of
from numbad.ode.jacobian import columns_at_once
from numbad.ode.known_switches import ALL_KNOWN
from numbad.ode.rhs import RightHandSide, make_evaluate
from numbad.ode.state import read_row, structure_of, vector_type, write_row
from numbad.operators.argument_structure import leaves, parse
from numbad.operators.generated_names import indented
from numbad.source import define


@built_once(dispatcher_of)
def adjoint_slope(problem, pull, by_args, raises, state_too):
    """The dispatcher `slope(t, z, dz, y0, like, given, shadows, scratch, track, origin)`.

    Its time counts from `origin[0]`, an output: next to that the adjoint of a stiff system may change within
    less than the spacing of the times themselves.
    `pull` gives the vector-Jacobian products, by the arguments as well where there is a mu (`by_args`);
    where it `raises` the arguments to dual numbers there are shadows of arrays among them. `track` is the
    solution (see `state_at`), None where it is integrated along (`state_too`).
    """
    content = "adjoint slope", *content_of(problem), by_args, raises, state_too

    def slope(t, z, dz, y0, like, given, shadows, scratch, track, origin):
        raise NotImplementedError(content)

    def choose(*argument_types):
        return _write(problem, pull, by_args, raises, state_too, *argument_types)

    origin = adjoint_slope, (problem, pull, by_args, raises, state_too)
    return generic(slope, content, choose, origin)


def _write(problem, pull, by_args, raises, state_too, t, z, dz, y0, like, given, *rest):
    _, scratch, *_ = rest
    code = Arguments(given, "given")
    code.namespace.update(
        pull=pull,
        pull_at=pull_at,
        dual_rows=dual_rows,
        structure_of=structure_of,
        interpolant=np.array(problem.tableau.interpolant),
        state_at=state_at,
        put_members=put_members,
        put_arrays=put_arrays,
        put_state=put_state,
        negative=negative,
    )
    lines, rows, given_name = [], "scratch", "given"
    if z.dtype != scratch.dtype:  # the dual numbers of a Jacobian
        rows = f"dual_rows(scratch[{SCRATCH}:], z)"
        if raises:
            own = [code.own_shadows(tree, z.dtype) for tree in code.trees()]
            given_name = code.raised_to(z.dtype, True)
            lines.append(f"shadows = {tuple_of(own)}")
    lines += [f"rows = {rows}", f"raised = {given_name}", "n = rows.shape[1]"]
    lines.append("moment = origin[0] + t")
    if state_too:
        lines.append(f"put_state(rows[{STATE}], z, n)")
    else:
        lines.append(f"state_at(moment, track, interpolant, rows[{STATE}])")
    lines += [
        f"put_state(rows[{SEED}], z, 0)",
        "totals = pull_at(pull, moment, 0.0, rows, like, structure_of(y0), raised, shadows)",
        f"negative(dz, rows[{BY_STATE}])",
    ]
    if state_too:
        code.namespace["evaluate"] = make_evaluate(RightHandSide(problem.inplace, ALL_KNOWN))
        code.namespace.update(fun=problem.fun, read_row=read_row, write_row=write_row)
        lines += [
            f"y = read_row(rows[{STATE}], rows, {STATE}, like)",
            f"found = evaluate(fun, rows[{SLOPE}], moment, y, structure_of(y0), given)",
            f"write_row(rows, {SLOPE}, found)",
            f"put_state(dz[n:], rows[{SLOPE}], 0)",
        ]
    if by_args:
        first = "2 * n" if state_too else "n"
        lines += [f"k = put_members(dz, {first}, totals)", "k = put_arrays(dz, k, shadows)"]
    text = "\n".join(map(indented, lines))
    names = "t, z, dz, y0, like, given, shadows, scratch, track, origin"
    return define(f"def slope({names}):\n{text}\n", code.namespace)


def rows_of_scratch(z):
    """How many rows of scratch `adjoint_slope` needs for states like z: those of `stage_pulls`.

    Behind them there is memory for as many rows of the dual numbers that a Jacobian is taken by. Methods that
    take it of values alone have a copy of the rows without partials.
    """
    of_values = vector_type(base_scalar(z.dtype))
    return SCRATCH * (2 + max(map(columns_at_once, (z, of_values))))


@intrinsic
def dual_rows(typingctx, memory, z):
    """Rows of dual numbers like those in z, in the memory of rows of their numbers."""
    dual = z.dtype
    if dual.scalar != memory.dtype or dual.n > columns_at_once(memory):
        raise ValueError(f"rows of {memory} have no room for {dual}")
    result = types.Array(dual, 2, "C")

    def codegen(context, builder, signature, arguments):
        table = make_array(memory)(context, builder, arguments[0])
        width = builder.extract_value(table.shape, 1)
        size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(dual)))
        rows = make_array(result)(context, builder)
        populate_array(
            rows,
            data=builder.bitcast(table.data, rows.data.type),
            shape=[context.get_constant(types.intp, SCRATCH), width],
            strides=[builder.mul(width, size), size],
            itemsize=size,
            meminfo=None,
            parent=None,
        )
        return rows._getvalue()

    return result(memory, z), codegen


@kernel
def put_state(target, z, first):
    for i in range(len(target)):
        target[i] = z[first + i]


@kernel
def negative(target, source):
    for i in range(len(source)):
        target[i] = -source[i]


@kernel
def state_at(t, track, interpolant, out):
    """The solution at time `t`, from nodes, the states and what the interpolant weighs, and a cursor."""
    nodes, states, slopes, cursor = track
    moment = primal(t)
    k, last = cursor[0], len(nodes) - 2
    direction = nodes[last + 1] - nodes[0]
    while k > 0 and (moment - nodes[k]) * direction < 0.0:
        k -= 1
    while k < last and (moment - nodes[k + 1]) * direction > 0.0:
        k += 1
    cursor[0] = k
    h = nodes[k + 1] - nodes[k]
    theta = (t - nodes[k]) / h if h != 0.0 else 0.0 * t  # a step may be too short for its time
    for i in range(len(out)):
        out[i] = states[k, i]
    count, degree = interpolant.shape
    for j in range(count):
        weight = interpolant[j, degree - 1] * theta
        for p in range(degree - 2, -1, -1):
            weight = (weight + interpolant[j, p]) * theta
        slope = slopes[k * count + j]
        weight = h * weight
        for i in range(len(out)):
            out[i] += weight * slope[i]


def parts_of(number):
    """The numbers of a state that stand for one of the arguments: two for a complex one."""
    raise NotImplementedError


@overload(parts_of)
def _parts_of(number):
    if width_of(number) == 1:
        return lambda number: (number,)
    return lambda number: (number.real, number.imag)


def width_of(scalar):
    """How many parts a scalar of a type has."""
    return 2 if isinstance(base_scalar(scalar), types.Complex) else 1


def number_source(scalar, source, k):
    """Source of the number of type `scalar` whose parts stand in an array, from `k` on."""
    if width_of(scalar) == 1:
        return f"{source}[{k}]"
    return f"complex({source}[{k}], {source}[{k} + 1])"


def put_members(target, first, members):
    """Put -1 times the numbers of a tuple into an array, from `first` on; the place after them."""
    raise NotImplementedError


@overload(put_members)
def _put_members(target, first, members):
    lines, count = _lines_by_part("    target[first + {}] = -{}\n", members)
    return define(f"def put(target, first, members):\n{lines}    return first + {count}\n", {})


def add_members(target, members):
    """Add the numbers of a tuple to those of an array."""
    raise NotImplementedError


@overload(add_members)
def _add_members(target, members):
    lines, _ = _lines_by_part("    target[{}] += {}\n", members)
    return define(f"def add(target, members):\n{lines}    return\n", {})


def _lines_by_part(line, members):
    """A line for each part of the numbers in a tuple, and how many there are."""
    parts = [
        f"members[{k}]{part}"
        for k, scalar in enumerate(members)
        for part in ("", ".real", ".imag")[width_of(scalar) - 1 :][: width_of(scalar)]
    ]
    return "".join(line.format(k, part) for k, part in enumerate(parts)), len(parts)


def put_arrays(target, first, arrays):
    """The same with all numbers of the arrays in a structure, which are set to zero."""
    raise NotImplementedError


@overload(put_arrays)
def _put_arrays(target, first, arrays):
    lines = []
    for leaf in leaves(parse(arrays, "arrays")):
        if leaf.kind == "array":
            lines.append(f"    first = put_array(target, first, {leaf.source})\n")
    return define(
        f"def put(target, first, arrays):\n{''.join(lines)}    return first\n",
        {"put_array": put_array},
    )


@kernel
def put_array(target, first, array):
    for index in np.ndindex(array.shape):
        for part in parts_of(array[index]):
            target[first] = -part
            first += 1
        array[index] = 0.0
    return first


def add_to_arrays(source, first, arrays):
    """Add numbers from `first` on to those of the arrays in a structure."""
    raise NotImplementedError


@overload(add_to_arrays)
def _add_to_arrays(source, first, arrays):
    lines = []
    for leaf in leaves(parse(arrays, "arrays")):
        if leaf.kind == "array":
            lines.append(f"    first = add_to_array(source, first, {leaf.source})\n")
    return define(
        f"def add(source, first, arrays):\n{''.join(lines)}    return first\n",
        {"add_to_array": add_to_array},
    )


def add_to_array(source, first, array):
    raise NotImplementedError


@overload(add_to_array)
def _add_to_array(source, first, array):
    namespace = {"np": np}
    number = number_source(array.dtype, "source", "first")
    lines = f"        array[index] += {number}\n        first += {width_of(array.dtype)}\n"
    return define(
        "def add(source, first, array):\n"
        f"    for index in np.ndindex(array.shape):\n{lines}    return first\n",
        namespace,
    )


def count_numbers(arrays):
    """How many numbers of a state stand for those in the arrays of a structure."""
    raise NotImplementedError


@overload(count_numbers)
def _count_numbers(arrays):
    found = [leaf for leaf in leaves(parse(arrays, "arrays")) if leaf.kind == "array"]
    total = " + ".join(f"{leaf.source}.size * {width_of(leaf.type.dtype)}" for leaf in found) or "0"
    return define(f"def count(arrays):\n    return {total}\n", {})
