"""Philox: known answers."""

import numpy as np
import pytest

from numbad.random.philox import philox

_ONES = 0xFFFFFFFF
# Random123's kat_vectors for philox4x32-10: counter, key, block.
_KNOWN = (
    ((0,) * 4, (0,) * 2, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((_ONES,) * 4, (_ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
)


@pytest.mark.parametrize(("counter", "key", "expected"), _KNOWN)
def test_philox_gives_the_known_answers(counter, key, expected):
    assert tuple(map(int, philox(*map(np.uint32, counter + key)))) == expected
