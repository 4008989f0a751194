"""Where in memory arrays lie, and whether two of them may share some."""

from numba.extending import overload, register_jitable


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
def arrays_overlap(a, b):
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
