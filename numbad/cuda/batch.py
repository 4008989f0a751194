"""`nd.cuda.batch`: a function, or what an operator returns, for every element of arrays on the device."""

import numpy as np
from numba import cuda
from numba.core import types
from numba.np import numpy_support

from ..errors import ArgumentError
from ..forward.dualize import dualized
from ..operators.operator_dispatcher import OperatorDispatcher, as_dispatcher
from . import device
from .batch_source import BatchSource, GivenLeaf, flat, rebuilt
from .batch_sums import SummedSource, parts_for, total


def batch(op, in_axes=0, *, threads=None, reduce=None):
    """A function that evaluates `op` for every element of a batch, one thread of the GPU an element.

    Parameters
    ----------
    op : function, Numba dispatcher, or what an operator of `nd.cuda` returns
        Written for one element. It returns numbers or tuples of them, or writes to arrays that it is given.
        It allocates nothing; literals have the precision of the arguments.
    in_axes : 0, None, or a tuple of these
        0 for arguments along whose leading axis the elements lie, None for what all share, for each
        argument; or one for all. An argument that is a tuple has one for all that it holds, or a tuple.
    threads : int, optional
        Threads of a block. By default as many as lets most threads be resident, given the registers.
    reduce : None, "sum" or "mean"
        Over the elements, of what a function returns; of `nd.cuda.grad` and `value_and_grad`, of the value
        and the derivatives by arguments that all share. Derivatives by arguments with a row for each element
        stay as they are. Sums are float64, added in an order that the shapes decide alone.

    Returns
    -------
    batched
        Call it with arrays on the device (anything with `__cuda_array_interface__`: of CuPy, PyTorch,
        JAX, Numba), NumPy arrays, which are copied there, and numbers. Keywords: `stream=`, one of
        Numba's, CuPy's or PyTorch's, or its address; `out=`, arrays for the result. Returns arrays on
        the device, which `cupy.asarray` and `torch.as_tensor` take: one for each number of the result, of
        shape (N,), and for derivatives by arrays one of shape (N, *shape). The launch is asynchronous:
        synchronise the stream before the host reads. What is reduced comes back as numbers and arrays of
        NumPy's, of shape (*shape), and the call waits for it.

    Raises
    ------
    DeviceError
        Where there is no GPU, or one that the toolkit does not compile for.
    ArgumentError
        For arrays that do not match one another, or `out=`.
    UnsupportedError
        For what a kernel cannot do: an allocation, a construct that has no derivative.

    Examples
    --------
    ::

        loss = nd.cuda.value_and_grad(f, (0, 1))                # f(x, p): an array, a float
        losses = nd.cuda.batch(loss, in_axes=(0, None))
        values, (by_x, by_p) = losses(x, 0.5)                   # x: (N, 3) on the device
        values.shape, by_x.shape, by_p.shape                    # (N,), (N, 3), (N,)

        total = nd.cuda.batch(loss, in_axes=(0, None), reduce="sum")
        value, (by_x, by_p) = total(x, 0.5)                     # a float, (N, 3), a float
    """
    return DeviceBatch(op, in_axes, threads, reduce)


