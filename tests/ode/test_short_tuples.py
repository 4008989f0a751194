"""Members of short tuples, by a number known as the code runs."""

from numba import njit

from numbad.ode.short_tuples import item, replaced


def test_members():
    @njit
    def both(members, i, value):
        return item(members, i), replaced(members, i, value)

    members = (1.0, 2.0, 3.0)
    for i in range(3):
        expected = (*members[:i], 7.0, *members[i + 1 :])
        assert both(members, i, 7.0) == (members[i], expected)
