"""Items of tuples that the code itself has put together."""

from numba import njit, types

from numbad.ir.function import is_expr
from numbad.ir.tuple_items import take_items
from numbad.reverse.parallel import body


def test_items_stand_for_what_fetches_them():
    def f(x, y):
        pair = (x * y, x)
        a, b = pair
        return a + b * pair[0]

    fn = body(njit(f), (types.float64, types.float64))
    take_items(fn)
    kinds = [getattr(s.value, "op", None) for _, s in fn.statements() if hasattr(s, "value")]
    assert not {"build_tuple", "exhaust_iter", "static_getitem"} & set(kinds)
    (returned,) = [s for _, s in fn.statements() if is_expr(getattr(s, "value", None), "cast")]
    assert fn.definition(returned.value.value).fn.__name__ == "add"