class DeviceBatch:
    """What `nd.cuda.batch` returns."""

    def __init__(self, op, in_axes, threads, reduce):
        if not (threads is None or (type(threads) is int and 1 <= threads <= 1024)):
            raise ArgumentError(
                f"nd.cuda.batch: threads is a number from 1 to 1024, not {threads!r}"
            )
        if reduce not in (None, "sum", "mean"):
            raise ArgumentError(f"nd.cuda.batch: reduce is None, 'sum' or 'mean', not {reduce!r}")
        self.reduce = reduce
        self.axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
        for axis in _leaves(self.axes):
            if axis is not None and (type(axis) is not int or axis != 0):
                raise ArgumentError(
                    f"nd.cuda.batch: in_axes holds 0 (the leading axis) and None (shared), not {axis!r}"
                )
        self.operator = _for_device(op)
        self.threads = threads
        self._known = {}

    def __call__(self, *args, stream=0, out=None):
        capability = device.capability()
        stream = device.stream_of(stream)
        values = [_placed(arg, stream) for arg in args]
        trees = self._trees(values)
        count = _count(trees, values)
        values = _in_one_precision(trees, values)
        source, kernel, tree, outs = self._compiled(self._trees(values), capability)
        if self.reduce is not None:
            if out is not None:
                raise ArgumentError("nd.cuda.batch: out= has no place for what is reduced")
            return self._reduced(source, kernel, tree, outs, values, count, stream)
        shapes = [_shape(buffer, source, values, count) for buffer in source.buffers]
        wanted = [*shapes, *((count,) for _ in outs)]
        dtypes = [numpy_support.as_dtype(b.dtype) for b in [*source.buffers, *outs]]
        if out is None:
            places = [device.empty(*each, stream) for each in zip(wanted, dtypes, strict=True)]
        else:
            places = _given(out, source, tree, wanted, dtypes)
        if count:
            given = [leaf for value in values for leaf in _leaves(value)]
            device.launch(kernel, self.threads, count, [*given, *places], stream)
        buffers, numbers = places[: len(shapes)], places[len(shapes) :]
        return source.structured(tree, numbers, buffers) if out is None else out

    def _reduced(self, source, kernel, tree, outs, values, count, stream):
        """The sums or means."""
        if not count:
            raise ArgumentError(f"nd.cuda.batch: there is no element to take the {self.reduce} of")
        one = [_shape(buffer, source, values, 1)[1:] for buffer in source.buffers]
        parts = parts_for(count, [one[k] for k in source.shared])
        shapes = [(parts if k in source.shared else count, *each) for k, each in enumerate(one)]
        shapes += [(parts, *one[k]) for k in source.shared]
        summed = source.are_summed(tree)
        shapes += [(parts,) if each else (count,) for each in summed]
        kinds = [*source.buffers, *source.totals(), *outs]
        dtypes = [numpy_support.as_dtype(kind.dtype) for kind in kinds]
        places = [device.empty(*each, stream) for each in zip(shapes, dtypes, strict=True)]
        given = [np.int64(count), *(leaf for value in values for leaf in _leaves(value))]
        device.launch(kernel, self.threads, parts, [*given, *places], stream)
        weight = 1.0 / count if self.reduce == "mean" else 1.0
        buffers, rest = places[: len(one)], places[len(one) :]
        for k in source.shared:
            buffers[k] = weight * total(rest.pop(0), stream)
        pairs = zip(rest, summed, strict=True)
        numbers = [weight * total(place, stream) if each else place for place, each in pairs]
        return source.structured(tree, numbers, buffers)

    def _trees(self, values):
        """The types of the arguments, with what is split among the elements."""
        axes = self.axes if isinstance(self.axes, tuple) else (self.axes,) * len(values)
        if len(axes) != len(values):
            raise ArgumentError(
                f"nd.cuda.batch: in_axes has {len(axes)} entries, and {len(values)} arguments are given"
            )
        return [_tree(k, *each) for k, each in enumerate(zip(values, axes, strict=True))]

    def _compiled(self, trees, capability):
        key = repr(trees), capability
        if key not in self._known:
            made = BatchSource if self.reduce is None else SummedSource
            source = made(self.operator, trees)
            tree = source.result(capability)
            kernel, outs = source.kernel(tree)
            self._known[key] = source, cuda.jit(kernel), tree, outs
        return self._known[key]


def _for_device(op):
    """What a kernel calls: what an operator returned as it is, a function with its literals typed."""
    if hasattr(op, "numbad_gradient") or isinstance(op, OperatorDispatcher):
        return op
    plain = getattr(op, "py_func", op) if type(op).__module__.startswith("numba.cuda") else op
    return dualized(as_dispatcher("nd.cuda.batch", plain))


def _placed(value, stream):
    """An argument with its arrays on the device."""
    if isinstance(value, tuple):
        return rebuilt(value, [_placed(member, stream) for member in value])
    return device.on_device(value, stream) if device.is_array(value) else value


