"""Normal numbers in float32, from the blocks of the generator that those in float64 are made of.

Their uniform numbers have 32 bits in place of 52, so that a number differs from its counterpart in float64 by
some 1e-7, by up to 3e-4 where both are next to zero. Written in float64, which `narrowing` makes float32.
"""

import math

import numpy as np

from numbad.random.box_muller import sine_cosine
from numbad.random.generator_compiling import inlined
from numbad.random.philox import block

_CHANNEL = np.uint32(8)


@inlined
def two_cells_single(key, path, channel, pair, domain):
    """As `two_cells` of `numbad.sde.brownian`."""
    a, _, c, _ = block(
        key, np.uint64(pair), np.uint32(path), (np.uint32(channel) << _CHANNEL) | domain
    )
    radius = math.sqrt(-2.0 * math.log(_unit(a)))
    sine, cosine = sine_cosine(_unit(c))
    return radius * cosine, radius * sine


@inlined
def _unit(word):
    """A number within (0, 1], of a word."""
    return (np.float64(word) + 0.5) * 2.0**-32
