"""Messages of refusals: they name what the source names."""

import pytest
from numba import njit

import numbad as nd
from numbad.ir.fence import readable


@njit(inline="always")
def _inlined(x, k):
    parts = {x, 2.0 * x}
    return parts.pop() * k


def test_messages_name_what_the_source_names():
    with pytest.raises(nd.UnsupportedError) as caught:
        nd.grad(njit(lambda x: _inlined(x, 1)), mode="reverse")(1.0)
    assert "_v" not in str(caught.value).partition("File")[0]
    told = "Function(<function sum at 0x7f5bd4681580>) of '_pdf_v1351730580895_z.2'"
    assert readable(told) == "sum of 'z.2'"
    assert readable("Function(<ufunc 'add'>)") == "add"
