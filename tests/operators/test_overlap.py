"""Arguments that share memory, where the function changes one of them."""

import numpy as np
import pytest

import numbad as nd

OPERATORS = {
    "grad": lambda f: nd.grad(f),
    "jvp": lambda f: lambda a, b: nd.jvp(f)((a, b), (np.ones(2), np.zeros(2)))[1],
}
every_operator = pytest.mark.parametrize("operator", OPERATORS)


def changes_first(a, b):
    a[0] = 2.0 * a[1] + b[1]
    return a[0] * b[0]


def reads(a, b):
    return (a * b).sum()


@every_operator
def test_changing_one_of_two_that_share_memory_is_an_error(operator):
    x = np.array([1.0, 3.0, 2.0])
    with pytest.raises(nd.ArgumentError, match="'a' and 'b', which share memory"):
        OPERATORS[operator](changes_first)(x[:2], x[1:])
    np.testing.assert_array_equal(x, [1.0, 3.0, 2.0])


@every_operator
def test_columns_and_rows_of_one_matrix_share_none(operator):
    m = np.array([[1.0, 4.0], [3.0, 5.0]])
    expected = {"grad": [0.0, 8.0], "jvp": 8.0}[operator]
    for a, b in ((m[:, 0], m[:, 1]), (m.T.copy()[0], m.T.copy()[1]), (m[:, 0], m[::-1, 1][::-1])):
        np.testing.assert_array_equal(OPERATORS[operator](changes_first)(a.copy(), b), expected)
        np.testing.assert_array_equal(OPERATORS[operator](changes_first)(a, b), expected)
        m = np.array([[1.0, 4.0], [3.0, 5.0]])


@every_operator
def test_reading_what_shares_memory_is_fine(operator):
    x = np.array([1.0, 3.0])
    expected = {"grad": [1.0, 3.0], "jvp": 4.0}[operator]
    np.testing.assert_array_equal(OPERATORS[operator](reads)(x, x), expected)
