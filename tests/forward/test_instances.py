"""Instances of the user's classes beside differentiated arguments: what methods and fields change."""

import heapq

import numpy as np
import pytest
from numba import float64, int64, njit, types
from numba.experimental import jitclass, structref

import numbad as nd
from numbad.forward.instances import Instances
from numbad.ir.untyped import untyped

MODES = ["forward", "reverse"]
N = 40  # inputs: more than one pass of forward mode takes


@jitclass([("k", float64), ("calls", int64), ("shape", float64[:])])
class Box:
    """What it has is named as what arrays, lists or dicts have."""

    def __init__(self, k):
        self.k = k
        self.calls = 0
        self.shape = np.zeros(2)

    def rate(self, x):
        return self.k * x * x

    def counted(self, x):
        self.calls += 1
        return self.k * x

    def keep(self, x):
        self.shape[0] = self.k
        return self.k * x

    def take(self, a, x):
        a[0] = self.k
        a[1] = x
        return x * self.k

    def sum(self, a):
        a[0] = self.k
        return self.k

    def update(self, a, x):
        a *= self.k
        return a[0] * x

    def __getitem__(self, i):
        self.calls += 1
        return self.k * i

    @staticmethod
    def wipe(a):
        a[1] = 0.0

    @property
    def next(self):
        self.calls += 1
        return self.k

    @property
    def stiffness(self):
        return self.k

    @stiffness.setter
    def stiffness(self, k):
        self.k = k

    @property
    def scaled(self):
        return self.shape

    @scaled.setter
    def scaled(self, a):  # an array like what the property is, as Numba has it
        a[2] = a[2] + self.k


# -- arrays that methods write to ------------------------------------------------------------


def takes(x, a, box):
    return box.take(a, x) + a[0] * x + a[1] * a[2]


def sums(x, a, box):
    return box.sum(a) * x * a[0] + a[1] * a.sum()


def updates(x, a, box):
    return box.update(a, x) + a[2] * x


def clears(x, a, box):
    box.wipe(a)
    return x * a[1] + x * a[2] * box.k


def scales(x, a, box):
    box.scaled = a[:]
    return x * a[2] * a[1]


def makes_one(x, a, box):
    return sums(x, a, Box(box.k + 1.0))


WRITING = [takes, sums, updates, clears, makes_one]
sums = njit(sums)  # `makes_one` calls it


