"""The kernel of a batch: one thread an element, for the types of the arguments.

The arguments are flattened: a kernel takes arrays and numbers. What an operator's result writes its
derivatives into are arrays of one row an element, among its results.
"""

from dataclasses import dataclass, field

from numba import cuda
from numba.core import types
from numba.cuda.compiler import compile_cuda
from numba.cuda.extending import intrinsic

from ..errors import ArgumentError, UnsupportedError
from ..operators.argument_structure import Branch, leaves, parse
from ..operators.operator_dispatcher import OperatorDispatcher
from ..operators.results import plain_result
from ..source import define
from .forward_mode import KernelHVP, KernelJacobian
from .frontend import cpu_target


@dataclass
class GivenLeaf:
    """An argument's leaf: its type, and whether each element has a part of it."""

    type: types.Type
    split: bool

    @property
    def element(self):
        """The type of what one element gets."""
        if not self.split:
            return self.type
        ndim = self.type.ndim - 1
        layout = self.type.layout if self.type.layout == "C" else "A"
        return self.type.copy(ndim=ndim, layout=layout) if ndim else self.type.dtype


@dataclass
class Buffer:
    """Derivatives by an array: a row an element, with `lead`, the shape of one argument, and of another."""

    dtype: types.Type
    lead: tuple = ()
    of: list = field(
        default_factory=list
    )  # numbers of arguments, whose parts' shapes come one after another
    axes: int = 0  # of one row

    @property
    def type(self):
        return types.Array(self.dtype, 1 + self.axes, "C")


class BatchSource:
    """What a batch compiles for `arguments`: a `Given`, or a tuple of such, for each."""

    def __init__(self, operator, arguments):
        self.operator = operator
        self.namespace = {"operator": operator, "cuda": cuda}
        self.arguments = arguments
        self.buffers, self.order, self.packed = buffers_of(operator, arguments)
        self.names = [f"a{k}" for k in range(sum(1 for tree in arguments for _ in flat(tree)))]

    def types(self):
        """The types of the arguments and of the buffers."""
        given = [leaf.type for tree in self.arguments for leaf in flat(tree)]
        return [*given, *(buffer.type for buffer in self.buffers)]

    def call(self):
        """Source of the call for element `j`, by thread `t`."""
        numbers = iter(range(len(self.names)))
        sources = [self._argument(tree, numbers) for tree in self.arguments]
        places = [self.place(k) for k in range(len(self.buffers))]
        sources += [f"({''.join(p + ', ' for p in places)})"] if self.packed and places else places
        return f"operator({', '.join(sources)})"

    def place(self, k):
        """Where element `j` has its array of derivatives number `k`."""
        return f"b{k}[j]"

    def _argument(self, tree, numbers):
        if isinstance(tree, GivenLeaf):
            name = self.names[next(numbers)]
            return f"{name}[j]" if tree.split else name
        members = "".join(self._argument(member, numbers) + ", " for member in tree)
        name = type(tree).__name__ if hasattr(tree, "_fields") else ""
        if name:
            self.namespace[name] = type(tree)
        return f"{name}({members})"

    def parameters(self):
        return ", ".join([*self.names, *(f"b{k}" for k in range(len(self.buffers)))])

    def result(self, cc):
        """The structure of the result, read from `r`: found by compiling the call, but not to PTX."""
        met = []
        source = f"def probe({self.parameters()}, j, t):\n    meet({self.call()})\n"
        probe = define(source, {**self.namespace, "meet": _meeting(met)})
        options = {"nvvm_options": {"opt": 3, "fastmath": False}, "cc": cc}
        compile_cuda(probe, None, (*self.types(), types.int64, types.int64), **options)
        return parse(met[-1], "r")

    def kernel(self, tree):
        """The kernel, and the types of the arrays for numbers in the result."""
        self._check(tree)
        numbers = [x for x in self.result_leaves(tree) if not isinstance(x.type, types.Array)]
        outs = [f"o{k}" for k in range(len(numbers))]
        lines = [f"def kernel({', '.join(filter(None, ['count', self.parameters(), *outs]))}):"]
        lines += [
            "    for j in range(cuda.grid(1), count, cuda.gridsize(1)):",
            f"        r = {self.call()}",
        ]
        lines += [f"        {o}[j] = {leaf.source}" for o, leaf in zip(outs, numbers, strict=True)]
        made = define("\n".join(lines) + "\n", self.namespace)
        return made, [types.Array(leaf.type, 1, "C") for leaf in numbers]

    @staticmethod
    def result_leaves(tree):
        """The leaves of a result that arrays are returned for."""
        return [leaf for leaf in leaves(tree) if not isinstance(leaf.type, types.NoneType)]

    def _check(self, tree):
        for leaf in leaves(tree):
            known = types.Number | types.Boolean | types.NoneType
            if isinstance(leaf.type, known) or (
                isinstance(leaf.type, types.Array) and self.buffers
            ):
                continue
            raise ArgumentError(
                "nd.cuda.batch takes functions that return numbers or tuples of numbers, and results of "
                f"nd.cuda's operators; {_name(self.operator)} returns {leaf.type}. Way out: write into an "
                "argument, of which each element has a row"
            )

    def structured(self, tree, numbers, buffers):
        """The result of a launch: arrays in the structure of what one element gives."""
        numbers, places = iter(numbers), iter([buffers[k] for k in self.order])

        def built(node):
            if isinstance(node, Branch):
                members = [built(member) for member in node.members]
                cls = getattr(node.type, "instance_class", None)
                return cls(*members) if cls else tuple(members)
            if isinstance(node.type, types.Array):
                return next(places)
            return None if isinstance(node.type, types.NoneType) else next(numbers)

        return built(tree)


