"""Which of Python's and NumPy's functions the elementary functions stand for."""

import math
import operator

import numpy as np

NAMES = {
    **{
        getattr(module, name): name
        for module in (math, np)
        for name in ("exp", "expm1", "log", "log1p", "sin", "cos", "tanh")
    },
    math.erf: "erf",
    **dict.fromkeys((operator.pow, math.pow, np.power), "pow"),
}
