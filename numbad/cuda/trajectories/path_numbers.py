"""What a function makes of each trajectory, on the device: its mean, and that of its derivatives."""

import numpy as np
from numba import cuda
from numba.core import types
from numba.core.registry import cpu_target

from numbad.compilation.memo import built_once
from numbad.cuda.forward_mode import jvp
from numbad.cuda.kernels import DOUBLE, SINGLE, Kernel
from numbad.cuda.trajectories.averages import (
    Averages,
    Means,
    merged,
    moments,
    standard_error,
)
from numbad.forward.dualize import dualized
from numbad.operators.operator_dispatcher import as_dispatcher
from numbad.sde.ensemble_source import reduced_type
from numbad.source import define

_SCALARS = {SINGLE: types.float32, DOUBLE: types.float64}


class PathNumbers:
    """Collects the means of the numbers that a function makes of each trajectory."""

    whole = None

    def __init__(self, device, precision, reduce, partials):
        self.device, self.precision, self.partials = device, precision, partials
        self.reduce = as_dispatcher("nd.cuda.ensemble", getattr(reduce, "py_func", reduce))
        self.returned = reduced_type(cpu_target.typing_context, self.reduce)
        self.single = not isinstance(self.returned, types.BaseTuple)
        self.count = 1 if self.single else len(self.returned)
        self.found = []
        self.bytes_fixed = Averages.bytes_fixed
        self.bytes_each = self.count * (1 + partials) * np.dtype(precision).itemsize

    def add(self, portion):
        kernel = numbers_kernel(self.reduce, self.count, self.single, self.precision, self.partials)
        shape = self.count, 1 + self.partials, portion.count
        found = self.device.empty(shape, self.precision)
        slopes = [portion.slopes] if self.partials else []
        given = [portion.status, portion.ys, *slopes, found]
        self.device.launch(kernel, given, portion.count)
        self.found.append(moments(self.device, portion.status, found, self.precision))

    def take(self, found, first):
        self.found += found

    def result(self, failed):
        found = merged(self.found)
        error = standard_error(found)[:, 0]
        by = self._structured(found.mean[:, 1:]) if self.partials else None
        paths = int(found.count.flat[0])
        mean = self._structured(found.mean[:, 0])
        return Means(mean, self._structured(error), by, paths, failed)

    def _structured(self, rows):
        """Rows in the structure that the function returns."""
        return rows[0] if self.single else tuple(rows)


@built_once(lambda reduce, *_: reduce)
def numbers_kernel(reduce, count, single, precision, partials):
    """The kernel `(status, ys[, slopes], found)`: numbers and their partials, of each trajectory."""
    results = ["value"] if single else [f"value[{k}]" for k in range(count)]
    lines = ["value = reduce(ys[:, :, i])"]
    lines += [f"found[{k}, 0, i] = {result}" for k, result in enumerate(results)]
    if partials:
        lines += [
            f"for p in range({partials}):",
            "    _, value = push((ys[:, :, i],), (slopes[:, :, p, i],))",
            *(f"    found[{k}, 1 + p, i] = {result}" for k, result in enumerate(results)),
        ]
    slopes = ", slopes" if partials else ""
    source = [
        f"def numbers(status, ys{slopes}, found):",
        "    i = grid(1)",
        "    if i < status.size and status[i] == 0:",
        *("        " + line for line in lines),
    ]
    names = {"grid": cuda.grid, "reduce": dualized(reduce), "push": jvp(reduce)}
    scalar = _SCALARS[precision]
    tables = [types.Array(scalar, ndim, "C") for ndim in ([3, 4, 3] if partials else [3, 3])]
    return Kernel(define("\n".join(source), names), (types.int32[::1], *tables))