@pytest.mark.deep(but=["*-False-reverse", "takes-True-forward"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("by_array", [False, True])
@pytest.mark.parametrize("f", WRITING)
def test_method_writes_to_an_argument(f, by_array, mode):
    f = njit(getattr(f, "py_func", f))
    box, given = Box(3.0), np.array([1.0, 2.0, 4.0])
    direction = np.array([0.5, -1.0, 2.0]) * by_array
    expected, a = given.copy(), given.copy()
    value = f(2.0, expected, box)
    if not by_array:
        got, (slope,) = nd.value_and_grad(f, (0,), mode=mode)(2.0, a, box)
    elif mode == "forward":
        got, slope = nd.jvp(f)((2.0, a, box), (1.0, direction, None))
    else:
        got, gradient = nd.value_and_grad(f, (0, 1), mode="reverse")(2.0, a, box)
        slope = gradient[0] + direction @ gradient[1]
    assert got == value
    np.testing.assert_array_equal(a, expected)
    exact = _difference(lambda t: f(2.0 + t, given + t * direction, box))
    np.testing.assert_allclose(slope, exact, rtol=1e-10)


@pytest.mark.parametrize("mode", MODES)
def test_setter_of_a_property_writes_to_what_is_assigned(mode):
    f, a = njit(scales), np.array([1.0, 2.0, 4.0])
    assert nd.value_and_grad(f, 0, mode=mode)(2.0, a, Box(3.0)) == (28.0, 14.0)
    assert a.tolist() == [1.0, 2.0, 7.0]


def _difference(f, step=1e-2):
    """The derivative at zero of a polynomial of degree four or less."""
    first, second = (f(h) - f(-h) for h in (step, 2 * step))
    return (8 * first - second) / (12 * step)


# -- several passes --------------------------------------------------------------------------


@njit
def unchanged(x, box):
    s = 0.0
    for i in range(len(x)):
        s += box.rate(x[i]) * i * box.stiffness
    return s


def test_method_that_changes_nothing_is_called_in_several_passes():
    x = np.linspace(0.5, 1.5, N)
    got = nd.grad(unchanged, mode="forward")(x, Box(3.0))
    np.testing.assert_allclose(got, 2.0 * 9.0 * x * np.arange(N), rtol=1e-14)


def assigns(x, box):
    box.k = box.k + 1.0
    return (x * box.k).sum()


def assigns_by_property(x, box):
    box.stiffness = box.stiffness + 1.0
    return (x * box.k).sum()


def counts(x, box):
    return box.counted(x[0]) + (x * box.calls).sum()


def counts_by_item(x, box):
    return box[2] * x[0] + (x * box.calls).sum()


def counts_by_property(x, box):
    return box.next * x[0] + (x * box.calls).sum()


def keeps(x, box):
    return box.keep(x[0]) + (x * box.shape[0]).sum()


CHANGING = [assigns, assigns_by_property, counts, counts_by_item, counts_by_property, keeps]


@pytest.mark.parametrize("f", CHANGING)
def test_instance_that_changes_is_refused_in_several_passes(f):
    box = Box(3.0)
    with pytest.raises(nd.UnsupportedError, match="may change its argument 'box'"):
        nd.grad(njit(f), mode="forward")(np.ones(N), box)
    assert (box.k, box.calls) == (3.0, 0)


@pytest.mark.deep(but=["assigns", "counts", "keeps"])
@pytest.mark.parametrize("f", CHANGING)
def test_instance_changes_once_in_one_pass(f):
    f = njit(f)
    x, v = np.linspace(0.5, 1.5, 4), np.array([1.0, -2.0, 0.5, 3.0])
    boxes = [Box(3.0) for _ in range(3)]
    value = f(x, boxes[0])
    forward = nd.jvp(f)((x, boxes[1]), (v, None))
    reverse = nd.value_and_grad(f, mode="reverse")(x, boxes[2])
    assert len({(box.k, box.calls, box.shape[0]) for box in boxes}) == 1
    assert forward[0] == reverse[0] == value
    exact = f(x + v, Box(3.0)) - value  # the functions are affine
    np.testing.assert_allclose([forward[1], reverse[1] @ v], exact, rtol=1e-12)


# -- records and lists -----------------------------------------------------------------------

FIELDS = np.dtype([("k", np.float64), ("n", np.int64)])


@njit
def assigns_to_a_record(x, records):
    records[0].k = records[0].k + 1.0
    one = records[1]
    one.n = one.n + 2
    return (x * records[0].k).sum() + (x * one.n).sum()


@pytest.mark.parametrize("mode", MODES)
def test_fields_of_records_are_assigned_once(mode):
    records = np.zeros(2, FIELDS)
    got = nd.grad(assigns_to_a_record, mode=mode)(np.ones(N), records)
    np.testing.assert_array_equal(got, np.full(N, 3.0))
    assert records.tolist() == [(1.0, 0), (0.0, 2)]


@njit
def takes_from_a_list(x, items):
    del items[0]
    return (x * items[0]).sum()


@njit
def takes_from_a_heap(x, items):
    return (x * heapq.heappop(items)).sum()


@pytest.mark.parametrize("f", [takes_from_a_list, takes_from_a_heap])
def test_list_that_loses_items_is_refused_in_several_passes(f):
    from numba.typed import List

    items = List([1.0, 2.0, 3.0, 4.0, 5.0])
    with pytest.raises(nd.UnsupportedError, match="may change its argument 'items'"):
        nd.grad(f, 0, mode="forward")(np.ones(N), items)
    assert len(items) == 5


@jitclass([("k", types.float64)])
class Sample:
    """Its methods have the names of methods of arrays and of generators."""

    def __init__(self, k):
        self.k = k

    def mean(self, x, weight=2.0):
        return self.k * x * weight

    def sum(self, x, y, z):
        return self.k * x + y * z

    def normal(self):
        return self.k

    def scale(self, a):
        a *= self.k
        return a.sum()

    def put(self, a, x):
        a[0] = self.k * a[1] * x

    def start(self, x, x0, method, owner):
        return self.k * x + x0 * method - owner


def methods_of_a_class(x):
    sample = Sample(3.0)
    return sample.mean(x, weight=x) * sample.sum(x, 2.0, x) + sample.mean(x) * sample.normal()


def methods_of_a_list(x):
    found = [x, 2.0 * x, 0.5 * x]
    found.sort(reverse=True)
    return found[0] * found[1] * found[2] * x


def arrays_of_a_class(x, a):
    sample, b = Sample(3.0), np.zeros(3)
    total = sample.scale(a)
    sample.put(a, x)
    sample.put(b, x)
    b[1] = x
    sample.put(b, x)
    return total * x + a[0] * b[0]


def test_methods_that_change_arrays():
    """6 * 3 x + (3 * 6 x) (3 x^2)."""
    a = np.array([1.0, 2.0, 3.0])
    value, slope = nd.value_and_grad(arrays_of_a_class, mode="forward")(0.5, a)
    assert value == 18.0 * 0.5 + 54.0 * 0.5**3
    assert slope == 18.0 + 162.0 * 0.5**2
    assert a.tolist() == [9.0, 6.0, 9.0]
    a = np.array([1.0, 2.0, 3.0])
    value, slope = nd.jvp(arrays_of_a_class, 1)((0.5, a), (np.ones(3),))
    assert slope == 9.0 * 0.5 + 27.0 * 0.5**3
    assert a.tolist() == [9.0, 6.0, 9.0]


def test_names_of_parameters_of_methods():
    def f(x):
        return Sample(3.0).start(x, x0=x * x, method=2.0, owner=x)

    assert nd.derivative(f)(0.5) == 3.0 + 4.0 * 0.5 - 1.0


@pytest.mark.dear
def test_methods_that_arrays_have_as_well():
    """Polynomials: (3 x^2) (5 x) + 18 x and x^4."""
    assert nd.derivative(methods_of_a_class)(2.0) == 45.0 * 4.0 + 18.0
    assert nd.derivative(methods_of_a_list)(2.0) == 4.0 * 8.0


def test_an_instance_made_without_its_class_may_have_any_method():
    """`structref.new` is an intrinsic, as are our own allocators, but says nothing of methods."""
    code = untyped(njit(lambda ty: structref.new(ty)))
    found = Instances(complete=True).of_code(code)
    assert found.opaque
    assert not found.complete
