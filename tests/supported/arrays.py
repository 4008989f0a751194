"""Probes of NumPy: scalar types, array types, access, attributes and methods of arrays."""

import numpy as np

from .probe import POINT, Section, mix, total, total2

scalar_types = Section("NumPy: scalar types")
access = Section("NumPy: array access")
structured = Section("NumPy: records and structured arrays", {"POINT": POINT})
attributes = Section("NumPy: attributes of arrays")
methods = Section("NumPy: methods of arrays")

# -- scalar types ----------------------------------------------------------------------------

for _name in ("float64", "float32"):
    _rtol = 1e-3 if _name == "float32" else 1e-7
    scalar_types.call(f"np.{_name}", f"np.{_name}(x) * x", names=(f"numpy.{_name}",), rtol=_rtol)
for _name in ("complex128", "complex64"):
    _rtol = 1e-3 if _name == "complex64" else 1e-7
    _call = f"mix(np.{_name}(x * x))"
    scalar_types.call(f"np.{_name}", _call, names=(f"numpy.{_name}",), rtol=_rtol)
for _name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split():
    scalar_types.constant(f"np.{_name}", f"np.{_name}(x * 9.0)", names=(f"numpy.{_name}",))
scalar_types.constant("np.bool_", "np.bool_(x) + 1", names=("numpy.bool",))
scalar_types.constant(
    "np.finfo",
    "np.finfo(np.float64).max * 1e-300",
    names=("numpy.finfo",),
)
scalar_types.constant("np.iinfo", "np.iinfo(np.int32).max", names=("numpy.iinfo",))
scalar_types.constant("np.isscalar", "np.isscalar(x) + 1", names=("numpy.isscalar",))


@scalar_types.feature("datetime64, timedelta64", names=("numpy.isnat",), constant=True)
def dates(x, day, start):
    return x * ((day > start) + 1)


# -- access ----------------------------------------------------------------------------------

access.call("integer index", "a[1] * a[n] * a[0]", names=())
access.call("negative index", "a[-1] * a[-2] * a[1]", names=())
access.call("tuple index", "m[1, 2] * m[0, -1]", names=())
access.call("row of a matrix", "m[1][2] * m[-1][0]", names=())
access.call("slice", "total(a[1:3]) * a[1]", names=())
access.call("slice with a step", "total(a[::-2]) * a[1]", names=())
access.call("column", "total(m[:, 1]) * m[1, 1]", names=())
access.call("`...`", "total(m[..., 1]) * m[1, 1]", names=())
access.call("`None`, `np.newaxis`", "total2(a[:, None]) * a[1]", names=())
access.call("integer array", "total(a[i]) * a[1]", names=())
access.call("boolean array", "total(a[c]) * a[2]", names=())
access.call("integer array and slice", "total2(m[np.array([2, 0]), 1:]) * m[1, 1]", names=())
access.call("argument of layout F", "total2(np.asfortranarray(m)) * m[0, 1]", names=())


@access.feature("iteration")
def iteration(m):
    r = 0.0
    for row in m:
        for v in row:
            r += v * v
    return r


@access.feature("item assignment")
def store(x):
    out = np.zeros(3)
    out[1] = x * x
    out[-1] = x
    return out[1] * out[2]


@access.feature("augmented item assignment")
def store_augmented(x):
    out = np.ones(3)
    out[1] += x
    out[1] *= x
    return out[1] * out[1]


@access.feature("slice assignment, fill")
def store_slice(a, x):
    out = np.zeros(6)
    out[1:5] = a
    out[:2] = x
    out[4:] = out[2]
    return total(out) * out[1]


@access.feature("assignment by an integer array")
def store_fancy(a, i):
    out = np.zeros(4)
    out[i] = a
    return total(out) * a[1]


@access.feature("assignment by a boolean array")
def store_mask(a, c):
    out = np.ones(4)
    out[c] = a[1]
    return total(out) * a[1]


@access.feature("store into an argument")
def store_argument(a):
    a[0] = a[1] * a[2]
    return a[0] * a[1]


@access.feature("store through a view")
def store_view(a):
    out = np.zeros((2, 2))
    out.reshape(4)[1] = a[0] * a[0]
    out.T[1, 1] = a[1]
    return total2(out)


@access.feature("handles swapped in a loop")
def swapped(x, n):
    old, new = np.array([x, 1.0]), np.zeros(2)
    for _ in range(n):
        new[0] = old[0] * old[1]
        new[1] = old[0] + x
        old, new = new, old
    return total(old)


@access.feature("array of ints", constant=True)
def int_array(x, i):
    return x * (i[0] + i[-1] + len(i))


@access.feature("array of complex numbers")
def complex_array(x):
    out = np.zeros(2, np.complex128)
    out[1] = complex(x, x * x)
    return mix(out[1] * out[1])


@access.feature("array of float32", rtol=1e-3)
def single_array(f):
    return f[0] * f[1] * f[1]


# -- records ---------------------------------------------------------------------------------


@structured.feature("record as a constant argument: attribute", names=())
def record_constant(x, point):
    return x * x * point.v


@structured.feature("record as a constant argument: string index")
def record_index(x, point):
    return x * x * point["u"]