def _meeting(met):
    """A function for kernels that notes the type of what it is given."""

    @intrinsic
    def meet(typingctx, x):
        met.append(x)
        return types.none(x), lambda context, builder, sig, args: context.get_dummy_value()

    return meet


def rebuilt(value, members):
    """A tuple of the class of another."""
    return type(value)(*members) if hasattr(value, "_fields") else tuple(members)


def flat(tree):
    """The `Given`s of an argument."""
    if isinstance(tree, GivenLeaf):
        yield tree
    else:
        for member in tree:
            yield from flat(member)


def _name(operator):
    return getattr(operator, "__name__", repr(operator))


# -- what operators write into -------------------------------------------------------------------


def buffers_of(operator, arguments):
    """`(buffers, numbers of the buffers that the result's arrays are, whether they are one argument)`."""
    if (asked := getattr(operator, "numbad_gradient", None)) is not None:
        return _of_gradient(*asked, arguments)
    made = operator.operator if isinstance(operator, OperatorDispatcher) else None
    if isinstance(made, KernelJacobian):
        return _of_jacobian(made, arguments)
    if isinstance(made, KernelHVP):
        return _of_hvp(made, arguments)
    return [], [], False


def _array(tree):
    """The type of the array that an element gets for an argument; None where it gets none."""
    if not isinstance(tree, GivenLeaf):
        return None
    return tree.element if isinstance(tree.element, types.Array) else None


def _of_gradient(name, numbers, tape, arguments):
    if tape is None:
        raise UnsupportedError(
            f"nd.cuda.batch has no workspace for {name} with tape=None; give a number of bytes, tape=16384"
        )
    arrays = [k for k in sorted(set(numbers)) if k < len(arguments) and _array(arguments[k])]
    buffers = [_like(arguments, k) for k in arrays]
    return buffers, [arrays.index(k) for k in numbers if k in arrays], False


def _like(arguments, k):
    ty = _array(arguments[k])
    return Buffer(ty.dtype, (), [k], ty.ndim)


def _of_jacobian(operator, arguments):
    argnums, out = operator.argnums, operator.out
    if out is None:
        arrays = [k for k in argnums if k < len(arguments) and _array(arguments[k])]
        rows = _rows(operator, arguments) if arrays else ()
        buffers = [_like(arguments, k) for k in arrays]
        for buffer in buffers:
            buffer.lead, buffer.axes = rows, buffer.axes + len(rows)
        return buffers, list(range(len(arrays))), False
    written = _array(arguments[out]) if out < len(arguments) else None
    if written is None:
        return [], [], False  # which the operator refuses
    buffers = []
    for k in argnums:
        own = [k] if _array(arguments[k]) else []
        axes = written.ndim + sum(_array(arguments[n]).ndim for n in own)
        buffers.append(Buffer(written.dtype, (), [out, *own], axes))
    return buffers, list(range(len(buffers))), False


def _rows(operator, arguments):
    """The axis of a result of several numbers, `(their number,)`, or none."""
    with cpu_target():
        tree = parse(plain_result(_cpu(), operator.f, [_type(a) for a in arguments]), "r")
    return (len(list(leaves(tree))),) if isinstance(tree, Branch) else ()


def _cpu():
    from numba.core.registry import cpu_target as cpu

    return cpu.typing_context


def _type(tree):
    if isinstance(tree, GivenLeaf):
        return types.unliteral(tree.element)
    members = [_type(member) for member in tree]
    if hasattr(tree, "_fields"):
        return types.NamedTuple(members, type(tree))
    return types.BaseTuple.from_types(members)


def _of_hvp(operator, arguments):
    primals = arguments[0] if arguments and not isinstance(arguments[0], GivenLeaf) else ()
    arrays = [k for k in operator.argnums if k < len(primals) and _array(primals[k])]
    arrays = [k for k in arrays if isinstance(_array(primals[k]).dtype, types.Float)]
    buffers = [_like(primals, k) for k in arrays]
    return buffers, list(range(len(arrays))), True
