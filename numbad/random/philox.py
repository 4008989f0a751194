"""Philox4x32-10: four 32-bit words that are a function of a 128-bit counter and a 64-bit key.

J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3",
SC '11, doi:10.1145/2063384.2063405. Known answers of its authors' library Random123 are in the tests.
"""

import numpy as np

from numbad.random.generator_compiling import inlined

_MULTIPLY_0, _MULTIPLY_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL_0, _WEYL_1 = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)  # golden ratio, sqrt(3) - 1
_LOW, _WORD = np.uint64(0xFFFFFFFF), np.uint64(32)


@inlined
def philox(c0, c1, c2, c3, k0, k1):
    """The block of a counter (c0, c1, c2, c3) and a key (k0, k1), all uint32."""
    for _ in range(10):
        first, second = _MULTIPLY_0 * np.uint64(c0), _MULTIPLY_1 * np.uint64(c2)
        c0, c1, c2, c3 = (
            np.uint32(np.uint32(second >> _WORD) ^ c1 ^ k0),
            np.uint32(second & _LOW),
            np.uint32(np.uint32(first >> _WORD) ^ c3 ^ k1),
            np.uint32(first & _LOW),
        )
        k0, k1 = np.uint32(k0 + _WEYL_0), np.uint32(k1 + _WEYL_1)
    return c0, c1, c2, c3


@inlined
def block(key, number, middle, domain):
    """The block of a 64-bit key at a 64-bit number; `middle` and `domain` (uint32) keep uses apart."""
    return philox(
        np.uint32(number & _LOW),
        np.uint32(number >> _WORD),
        middle,
        domain,
        np.uint32(key & _LOW),
        np.uint32(key >> _WORD),
    )
