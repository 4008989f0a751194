"""Whether two arrays share memory, asked of arguments that a function changes.

Differentiation gives every array a copy of its own that holds duals, so a change through one name
would not be seen through another.
"""

from numba.core import types
from numba.extending import overload, register_jitable

from .argument_structure import leaves, parse


def extent(a):
    """The first and last byte addresses of an array, and the greatest common step of its axes."""
    raise NotImplementedError


@overload(extent)
def _extent(a):
    if a.ndim == 0:
        return lambda a: (a.ctypes.data, a.ctypes.data + a.itemsize, 0)

    def measured(a):
        low, high, step = a.ctypes.data, a.ctypes.data + a.itemsize, 0
        for n, stride in zip(a.shape, a.strides):  # noqa: B905  (Numba knows no strict)
            reach = (n - 1) * stride
            low, high = low + min(reach, 0), high + max(reach, 0)
            if n > 1:
                step = _divisor(step, abs(stride))
        return low, high, step

    return measured


@register_jitable
def _divisor(a, b):
    while b:
        a, b = b, a % b
    return a


@register_jitable
def overlap(a, b):
    """Whether arrays may share memory; columns of one matrix, say, do not."""
    if a.size == 0 or b.size == 0:
        return False
    low_a, high_a, step_a = extent(a)
    low_b, high_b, step_b = extent(b)
    if high_a <= low_b or high_b <= low_a:
        return False
    step = _divisor(step_a, step_b)
    if step == 0:
        return True
    apart = (low_b - low_a) % step
    return apart < a.itemsize or step - apart < b.itemsize


def checks(operator, names, arguments, changed):
    """Source lines that raise where a changed argument shares memory with another array.

    `arguments` maps the number of an argument to its type and source.
    """
    arrays = [
        (k, leaf.source)
        for k, (ty, source) in arguments.items()
        for leaf in leaves(parse(ty, source))
        if isinstance(leaf.type, types.Array)
    ]
    for i, (k, first) in enumerate(arrays):
        for m, second in arrays[i + 1 :]:
            if k in changed or m in changed:
                told = _message(operator, names[k], names[m])
                yield f"if overlap({first}, {second}):\n    raise ArgumentError({told!r})"


def _message(operator, first, second):
    function = operator.f.py_func.__name__
    return (
        f"nd.{operator.name}: {function} changes one of its arguments '{first}' and '{second}', which "
        "share memory here; pass a copy of one of them"
    )
