"""Dual numbers in sets and in `hash`: they count by their values."""

import numbad as nd


def test_dual_numbers_are_hashed_by_their_values():
    """Of equal elements a set keeps the first one; sets of constants are asked for the value."""

    def product(x, y):
        r = 1.0
        for v in {x, x * y, x + 0.0}:
            r *= v
        return r

    def told(x):
        return x * x if hash(x) == hash(2.0) and x in {2.0, 3.0} else 0.0

    assert nd.grad(product, argnums=(0, 1), mode="forward")(2.0, 3.0) == (12.0, 4.0)
    assert nd.grad(told, mode="forward")(2.0) == 4.0
