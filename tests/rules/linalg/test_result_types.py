"""The types of results that are known without compiling are those that Numba infers itself."""

import numpy as np
import pytest
from numba import njit, types

from numbad.rules.linalg import result_types
from numbad.source import define

DTYPES = types.float32, types.float64, types.complex64, types.complex128
LAYOUTS = ("C", False), ("F", True), ("A", False)


def _inferred(function, argtypes):
    names = "ab"[: len(argtypes)]
    source = f"def call({', '.join(names)}):\n    return function({', '.join(names)})\n"
    call = njit(define(source, {"function": function}))
    call.compile(argtypes)
    return call.overloads[argtypes].signature.return_type


@pytest.mark.dear
@pytest.mark.deep(but=["solve-float64", "cholesky-float32", "eigh-complex64", "svd-float64"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("function", [*result_types._OF_ONE, *result_types._OF_TWO])
def test_types(function, dtype):
    k = DTYPES.index(dtype)
    layout, readonly = LAYOUTS[k % 3]
    matrix = types.Array(dtype, 2, layout, readonly=readonly)
    right = [()]
    if function in result_types._OF_TWO:
        right = [(types.Array(dtype, 1, "C"),), (types.Array(dtype, 2, "CF"[k % 2]),)]
    for more in right:
        argtypes = (matrix, *more)
        known = result_types.result_type(function, argtypes, ())
        assert known == _inferred(function, argtypes)


def test_what_is_not_known():
    matrix, vector = types.Array(types.float64, 2, "C"), types.Array(types.float64, 1, "C")
    other = types.Array(types.float32, 1, "C")
    known = result_types.result_type
    assert known(np.linalg.inv, (vector,), ()) is None
    assert known(np.linalg.solve, (matrix, other), ()) is None
    assert known(np.linalg.solve, (matrix,), ()) is None
    assert known(np.linalg.svd, (matrix, types.boolean), ()) is None
    assert known(np.linalg.svd, (matrix,), (("full_matrices", types.boolean),)) is None
    assert known(np.sum, (matrix,), ()) is None
