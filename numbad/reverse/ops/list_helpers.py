"""Changes of lists written out as loops: jitted helpers whose code the adjoint enters."""

import operator

from numba import njit
from numba.cpython.listobj import arg_sort_backwards, arg_sort_forwards
from numba.typed import List


@njit
def extended(items, others):
    for k in range(len(others)):
        items.append(others[k])


@njit
def extended_in_place(items, others):
    for k in range(len(others)):
        items.append(others[k])
    return items


@njit
def joined(first, second):
    items = []
    for k in range(len(first)):
        items.append(first[k])
    for k in range(len(second)):
        items.append(second[k])
    return items


@njit
def repeated(members, times):
    items = []
    for _ in range(times):
        for k in range(len(members)):
            items.append(members[k])
    return items


@njit
def repeated_in_place(items, times):
    n = len(items)
    if times <= 0:
        items.clear()
    for _ in range(times - 1):
        for k in range(n):
            items.append(items[k])
    return items


@njit
def listed(values):
    items = []
    for value in values:
        items.append(value)
    return items


@njit
def listed_typed(values):
    items = List()
    for value in values:
        items.append(value)
    return items


@njit
def copied(members):
    items = []
    for k in range(len(members)):
        items.append(members[k])
    return items


@njit
def copied_typed(members):
    items = List()
    for k in range(len(members)):
        items.append(members[k])
    return items


@njit
def sliced(members, where):
    items = []
    for k in range(*where.indices(len(members))):
        items.append(members[k])
    return items


@njit
def sliced_typed(members, where):
    items = List()
    for k in range(*where.indices(len(members))):
        items.append(members[k])
    return items


@njit
def deleted(items, where):
    start, stop, _ = where.indices(len(items))
    for _ in range(stop - start):
        items.pop(start)


@njit
def removed(items, value):
    for k in range(len(items)):
        if items[k] == value:
            items.pop(k)
            return
    raise ValueError("list.remove(x): x not in list")


# -- sorting: the order is found on its own, then the members are moved -----------------------


@njit
def order_of(keys):
    """The numbers of the members in ascending order."""
    return arg_sort_forwards(keys)


@njit
def order_backwards(keys):
    """The numbers of the members in descending order."""
    return arg_sort_backwards(keys)


@njit
def rearranged(items, order):
    old = []
    for k in range(len(items)):
        old.append(items[k])
    for k in range(len(order)):
        items[k] = old[order[k]]


@njit
def sort(items):
    rearranged(items, order_of(items))


@njit
def sort_either_way(items, backwards):
    rearranged(items, order_backwards(items) if backwards else order_of(items))


@njit
def keys_of(items, key):
    keys = []
    for k in range(len(items)):
        keys.append(key(items[k]))
    return keys


@njit
def sort_by(items, key):
    rearranged(items, order_of(keys_of(items, key)))


@njit
def sort_by_either_way(items, key, backwards):
    keys = keys_of(items, key)
    rearranged(items, order_backwards(keys) if backwards else order_of(keys))


SORTS = {
    (False, False): sort,
    (False, True): sort_either_way,
    (True, False): sort_by,
    (True, True): sort_by_either_way,
}
"""By whether a key is given, and whether `reverse` is."""

FINDS_ORDER = {order_of, order_backwards}
"""Functions whose result is no float, though floats go in; their code is not entered."""


OPERATIONS = {
    ("binop", operator.add): joined,
    ("binop", operator.mul): repeated,
    ("inplace_binop", operator.add): extended_in_place,
    ("inplace_binop", operator.mul): repeated_in_place,
}
