"""Probes of the built-in types: numbers, text, tuples, lists, sets, dicts, None."""

from collections import namedtuple

from numba.typed import Dict, List

from .probe import Pair, Section

numbers = Section("Built-in types: int, bool, float, complex")
tuples = Section("Built-in types: tuple, named tuple")
lists = Section("Built-in types: list, `numba.typed.List`", {"List": List})
sets = Section("Built-in types: set")
dicts = Section("Built-in types: dict, `numba.typed.Dict`", {"Dict": Dict})
text = Section("Built-in types: str, bytes, None")

numbers.constant("int arithmetic", "(n * 7 - 2) // 2 % 5 + (n << 2)", names=())
numbers.constant("bool arithmetic", "(n > 2) + (True and n == 3)", names=())
numbers.call("float arithmetic", "(x * y - x) / (x + 2.0) + x**y", names=())
numbers.call("mixed int and float", "x * n + n / x", names=())
numbers.call("complex arithmetic", "mix((complex(x, y) * 2j - 1.0) / complex(y, x))", names=())
numbers.call("`.real`", "(x * x).real + complex(x, y).real", names=("Number.real",))
numbers.call("`.imag`", "complex(1.5, x * x).imag", names=("Number.imag",))
numbers.call("`.conjugate()`", "mix(complex(x, y).conjugate())", names=("Number.conjugate",))
numbers.constant(
    "`.real`, `.imag`, `.conjugate()` of ints", "n.real + n.imag + n.conjugate()", names=()
)
numbers.call("`.item()` of a float", "np.float64(x).item() * x", names=("Number.item",))
numbers.call("`.view()` of a float", "x * np.float64(x).view(np.int64)", names=("Float.view",))
numbers.constant(
    "`.view()` of an int", "np.int64(n).view(np.uint64)", names=("Integer.view",), seeded=True
)

tuples.call("construction, constant index", "(x, x * x, y)[1] * (x, y)[0]", names=())
tuples.call("variable index, homogeneous", "(x, x * x, y * x)[n - 1] * x", names=())
tuples.call("slice", "(x, x * x, y)[1:][0] * x", names=())
tuples.call("concatenation", "((x, y) + (x * x, 1.0))[2] * x", names=())
tuples.constant("comparison", "((x, y) < (y, x)) + 1", names=())
tuples.constant("`len`", "len((x, y))", names=())
tuples.constant("`.index()`", "(1, 3, 2).index(n) + 1", names=("Tuple.index",))
tuples.call("argument", "duo[0] * duo[1] * duo[1]", names=())


@tuples.feature("unpacking")
def unpacking(x, y):
    p, (q, r) = x, (y, x * x)
    return p * q * r


@tuples.feature("of arrays")
def of_arrays(a, b):
    pair = (a, b)
    return pair[0][1] * pair[1][2] * pair[0][2]


@tuples.feature("named tuple: attributes", names=("NamedTuple.*",))
def attributes(pair):
    return pair.first * pair.second * pair.second


@tuples.feature("named tuple: constructor", names=())
def constructor(x, y):
    made = Pair(first=x * x, second=y)
    return made.first * made.second


Mixed = namedtuple("Mixed", "values count name")


@tuples.feature("named tuple of an array, an int and a string")
def mixed(a, n, text):
    made = Mixed(a, n, text)
    return made.values[0] * made.values[1] * made.count


@lists.feature("literal, index")
def list_literal(x, y):
    values = [x, x * x, y]
    return values[1] * values[-1]


@lists.feature("item assignment", names=())
def list_store(x):
    values = [0.0, 0.0]
    values[1] = x * x
    return values[1] * x


@lists.feature("slice")
def list_slice(x, y):
    return [x, x * x, y][1:][0] * x


@lists.feature("iteration")
def list_iteration(x, y):
    r = 1.0
    for v in [x, x * x, y]:
        r *= v
    return r


@lists.feature("concatenation, repetition")
def list_sum(x, y):
    values = [x, y] + [x * x] * 2
    return values[3] * values[0]


@lists.feature("`in`, comparison", constant=True)
def list_contains(x, n):
    return x * ((n in [1, 2, 3]) + ([1, n] < [2, 3]))


@lists.feature("`.append()`", names=("list.append",))
def append(x, n):
    values = [x]
    for _ in range(n):
        values.append(values[-1] * x)
    return values[n]


@lists.feature("`.extend()`", names=("list.extend",))
def extend(x, y):
    values = [x]
    values.extend([y, x * x])
    return values[2] * values[1]


@lists.feature("`.insert()`", names=("list.insert",))
def insert(x, y):
    values = [x, y]
    values.insert(1, x * x)
    return values[1] * values[2]


@lists.feature("`.pop()`", names=("list.pop",))
def pop(x, y):
    values = [x, x * x, y]
    return values.pop() * values.pop()


@lists.feature("`.remove()`", names=("list.remove",))
def remove(x, y):
    values = [x, x * x, y]
    values.remove(x)
    return values[0]


@lists.feature("`.reverse()`", names=("list.reverse",))
def reverse(x, y):
    values = [x, x * x, y]
    values.reverse()
    return values[1] * values[0]


@lists.feature("`.sort()`", names=("list.sort",))
def sort(x, y):
    values = [y, x * x, x]
    values.sort()
    return values[0] * values[2]


@lists.feature("`.copy()`", names=("list.copy",))
def copy(x, y):
    values = [x, y]
    other = values.copy()
    other[0] = x * x
    return other[0] * values[0]


@lists.feature("`.clear()`", names=("list.clear",))
def clear(x):
    values = [x]
    values.clear()
    values.append(x * x)
    return values[0]


@lists.feature("`.count()`, `.index()`", names=("list.count", "list.index"), constant=True)
def count(x, n):
    return x * ([1, n, 3].count(3) + [1, n].index(n))


