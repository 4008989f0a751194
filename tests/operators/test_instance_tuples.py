"""Instances in fields and tuples."""

import pytest
from numba import njit

import numbad as nd
from tests.operators.test_by_instance import MODES, Mount, parts, spring


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", MODES)
def test_instances_in_fields_and_tuples(mode):
    @njit
    def f(pair):
        mount, c = pair
        mount.spring.k *= c
        return mount.spring.energy(1.5) * mount.tip[1] + mount.tip[0] ** 2

    pair = Mount(spring(), (3.0, 7.0)), 4.0
    by_mount, by_c = nd.grad(f, mode=mode)(pair)
    assert pair[0].spring.k == 8.0
    assert isinstance(by_mount, Mount)
    assert parts(by_mount.spring) == [7 * 2.0, 7 * -8.0, 0, 7 * 4.5, 7 * 1.5]
    assert (by_mount.tip, by_c) == ((6.0, 8.5), 7.0)
