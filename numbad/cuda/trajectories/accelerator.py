"""The current GPU: arrays on it, and kernels started there."""

import math
from itertools import accumulate
from operator import mul

import numpy as np
from numba import cuda

from numbad.cuda.device import free_bytes, room_for, stream_of
from numbad.errors import DeviceError

THREADS = 128
_ALIGNED = 256  # bytes, at whose multiples the driver's allocations begin


class Accelerator:
    """The current GPU; what it is asked for is queued on `stream`."""

    def __init__(self, stream=None):
        self.stream = 0 if stream is None else stream_of(stream)

    def need(self, name, way_out):
        """Raise DeviceError where there is no GPU; `way_out` says what does the same without one."""
        if not cuda.is_available():
            raise DeviceError(
                f"{name} needs an NVIDIA GPU with its driver, and finds none here. {way_out}"
            )

    def free(self):
        """How many bytes of memory are free on the GPU."""
        return free_bytes()

    def is_resident(self, value):
        """Whether a value is an array on a GPU already."""
        return hasattr(value, "__cuda_array_interface__")

    def borrowed(self, value):
        """An array of CuPy, PyTorch or the like as one of Numba's, of the same memory."""
        return cuda.as_cuda_array(value)

    def copied(self, array, dtype):
        """An array of NumPy's on the device, contiguous."""
        array = np.ascontiguousarray(array, dtype)
        with room_for(array.shape, dtype):
            return cuda.to_device(array, stream=self.stream)

    def empty(self, shape, dtype):
        """A new array on the device; what is in it is undefined."""
        with room_for(shape, dtype):
            return cuda.device_array(shape, dtype, stream=self.stream)

    def several_empty(self, kinds):
        """New arrays of pairs (shape, dtype), in one piece of memory that is freed when all of them are."""
        return self.carved(self.empty((bytes_of(kinds),), np.uint8), kinds)

    def carved(self, memory, kinds):
        """Arrays of pairs (shape, dtype) in an array of as many bytes as they need, or more."""
        return self._parts(memory, kinds, _places(kinds)[0])

    def several_copied(self, arrays):
        """Arrays of NumPy's on the device, by one copy: it takes as long for one small array as for many."""
        kinds = [(array.shape, array.dtype) for array in arrays]
        places, size = _places(kinds)
        together = np.zeros(size, np.uint8)
        for array, (start, end) in zip(arrays, places, strict=True):
            together[start:end] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return self._parts(self.copied(together, np.uint8), kinds, places)

    def _parts(self, memory, kinds, places):
        """The arrays that lie in an array of bytes."""
        return [
            self._array(shape, _strides(shape, dtype), dtype, memory.gpu_data.view(*place))
            for (shape, dtype), place in zip(kinds, places, strict=True)
        ]

    def _array(self, shape, strides, dtype, memory):
        return cuda.devicearray.DeviceNDArray(
            shape, strides, dtype, stream=self.stream, gpu_data=memory
        )

    def fetched(self, array):
        """An array of the device's as one of NumPy's, when what is queued has been done."""
        found = array.copy_to_host(stream=self.stream)
        if self.stream:
            self.stream.synchronize()
        return found

    def trajectories_first(self, array):
        """An array of shape (times, n, trajectories) on the device as (trajectories, times, n), uncopied."""
        shape = array.shape[-1:] + array.shape[:-1]
        strides = array.strides[-1:] + array.strides[:-1]
        return self._array(shape, strides, array.dtype, array.gpu_data)

    def launch(self, kernel, arguments, count):
        """Start a kernel with one thread for each of `count`."""
        kernel.launch(arguments, -(-count // THREADS), THREADS, self.stream)


def _strides(shape, dtype):
    """The strides of a contiguous array."""
    sizes = [np.dtype(dtype).itemsize, *reversed(shape[1:])]
    return tuple(accumulate(sizes, mul))[::-1]


def bytes_of(kinds):
    """The bytes of arrays of pairs (shape, dtype) in one piece of memory."""
    return _places(kinds)[1]


def _places(kinds):
    """Where arrays of pairs (shape, dtype) begin and end in one piece of memory, and its size, in bytes."""
    places, size = [], 0
    for shape, dtype in kinds:
        start = -(-size // _ALIGNED) * _ALIGNED
        size = start + math.prod(shape) * np.dtype(dtype).itemsize
        places.append((start, size))
    return places, max(size, 1)