@structured.feature("structured array as a constant argument")
def records_constant(x, points):
    return x * x * points[1].v * points[0]["k"]


@structured.feature("field of a constant structured array")
def field_constant(x, points):
    return x * x * points["v"][1]


@structured.feature("differentiated by a structured array")
def records_differentiated(points):
    return points[0].u * points[1].v


@structured.feature("differentiated float stored into a record")
def record_store(x):
    made = np.zeros(1, POINT)
    made[0]["u"] = x * x
    return made[0]["u"] * x


@structured.feature("differentiated float stored into a record argument")
def record_store_given(x, point, points):
    point.u, points[1]["v"] = x * x, point.v * x
    return point.u * points["v"][1]


@structured.feature("attribute set on a record argument")
def record_set(x, point):
    point.u = 3.0
    return x * x * point.u


# -- attributes ------------------------------------------------------------------------------

attributes.call("`.T`", "total2(m.T) * m[0, 1]", names=("Array.T",))
attributes.call("`.flat`: index", "m.flat[5] * m.flat[1]", names=("Array.flat",))
attributes.call("`.real`", "total(a.real) * a[1]", names=("Array.real",))
attributes.constant("`.imag` of floats", "a.imag[1] + 1.0", names=("Array.imag",))
for _name, _rest in {
    "size": "",
    "ndim": "",
    "itemsize": "",
    "nbytes": "",
    "shape": "[0]",
    "strides": "[0]",
}.items():
    attributes.constant(f"`.{_name}`", f"m.{_name}{_rest}", names=(f"Array.{_name}",))
attributes.constant(
    "`.flags`",
    "m.flags.c_contiguous + m.flags.contiguous",
    names=("Array.flags", "ArrayFlags.*", "Array.*contiguous", "Array.readonly"),
)
attributes.call("`.dtype`", "np.zeros(2, a.dtype)[0] + a[1] * a[1]", names=("Array.dtype",))
attributes.constant(
    "`.ctypes` of a constant array",
    "i.ctypes.data * 0 + 1",
    names=("Array.ctypes", "ArrayCTypes.*"),
)
attributes.constant("`.ctypes` of a differentiated array", "a.ctypes.data * 0 + 1", names=())
attributes.constant("`.dtype`: comparison", "(a.dtype == i.dtype) + (a.dtype == b.dtype)", names=())


@attributes.feature("`.flat`: iteration")
def flat_iteration(m):
    r = 1.0
    for v in m.flat:
        r = r * 0.3 + v * v
    return r


@attributes.feature("`.real`, `.imag` of complex arrays")
def complex_parts(x):
    out = np.zeros(2, np.complex128)
    out[1] = complex(x, x * x)
    return out.real[1] * out.imag[1]


# -- methods ---------------------------------------------------------------------------------


def _method(name, expression, constant=False, **options):
    add = methods.constant if constant else methods.call
    add(name, expression, feature=f"`.{name}()`", names=(f"Array.{name}",), **options)


for _name in ("sum", "prod", "mean", "std", "var", "min", "max"):
    _method(_name, f"a.{_name}() * a[1]")
for _name in ("all", "any", "argmin", "argmax"):
    _method(_name, f"a.{_name}() + 1", constant=True)
for _name in ("cumsum", "cumprod", "conj", "conjugate", "copy", "flatten", "ravel"):
    _method(_name, f"total(a.{_name}()) * a[1]")
_method("allclose", "a.allclose(b, 1e-5, 1e-8, False) + 1", constant=True, seeded=True)
_method("argsort", "a.argsort()[0]", constant=True)
_method("nonzero", "a.nonzero()[0][2]", constant=True)
_method("astype", "total(a.astype(np.float32)) * a[1]", rtol=1e-3)
_method("clip", "total(a.clip(0.6, 1.5)) * a[1]")
_method("dot", "a.dot(b) * a[1]")
_method("item", "a[1:2].item() * a[1]")
_method("repeat", "total(a.repeat(2)) * a[1]")
_method("reshape", "total2(a.reshape(2, 2)) * a[1]")
_method("take", "total(a.take(i)) * a[1]")
_method("transpose", "total2(m.transpose()) * m[0, 1]")
_method("view", "a[0] * a.view(np.int64)[1]")
methods.call(
    "view-complex",
    "a[0] * a.view(np.complex128)[1].imag",
    feature="`.view(np.complex128)`, `.view(np.float64)`",
    names=(),
)
_method("tobytes", "i.tobytes()[8] + 1", constant=True)
methods.constant(
    "tobytes-float", "a.tobytes()[7]", feature="`.tobytes()` of a differentiated array", names=()
)
methods.call("sum-axis", "total(m.sum(0)) * m[1, 1]", feature="`.sum(axis)`", names=())
methods.call(
    "sum-keyword", "total(m.sum(axis=1)) * m[1, 1]", feature="`.sum()` with a keyword", names=()
)
methods.call("copy-2", "total2(m.copy()) * m[0, 1]", feature="`.copy()` of a matrix", names=())


@methods.feature("`.sort()`", names=("Array.sort",))
def sort_method(a):
    a.sort()
    return total(a) * a[1]


@methods.feature("`.fill()`", names=("Array.fill",))
def fill_method(x):
    out = np.zeros(3)
    out.fill(x * x)
    return total(out)
