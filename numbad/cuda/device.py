"""The GPU: whether there is one, arrays on it, streams, launches."""

from contextlib import contextmanager

import numpy as np
from numba import cuda, typeof
from numba.core import types
from numba.cuda.cudadrv import driver, nvrtc
from numba.cuda.cudadrv.driver import CudaAPIError

from ..errors import ArgumentError, DeviceError
from ..masked_arrays import refuse_masked
from .launch import launch_for


def capability():
    """The compute capability of the current GPU; DeviceError where there is none to compile for."""
    if not cuda.is_available():
        raise DeviceError(
            "nd.cuda.batch needs a CUDA GPU and its driver, and Numba finds none; on the CPU, nd.batch does "
            "the same (numba.cuda.is_available() tells which to take)"
        )
    found = tuple(cuda.get_current_device().compute_capability)
    oldest = min(nvrtc.get_supported_ccs())
    if found < oldest:
        raise DeviceError(
            f"this GPU has compute capability {found[0]}.{found[1]}, and the CUDA toolkit that is installed "
            f"compiles for {oldest[0]}.{oldest[1]} and later; install an older one, as by "
            "pip install 'numba-cuda[cu12]'"
        )
    return found


def stream_of(stream):
    """A stream of Numba's for one of Numba's, CuPy's or PyTorch's, or its address."""
    for attribute in ("cuda_stream", "ptr"):
        if hasattr(stream, attribute):
            stream = getattr(stream, attribute)
    if isinstance(stream, int):
        return cuda.external_stream(stream) if stream else cuda.default_stream()
    if hasattr(stream, "handle"):
        return stream
    raise ArgumentError(
        f"stream= is a stream of Numba, CuPy or PyTorch, or its address, not {stream!r}"
    )


_OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY


def free_bytes():
    """How many bytes of memory are free on the current GPU."""
    context = cuda.current_context()
    context.deallocations.clear()  # what Numba is done with and has not given back
    return context.get_memory_info().free


@contextmanager
def room_for(shape, dtype):
    """Within it, an array is made on the GPU; DeviceError where there is no memory for it."""
    try:
        yield
    except (CudaAPIError, MemoryError) as error:
        if isinstance(error, CudaAPIError) and int(error.code) != _OUT_OF_MEMORY:
            raise
        needed = int(np.prod(shape, dtype=float)) * np.dtype(dtype).itemsize
        raise DeviceError(
            f"the GPU has no room for an array of {in_units(needed)}: {in_units(free_bytes())} are free "
            "there. Take fewer elements at a time, or float32, or let go of other arrays on the GPU"
        ) from error


def in_units(number):
    """A number of bytes, as one reads it."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if number < 1000.0 or unit == "GB":
            return f"{number:.0f} bytes" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000.0


def on_device(array, stream):
    """An array on the device: the same memory, or a copy of a NumPy array."""
    if cuda.is_cuda_array(array):
        return cuda.as_cuda_array(array)
    refuse_masked(array)
    array = np.asarray(array)
    with room_for(array.shape, array.dtype):
        return cuda.to_device(array, stream=stream)


def is_on_device(value):
    """Whether a value is an array on the device."""
    return cuda.is_cuda_array(value)


def is_array(value):
    return isinstance(value, np.ndarray) or is_on_device(value)


def type_of(value):
    """The Numba type of an argument of a kernel."""
    return value._numba_type_ if hasattr(value, "_numba_type_") else typeof(value)


def empty(shape, dtype, stream):
    with room_for(shape, dtype):
        return cuda.device_array(shape, dtype, stream=stream)


def on_host(array, stream):
    """An array on the device as one of NumPy's, when what is queued on the stream has been done."""
    found = array.copy_to_host(stream=stream)
    stream.synchronize()
    return found


def launch(kernel, threads, count, arguments, stream):
    """Launch a kernel whose first argument is the number of elements.

    Not by `kernel[blocks, threads]`, which warns of small numbers of blocks: the user has not chosen them.
    """
    arguments = np.int64(count), *arguments
    ready = kernel.compile(types.void(*map(type_of, arguments)))
    processors = cuda.get_current_device().MULTIPROCESSOR_COUNT
    shape = launch_for(count, ready.regs_per_thread, processors, threads)
    blocks, threads = (shape.blocks, 1, 1), (shape.threads, 1, 1)
    ready.launch(arguments, blocks, threads, driver._to_core_stream(stream))
