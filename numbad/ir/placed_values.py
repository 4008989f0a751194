"""The values of a dictionary in a list, beside a dictionary of their places; what is done with a dictionary.

A key that is deleted leaves its value in the list, at a place that nothing leads to.
"""

from functools import cache
from typing import Any, NamedTuple

from numba import njit
from numba.core import types
from numba.typed import Dict, List


class PlacedValues(NamedTuple):
    """A table: a dictionary key -> place, and a list of values by place."""

    places: Any
    values: Any


@cache
def maker(key, value):
    """A nopython function of no arguments that makes an empty table."""

    @njit
    def made():
        return PlacedValues(Dict.empty(key, types.intp), List.empty_list(value))

    return made


@njit
def item_of_dictionary(table, key):
    return table.values[table.places[key]]


@njit
def store_in_dictionary(table, key, value):
    if key in table.places:
        table.values[table.places[key]] = value
    else:
        table.places[key] = len(table.values)
        table.values.append(value)


@njit
def store_pairs_in_dictionary(table, pairs):
    for key, value in pairs:
        store_in_dictionary(table, key, value)


@njit
def delete_of_dictionary(table, key):
    del table.places[key]


@njit
def get_of_dictionary(table, key, default):
    if key in table.places:
        return table.values[table.places[key]]
    return default


@njit
def get_or_none_of_dictionary(table, key):
    if key in table.places:
        return table.values[table.places[key]]
    return None


@njit
def setdefault_of_dictionary(table, key, default):
    if key not in table.places:
        store_in_dictionary(table, key, default)
    return table.values[table.places[key]]


@njit
def pop_of_dictionary(table, key):
    value = table.values[table.places[key]]
    del table.places[key]
    return value


@njit
def pop_or_default_of_dictionary(table, key, default):
    if key in table.places:
        return pop_of_dictionary(table, key)
    return default


@njit
def popitem_of_dictionary(table):
    key, place = table.places.popitem()
    return key, table.values[place]


@njit
def clear_dictionary(table):
    table.places.clear()
    table.values.clear()


@njit
def update_dictionary(table, other):
    for key, place in other.places.items():
        store_in_dictionary(table, key, other.values[place])


@njit
def copy_of_dictionary(table):
    return PlacedValues(table.places.copy(), table.values.copy())


@njit
def keys_of_dictionary(table):
    return list(table.places)


@njit
def values_of_dictionary(table):
    return [table.values[place] for place in table.places.values()]


@njit
def items_of_dictionary(table):
    return [(key, table.values[place]) for key, place in table.places.items()]


METHODS = {
    ("get", 1): get_or_none_of_dictionary,
    ("get", 2): get_of_dictionary,
    ("setdefault", 2): setdefault_of_dictionary,
    ("pop", 1): pop_of_dictionary,
    ("pop", 2): pop_or_default_of_dictionary,
    ("popitem", 0): popitem_of_dictionary,
    ("clear", 0): clear_dictionary,
    ("update", 1): update_dictionary,
    ("copy", 0): copy_of_dictionary,
    ("keys", 0): keys_of_dictionary,
    ("values", 0): values_of_dictionary,
    ("items", 0): items_of_dictionary,
    ("__setitem__", 2): store_in_dictionary,
}
"""(name, number of arguments) -> what stands for the method."""
