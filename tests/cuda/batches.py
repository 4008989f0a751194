"""What batches are made of, and a host that poses as the GPU they run on."""

import math
from collections import namedtuple

import numpy as np
from numba import typeof

from numbad.cuda import device

from .on_cpu import CAPABILITY, run_kernel

Model = namedtuple("Model", "rate scale")


class Host:
    """Takes the place of the GPU: NumPy arrays for those on the device, launches on the CPU."""

    shape = 2, 3  # blocks, threads

    def __init__(self, monkeypatch):
        self.streams = []
        names = "capability on_device is_on_device on_host empty launch stream_of"
        for name in names.split():
            monkeypatch.setattr(device, name, getattr(self, name))

    def capability(self):
        return CAPABILITY

    def stream_of(self, stream):
        return stream

    def on_device(self, array, stream):
        return array

    def is_on_device(self, array):
        return isinstance(array, np.ndarray)

    def on_host(self, array, stream):
        return array

    def empty(self, shape, dtype, stream):
        return np.full(shape, 77, dtype)

    def launch(self, kernel, threads, count, arguments, stream):
        self.streams.append(stream)
        arguments = np.int64(count), *arguments
        run_kernel(kernel.py_func, tuple(map(typeof, arguments)), arguments, *self.shape)


def energy(x, p):
    s = 0.0
    for i in range(x.size):
        s += p.scale * math.exp(p.rate * x[i])
    return s


X = np.linspace(-1.0, 1.0, 21).reshape(7, 3)
P = Model(0.5, 2.0)
E = P.scale * np.exp(P.rate * X)


def pair(x, y):
    return x * y, (x + 2.0 * y, 3)


def rows(x, k):
    return x[0] * x[1], k * x[1] ** 2
