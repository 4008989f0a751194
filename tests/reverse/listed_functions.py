"""Functions whose adjoints the tests list; line numbers in expected listings are those of this file."""

import math
from collections import namedtuple

import numpy as np
from numba import float64, njit
from numba.experimental import jitclass

import numbad as nd

Point = namedtuple("Point", "u w")


@njit
def settled(x, y, n):
    for i in range(n):
        if y > 1.0:
            y = y * math.exp(-x)
        x += 0.5 * y
    return x


@njit
def weighted(a, w):
    s = 0.0
    for i in range(a.shape[0]):
        s += w * a[i]
    return s


@njit
def helper(u, v):
    w = u * v
    return w + math.sin(u)


@njit
def calls(x, y):
    a = helper(x, y)
    return a * helper(a, 2.0)


@njit
def newton(e, m):
    big = m + e * math.sin(m)
    while True:
        step = (big - e * math.sin(big) - m) / (1.0 - e * math.cos(big))
        big = big - step
        if abs(step) < 1e-10:
            break
    return big


@njit
def early(x, n):
    s = x
    for i in range(n):
        s = s * x + 1.0
        if s > 100.0:
            break
        if i == 3:
            continue
        s = s - 0.5 * x
    else:
        s = s * s
    return s


@njit
def in_place(a, c):
    n = a.shape[0]
    b = np.empty(n)
    for i in range(n):
        b[i] = a[i] * c
    for i in range(1, n):
        b[i] += math.tanh(b[i - 1])
    total = 0.0
    for i in range(n):
        total += b[i] * a[i]
    return total


@njit
def tuples(t, x):
    p, q = t
    u = (p * x, q + x)
    return u[0] * u[1]


@njit
def fields(p, x):
    return p.u * x + p.w


@njit
def swapped(x, y, n):
    for _ in range(n):
        x, y = y, x * y
    return x


@njit
def nested(a):
    s = 1.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0.5 and j != 1:
                s = s * a[i, j] + j
    return s


@njit
def formulas(x, y):
    return math.sqrt(x) / math.exp(y) + x**3 - max(x, 2.0) + math.atan2(x, y) - -x * (x - (y - x))


@njit
def whole(a, f):
    b = a[1:-1].copy()
    b[::2] = a[0] * f
    b += a[2:]
    return b[0] * b[-1]


@njit
def handles(y, h, n):
    new = np.empty_like(y)
    for _ in range(n):
        for i in range(y.size):
            new[i] = y[i] + h * y[i] * y[i]
        y, new = new, y
    return y[0]


@njit
def backwards(a, n):
    s = 1.0
    for i in range(n, 0, -2):
        s = s * a[i - 1]
    return s


@njit
def over_rows(a):
    s = 0.0
    for row in a:
        for v in row:
            s += math.sqrt(v)
    return s


@njit
def listed(x):
    values = [x, x * x]
    values.append(math.sin(x))
    s = 0.0
    for v in values:
        s += v * v
    return s


@njit
def raising(x):
    if x < 0.0:
        raise ValueError("negative")
    return math.log(x)


@njit
def factorial(x, n):
    if n == 0:
        return 1.0
    return x * factorial(x, n - 1)


@njit
def step(x):
    return x - 0.1 * x * x


recomputed = nd.checkpoint(step)


@njit
def stepped(x):
    for _ in range(3):
        x = recomputed(x)
    return x


@njit
def modulus(z):
    w = z * z + np.conj(z)
    return w.real * w.imag


@njit
def refused(a):
    return np.lib.stride_tricks.as_strided(a, (1, 1), (8, 8))[0, 0]


@jitclass([("k", float64), ("v", float64[:])])
class Spring:
    def __init__(self, k, n):
        self.k = k
        self.v = np.zeros(n)

    def energy(self, x):
        return 0.5 * self.k * x * x


@njit
def stiffened(k, x):
    s = Spring(k, 3)
    s.v[1] = x * k
    s.k = s.k * 2.0 * x
    return s.energy(x) + s.v[1]


RECORD = np.dtype([("m", np.float64), ("n", np.int64), ("a long name of a field", np.float64)])


@njit
def records(r, x):
    s = 0.0
    for i in range(r.shape[0]):
        s += r[i].m * x
        r[i].m = s * r[i].m
    return s + r[0].m


@njit
def grown(x):
    values = [x]
    counts = (len(values) + 1) * x
    values.append(x * x)
    before = values[0]
    values[0] = x * values[1]
    return counts * before * values[0] + len(values)


@njit
def skipping(a, b):
    total = 0.0
    for p in range(a.shape[0]):
        s = b
        for i in range(a.shape[1]):
            for _ in range(2):
                s = s * math.sin(a[p, i]) + b
        t = 1.0
        for i in range(a.shape[1]):
            t = t * a[p, i] + s * b
            if t > 3.0:
                t = math.sqrt(t)
        if s > 0.5:
            total += s
        elif t > -1.0:
            total -= t * t
    return total * b


@njit
def strided(a, first, step):
    s = 1.0
    for i in range(first + 1, a.size, step):
        for k in range(i, 0, -step):
            s = s * a[k] + a[i]
    return s


@njit
def replaced(a, x):
    best = a[0]
    weights = np.zeros(2)
    total = 0.0
    for i in range(a.size):
        weights[0] = a[i] * x
        weights[1] = math.exp(a[i])
        if a[i] > best:
            best = a[i]
        total += weights[0] * weights[1]
    return math.log(total) * x + best


@njit
def orbit(a, h, n):
    total = 0.0
    for p in range(a.size):
        x, y = a[p], 0.0
        for _ in range(n):
            x, y = x - h * y * y, y + h * math.sin(x)
        if x > 0.0:
            total += x * y
    return math.sqrt(1.0 + total)


@njit
def running(a):
    total = 0.0
    for i in range(1, a.size):
        a[i] = a[i] * math.sin(a[i - 1])
        total += a[i]
    return total


RUN = {
    settled: (0.7, 3.0, 5),
    weighted: (np.array([1.0, 2.5, -0.5]), 2.0),
    calls: (1.2, 0.7),
    newton: (0.3, 1.0),
    early: (1.1, 9),
    in_place: (np.array([1.0, 2.0, 3.0]), 0.5),
    tuples: ((1.0, 2.0), 3.0),
    fields: (Point(1.0, 2.0), 3.0),
    swapped: (1.1, 1.2, 3),
    nested: (np.array([[0.7, 2.0, 1.5], [0.1, 0.9, 3.0]]),),
    formulas: (1.3, 0.4),
    whole: (np.arange(1.0, 8.0), 2.0),
    handles: (np.array([0.3, 0.8]), 0.1, 3),
    backwards: (np.arange(1.0, 6.0), 5),
    over_rows: (np.arange(1.0, 7.0).reshape(2, 3),),
    listed: (1.1,),
    raising: (2.0,),
    grown: (1.3,),
    skipping: (np.array([[0.5, 1.5, -0.5], [3.5, -1.0, -0.4], [4.0, 2.0, -1.2]]), 0.7),
    strided: (np.linspace(0.3, 1.4, 9), 1, 2),
    orbit: (np.array([0.7, -0.4, 1.3]), 0.3, 4),
    running: (np.array([0.7, -0.4, 1.3, 0.2]),),
    replaced: (np.array([0.5, 0.3, 0.9]), 1.4),
}
"""Functions whose listings can be run, with arguments."""
