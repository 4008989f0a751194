"""Draws whose parameters are differentiated: by the draw of the standard distribution."""

import math

import numpy as np
from numba import njit


@njit
def normal(loc, scale=1.0):
    return loc + scale * np.random.normal()


@njit
def uniform(low, high=1.0):
    return low + (high - low) * np.random.random()


@njit
def exponential(scale):
    return scale * np.random.exponential()


@njit
def lognormal(mean, sigma=1.0):
    return math.exp(mean + sigma * np.random.normal())
