"""Code in LLVM instructions that is not followed."""

import pytest

import numbad as nd
from tests.ir.test_extension_types import P, Q
from tests.operators.extension_types import (
    ratio_by_hand,
)


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