def _leaves(value):
    if isinstance(value, tuple):
        for member in value:
            yield from _leaves(member)
    else:
        yield value


def _tree(k, value, axis):
    """Types and splits of an argument."""
    if isinstance(value, tuple):
        axes = axis if isinstance(axis, tuple) else (axis,) * len(value)
        if len(axes) != len(value):
            raise ArgumentError(
                f"nd.cuda.batch: argument {k} is a tuple of {len(value)}, and in_axes has {axis} for it"
            )
        return rebuilt(value, [_tree(k, *each) for each in zip(value, axes, strict=True)])
    ty = device.type_of(value)
    if axis is None:
        return GivenLeaf(ty, False)
    if not isinstance(ty, types.Array) or ty.ndim == 0:
        raise ArgumentError(
            f"nd.cuda.batch: argument {k} holds no elements along an axis: {value!r}. Way out: None for it "
            "in in_axes, where all share it"
        )
    return GivenLeaf(ty, True)


def _split(trees, values):
    """The arrays that are split, with the number of their argument."""
    for k, (tree, value) in enumerate(zip(trees, values, strict=True)):
        for given, leaf in zip(flat(tree), _leaves(value), strict=True):
            if given.split:
                yield k, leaf


def _count(trees, values):
    """The number of elements."""
    counts = [(k, leaf.shape[0]) for k, leaf in _split(trees, values)]
    if not counts:
        raise ArgumentError(
            "nd.cuda.batch: no argument has 0 in in_axes, so that there is one element"
        )
    for k, count in counts:
        if count != counts[0][1]:
            raise ArgumentError(
                f"nd.cuda.batch: argument {k} has {count} elements along its leading axis, and argument "
                f"{counts[0][0]} has {counts[0][1]}"
            )
    return counts[0][1]


def _in_one_precision(trees, values):
    """The arguments, Python's floats as float32 beside arrays of these alone."""
    tys = [given.type for tree in trees for given in flat(tree)]
    dtypes = {ty.dtype for ty in tys if isinstance(ty, types.Array)}
    floats = {ty for ty in dtypes if isinstance(ty, types.Float | types.Complex)}
    if not floats or floats - {types.float32, types.complex64}:
        return values

    def narrowed(value):
        if isinstance(value, tuple):
            return rebuilt(value, map(narrowed, value))
        return np.float32(value) if type(value) is float else value

    return [narrowed(value) for value in values]


def _shape(buffer, source, values, count):
    """The shape of the derivatives: those of an element, after their number."""
    trees, values = (
        (source.arguments, values) if not source.packed else (source.arguments[0], values[0])
    )
    parts = ()
    for k in buffer.of:
        parts += values[k].shape[1:] if trees[k].split else values[k].shape
    return (count, *buffer.lead, *parts)


def _given(out, source, tree, wanted, dtypes):
    """The arrays of `out=`, derivatives first, as the kernel takes them."""
    given = list(_leaves(out))
    arrays = [isinstance(leaf.type, types.Array) for leaf in source.result_leaves(tree)]
    if len(given) != len(arrays):
        raise ArgumentError(
            f"nd.cuda.batch: out= holds {len(given)} arrays; the result has {len(arrays)}, in a tuple like "
            "that which is returned without out="
        )
    places = [None] * len(wanted)
    buffer, number = iter(source.order), iter(range(len(source.buffers), len(wanted)))
    for value, is_buffer in zip(given, arrays, strict=True):
        k = next(buffer if is_buffer else number)
        if not device.is_on_device(value) or (value.shape, np.dtype(value.dtype)) != (
            wanted[k],
            dtypes[k],
        ):
            raise ArgumentError(
                f"nd.cuda.batch: out= needs an array on the device of shape {wanted[k]} and dtype {dtypes[k]}"
                f" in place {k}; it has {type(value).__name__} of shape {getattr(value, 'shape', None)} and "
                f"dtype {getattr(value, 'dtype', None)}"
            )
        places[k] = device.on_device(value, 0)
    return places
