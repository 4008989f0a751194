"""A batch whose sums are taken on the GPU: of values, and of derivatives by what all elements share.

A thread takes some of the elements and adds in registers, or in an array of its own; a second kernel adds
what the threads have. Sums are float64, in an order that the shapes decide alone: the same bits on any GPU.
"""

import numpy as np
from numba import cuda
from numba.core import types

from ..errors import UnsupportedError
from ..operators.argument_structure import leaves
from ..source import define
from . import device
from .batch_source import BatchSource, Buffer, flat

# Threads that add: about half of what the largest GPUs hold, or fewer where their arrays had so many bytes.
_MOST_PARTS, _FEWEST_PARTS, _BYTES = 2**17, 2**10, 2**28
_ROWS = 256  # that are left for the host to add


class SummedSource(BatchSource):
    """The kernel of such a batch; its `count` is that of the parts."""

    def __init__(self, operator, arguments):
        super().__init__(operator, arguments)
        self.asked = getattr(operator, "numbad_gradient", None)
        if self.buffers and self.asked is None:
            raise UnsupportedError(
                "nd.cuda.batch: reduce= adds what functions return, and nd.cuda.grad and value_and_grad; not "
                "what nd.cuda.jacobian and hvp do"
            )
        self.shared = [
            k for k, b in enumerate(self.buffers) if not any(self.arguments[n].split for n in b.of)
        ]

    def place(self, k):
        """Where element `j` of part `t` has its array of derivatives number `k`."""
        return f"b{k}[t]" if k in self.shared else f"b{k}[j]"

    def totals(self):
        """The arrays in which the parts add those by shared arguments."""
        return [Buffer(_added(b.dtype), b.lead, b.of, b.axes) for b in self._of_shared()]

    def _of_shared(self):
        return [self.buffers[k] for k in self.shared]

    def are_summed(self, tree):
        """Of each number of the result, in order, whether it is summed."""
        found = list(leaves(tree))
        if self.asked is None:
            by = []
        else:
            by = [leaf.split for k in self.asked[1] for leaf in flat(self.arguments[k])]
        values = len(found) - len(by)
        summed = [True] * values + [not split for split in by]
        pairs = zip(found, summed, strict=True)
        return [s for leaf, s in pairs if not isinstance(leaf.type, types.Array | types.NoneType)]

    def kernel(self, tree):
        """The kernel, and the types of the arrays for numbers in the result."""
        self._check(tree)
        numbers = [x for x in self.result_leaves(tree) if not isinstance(x.type, types.Array)]
        summed = self.are_summed(tree)
        outs = [f"o{k}" for k in range(len(numbers))]
        totals = [f"c{k}" for k in self.shared]
        given = ["count", "elements", self.parameters(), *totals, *outs]
        each = list(zip(outs, numbers, summed, strict=True))
        lines = [f"def kernel({', '.join(filter(None, given))}):"]
        lines += ["    for t in range(cuda.grid(1), count, cuda.gridsize(1)):"]
        lines += [f"        s_{o} = 0.0" for o, _, s in each if s]
        lines += self._for_each_total(8, "c{k}[{at}] = 0.0")
        lines += [
            "        for j in range(t, elements, count):",
            f"            r = {self.call()}",
        ]
        lines += [
            f"            s_{o} += {leaf.source}" if s else f"            {o}[j] = {leaf.source}"
            for o, leaf, s in each
        ]
        lines += self._for_each_total(12, "c{k}[{at}] += b{k}[{at}]")
        lines += [f"        {o}[t] = s_{o}" for o, _, s in each if s]
        made = define("\n".join(lines) + "\n", self.namespace)
        kinds = [_added(leaf.type) if s else leaf.type for _, leaf, s in each]
        return made, [types.Array(kind, 1, "C") for kind in kinds]

    def _for_each_total(self, indent, line):
        """Lines that do something to each number that part `t` adds in arrays."""
        lines = []
        for k in self.shared:
            axes = range(self.buffers[k].axes)
            for axis in axes:
                margin = " " * (indent + 4 * axis)
                lines.append(f"{margin}for q{axis} in range(c{k}.shape[{axis + 1}]):")
            at = ", ".join(["t", *(f"q{axis}" for axis in axes)])
            lines.append(" " * (indent + 4 * len(axes)) + line.format(k=k, at=at))
        return lines


def _added(ty):
    """The type in which numbers of a type are added."""
    return types.complex128 if isinstance(ty, types.Complex) else types.float64


def parts_for(count, shapes):
    """How many threads add, where each has arrays of such shapes."""
    each = 16 * sum(int(np.prod(shape)) for shape in shapes)
    most = min(_MOST_PARTS, _BYTES // each) if each else _MOST_PARTS
    return max(1, min(count, max(most, _FEWEST_PARTS)))


def column_sums(count, table, found):
    """In each row of `found` the sums of as many rows of a table, every so manieth."""
    for i in range(cuda.grid(1), count, cuda.gridsize(1)):
        part, column = i // found.shape[1], i % found.shape[1]
        total = table[part, column]
        for row in range(part + found.shape[0], table.shape[0], found.shape[0]):
            total += table[row, column]
        found[part, column] = total


_COLUMN_SUMS = cuda.jit(column_sums)


def total(array, stream):
    """The sum over the first axis of an array on the device, as NumPy's."""
    parts, *shape = array.shape
    table = array.reshape(parts, int(np.prod(shape)))
    found = device.empty((min(parts, _ROWS), table.shape[1]), array.dtype, stream)
    device.launch(_COLUMN_SUMS, None, found.size, [table, found], stream)
    return device.on_host(found, stream).sum(axis=0).reshape(shape)[()]
