"""Draws whose parameters are differentiated: by the draw of the standard distribution."""

import math
import random

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


@njit
def gauss(mu, sigma):
    return mu + sigma * random.gauss(0.0, 1.0)


@njit
def normalvariate(mu, sigma):
    return mu + sigma * random.normalvariate(0.0, 1.0)


@njit
def lognormvariate(mu, sigma):
    return math.exp(mu + sigma * random.normalvariate(0.0, 1.0))


@njit
def python_uniform(low, high):
    return low + (high - low) * random.random()
