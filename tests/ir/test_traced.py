"""Code in LLVM instructions: what becomes of a namedtuple in a struct, and what is not followed."""

import numpy as np
import pytest

import numbad as nd
from tests.ir.test_extension_types import P, Q
from tests.operators.extension_types import Cartesian, Point, Polar, ratio_by_hand


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_member_stays_the_namedtuple_that_was_put_there(mode):
    def radii(x, y):
        point = Point(Cartesian(x, y))
        return point.radius * point.coordinates.x + Point(Polar(y, x)).radius

    found = nd.grad(radii, argnums=(0, 1), mode=mode)(3.0, 4.0)
    np.testing.assert_allclose(found, (5 + 3 * 3 / 5, 3 * 4 / 5 + 1), rtol=1e-12)


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_instructions_that_are_not_followed_are_refused(mode):
    def by_hand(p, q):
        return ratio_by_hand(p, q).w

    with pytest.raises(nd.UnsupportedError) as refused:
        nd.grad(by_hand, mode=mode)(P, Q)
    assert "ratio_by_hand" in str(refused.value)
    assert "LLVM instructions" in str(refused.value)
    assert "@overload" in str(refused.value)
    assert "defect" not in str(refused.value)