@lists.feature("`del` of an item")
def del_item(x, y):
    values = [x, x * x, y]
    del values[0]
    return values[0] * values[1]


@lists.feature("of arrays")
def list_of_arrays(a, b):
    values = [a, b]
    return values[0][1] * values[1][0] * values[0][2]


@lists.feature("of lists")
def list_of_lists(x, y):
    values = [[x, y], [x * x, y]]
    return values[1][0] * values[0][1]


@lists.feature("`numba.typed.List`: append, index", names=("typed.List.append",))
def typed_list(x, y):
    values = List()
    values.append(x)
    values.append(x * y)
    return values[0] * values[1]


@lists.feature(
    "`numba.typed.List`: other methods",
    names=[
        f"typed.List.{name}"
        for name in "pop extend insert remove clear reverse copy sort getitem_unchecked".split()
    ],
)
def typed_list_methods(x, y):
    values = List([x, x * y])
    values.insert(0, y)
    values.reverse()
    other = values.copy()
    other.extend(values)
    return other.pop() * values[0] * other[4]


@lists.feature(
    "`numba.typed.List` of ints", names=("typed.List.count", "typed.List.index"), constant=True
)
def typed_list_constant(x, n):
    values = List([1, n, 3])
    return x * (values.count(3) + values.index(n) + len(values))


@sets.feature(
    "of ints",
    names=[
        f"set.{name}"
        for name in (
            "add update discard pop remove clear copy difference_update intersection_update"
            " symmetric_difference_update difference intersection symmetric_difference union"
            " isdisjoint issubset issuperset"
        ).split()
    ],
    constant=True,
)
def int_set(x, n):
    values = {1, n}
    values.add(5)
    values.update({7})
    values.discard(1)
    other = values.union({n, n + 6}).intersection({n, 9})
    return x * (len(other) + values.issuperset({n}) + (5 in values))


@sets.feature("of constant floats", constant=True)
def constant_float_set(x, y):
    return x * len({y, y + 1.0, y})


@sets.feature("of differentiated floats")
def float_set(x, y):
    r = 1.0
    for v in {x, x * y}:
        r *= v
    return r


@dicts.feature("of constants", constant=True)
def constant_dict(x, n):
    table = {1: 2.0, n: 4.0}
    return x * (table[n] + len(table) + (1 in table))


@dicts.feature("of differentiated floats: literal, index")
def dict_literal(x, y):
    table = {1: x, 2: x * y}
    return table[1] * table[2]


@dicts.feature("item assignment")
def dict_store(x, n):
    table = {0: x}
    for k in range(n):
        table[k + 1] = table[k] * x
    return table[n]


_DICT_METHODS = "get pop popitem clear copy setdefault items keys values update".split()


@dicts.feature("methods", names=[f"dict.{name}" for name in _DICT_METHODS])
def dict_methods(x, y):
    table = {1: x, 2: x * y}
    r = table.get(1, 0.0) * table.setdefault(3, x)
    for k, v in table.items():
        r += k * v
    for v in table.values():
        r *= v
    return r + table.pop(2) * x


@dicts.feature("with string keys and values of several types", constant=True)
def mixed_dict(x, n):
    table = {"count": n, "name": "model"}
    return x * (table["count"] + len(table["name"]))


@dicts.feature("`numba.typed.Dict`")
def typed_dict(x, y):
    table = Dict()
    table[1] = x
    table[2] = x * y
    return table[1] * table[2]


_STR_METHODS = (
    "capitalize casefold center count endswith expandtabs find index isalnum isalpha isascii"
    " isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join"
    " ljust lower lstrip partition replace rfind rindex rjust rpartition rsplit rstrip split"
    " splitlines startswith strip swapcase title upper zfill"
).split()
_BYTES_METHODS = (
    "center endswith find isascii join ljust lstrip rfind rjust rstrip split startswith strip zfill"
)
_CHARACTER_METHODS = (
    "center endswith find isascii isupper join ljust lstrip rfind rjust rstrip split startswith"
    " strip upper zfill"
)


@text.feature("str: `len`, `+`, `*`, `in`, comparison, index, slice", constant=True)
def str_operations(x, text):
    longer = text + "b" * 2
    return x * (len(longer) + ("mba" in text) + (text[1] == "u") + (text[1:3] < "zz"))


@text.feature("str methods", names=[f"str.{name}" for name in _STR_METHODS], constant=True)
def str_methods(x, text):
    return x * (text.find("m") + text.startswith("num") + len(text.upper()) + text.count("b"))


@text.feature("`str()`, `repr()`, `int()` of a string", constant=True)
def str_of(x, n):
    return x * (len(str(n)) + len(repr(n)))


@text.feature(
    "bytes: index, iteration, `len`, methods",
    names=[f"bytes.{name}" for name in _BYTES_METHODS.split()],
    constant=True,
)
def bytes_methods(x, data):
    r = len(data) + data[1]
    for v in data:
        r += v
    return x * (r + data.startswith(b"num"))


@text.feature(
    "character sequences of NumPy",
    names=[f"charseq.{name}" for name in _CHARACTER_METHODS.split()],
    constant=True,
)
def characters(x, words):
    return x * (len(words[1]) + words[0].startswith("a"))


@text.feature("`None`: argument, result, identity")
def none_identity(x, missing):
    return x * x if missing is None else x


@text.feature("optional: a float or `None`")
def optional(x):
    found = None
    if x > 0.5:
        found = x * x
    return x if found is None else found * x


@text.feature("optional: an array or `None`")
def optional_array(a):
    found = None
    if a[0] < 100.0:
        found = a * a
    return a[1] if found is None else found[0] * found.sum() + (found + a)[2]
