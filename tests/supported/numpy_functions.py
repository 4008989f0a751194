"""Probes of NumPy's functions: creation, shape, reductions, sorting, sets, signal, polynomials."""

import numpy as np

from .probe import Section, total, total2

creation = Section("NumPy: array creation")
shape = Section("NumPy: shape and assembly of arrays")
reductions = Section("NumPy: reductions")
order = Section("NumPy: sorting, searching, sets, counting")
other = Section("NumPy: other functions")
polynomials = Section(
    "NumPy: polynomials, `stride_tricks`", {"Polynomial": np.polynomial.Polynomial}
)


def _adder(section, prefix="numpy"):
    def add(name, expression, *, constant=False, also=(), feature=None, **options):
        method = section.constant if constant else section.call
        names = tuple(f"{prefix}.{n}" for n in (name, *also))
        shown = ", ".join(f"`np{n.removeprefix('numpy')}`" for n in names)
        method(name, expression, feature=feature or shown, names=names, **options)

    return add


# -- creation --------------------------------------------------------------------------------

_add = _adder(creation)
_add("zeros", "np.zeros(3)[1] + a[1] * a[1]")
_add("ones", "np.ones(3)[1] * a[1] * a[1]")
_add("empty", "np.empty(3).size * a[1] * a[1]")
_add("full", "total(np.full(3, x * x))")
_add("zeros_like", "np.zeros_like(a)[1] + a[1] * a[1]")
_add("ones_like", "np.ones_like(a)[1] * a[1] * a[1]")
_add("empty_like", "np.empty_like(a).size * a[1] * a[1]")
_add("full_like", "total(np.full_like(a, 2.0)) * a[1] * a[1]")
_add("array", "total2(np.array([[x, y], [x * x, x * y]]))")
_add("asarray", "total(np.asarray(a)) * a[1]")
_add("asarray_chkfinite", "total(np.asarray_chkfinite(a)) * a[1]")
_add("ascontiguousarray", "total(np.ascontiguousarray(a[::2])) * a[1]")
_add("asfortranarray", "total2(np.asfortranarray(m)) * m[1, 1]")
_add("copy", "total(np.copy(a)) * a[1]")
_add("arange", "total(np.arange(x, 3.7 + x, 1.1)) * x")
_add("linspace", "total(np.linspace(x, x * y, 4)) * x")
_add("logspace", "total(np.logspace(x, x * y, 4)) * x")
_add("geomspace", "total(np.geomspace(x, x * y, 4)) * x")
_add("eye", "total2(np.eye(3)) * x * x")
_add("identity", "total2(np.identity(3)) * x * x")
_add("diag", "total2(np.diag(a)) * a[1]")
_add("diagflat", "total2(np.diagflat(a)) * a[1]")
_add("tri", "total2(np.tri(3)) * x * x")
_add("tril", "total2(np.tril(m)) * m[1, 1]")
_add("triu", "total2(np.triu(m)) * m[1, 1]")
_add("vander", "total2(np.vander(a, 3)) * a[1]")
_add("dtype", "np.zeros(1, np.dtype('float64')).size", constant=True)
for _name in ("tril_indices", "triu_indices"):
    _add(_name, f"np.{_name}(n)[1][2] + 1", constant=True)
for _name in ("tril_indices_from", "triu_indices_from"):
    _add(_name, f"np.{_name}(m)[1][2] + 1", constant=True)
_add("indices", "np.indices((n, n))[0, 2, 1]", constant=True)
for _name in ("bartlett", "blackman", "hamming", "hanning"):
    _add(_name, f"total(np.{_name}(5))", constant=True)
_add("kaiser", "total(np.kaiser(5, 2.0))", constant=True)
creation.call("kaiser-beta", "total(np.kaiser(5, x))", feature="`np.kaiser` by `beta`", names=())


@creation.feature("`np.frombuffer`", names=("numpy.frombuffer",), constant=True)
def from_buffer(x, data):
    return x * np.frombuffer(data, np.uint8)[1]


@creation.feature("`np.fill_diagonal`", names=("numpy.fill_diagonal",))
def fill_diagonal(x):
    out = np.ones((3, 3))
    np.fill_diagonal(out, x * x)
    return total2(out)


@creation.feature("`np.full_like` with a differentiated value")
def full_like(x, a):
    return total(np.full_like(a, x * x))


# -- shape -----------------------------------------------------------------------------------

_add = _adder(shape)
_add("reshape", "total2(np.reshape(a, (2, 2))) * a[1]")
_add("ravel", "total(np.ravel(m)) * m[1, 1]")
_add("transpose", "total2(np.transpose(m)) * m[0, 1]")
_add("swapaxes", "total2(np.swapaxes(m, 0, 1)) * m[0, 1]")
_add("moveaxis", "total2(np.moveaxis(m, 0, 1)) * m[0, 1]")
_add("expand_dims", "total2(np.expand_dims(a, 0)) * a[1]")
_add("atleast_1d", "total(np.atleast_1d(a)) * a[1]")
_add("atleast_2d", "total2(np.atleast_2d(a)) * a[1]")
_add("atleast_3d", "total3(np.atleast_3d(a)) * a[1]")
_add("broadcast_to", "total2(np.broadcast_to(a, (2, 4))) * a[1]")
_add("broadcast_arrays", "total(np.broadcast_arrays(a, b)[0]) * a[1]")
_add("broadcast_shapes", "np.broadcast_shapes((n, 1), (1, n))[0]", constant=True)
_add("flip", "total(np.flip(a)) * a[1]")
_add("fliplr", "total2(np.fliplr(m)) * m[1, 1]")
_add("flipud", "total2(np.flipud(m)) * m[0, 1]")
_add("rot90", "total2(np.rot90(m)) * m[0, 1]")
_add("roll", "total(np.roll(a, 1)) * a[1]")
_add("repeat", "total(np.repeat(a, 2)) * a[1]")
_add("resize", "total(np.resize(a, 6)) * a[1]")
_add("append", "total(np.append(a, b)) * a[1]")
_add("insert", "total(np.insert(a, 1, 3.0)) * a[1]")
_add("delete", "total(np.delete(a, 1)) * a[1]")
_add("concatenate", "total(np.concatenate((a, b))) * a[1]")
_add("stack", "total2(np.stack((a, b))) * a[1]")
_add("hstack", "total(np.hstack((a, b))) * a[1]")
_add("vstack", "total2(np.vstack((a, b))) * a[1]", also=("row_stack",))
_add("dstack", "total3(np.dstack((a, b))) * a[1]")
_add("column_stack", "total2(np.column_stack((a, b))) * a[1]")
_add("split", "total(np.split(a, 2)[1]) * a[1]")
_add("array_split", "total(np.array_split(a, 2)[1]) * a[1]")
_add("hsplit", "total(np.hsplit(a, 2)[1]) * a[1]")
_add("vsplit", "total2(np.vsplit(m, 3)[1]) * m[1, 1]")
_add("dsplit", "total3(np.dsplit(h, 2)[1]) * h[1, 1, 0]")
_add("take", "total(np.take(a, i)) * a[1]")
_add("take_along_axis", "total(np.take_along_axis(a, i, 0)) * a[1]")
_add("extract", "total(np.extract(c, a)) * a[2]")
_add("trim_zeros", "total(np.trim_zeros(a)) * a[1]")
_add("shape", "np.shape(m)[1]", constant=True)
_add("size", "np.size(m)", constant=True)


@shape.feature("`np.ndenumerate`", names=("numpy.ndenumerate",))
def ndenumerate(m):
    r = 0.0
    for (j, k), v in np.ndenumerate(m):
        r += (j + 2 * k + 1) * v * v
    return r


@shape.feature("`np.ndindex`, `numba.pndindex`", names=("numpy.ndindex", "numba.pndindex"))
def ndindex(m):
    r = 0.0
    for j, k in np.ndindex(m.shape):
        r += (j + 2 * k + 1) * m[j, k] * m[j, k]
    return r


@shape.feature("`np.nditer`", names=("numpy.nditer",))
def nditer(a):
    r = 0.0
    for v in np.nditer(a):
        r += v.item() * v.item()
    return r


_TRAPEZOID = "trapezoid" if hasattr(np, "trapezoid") else "trapz"  # NumPy 2 renamed it

# -- reductions ------------------------------------------------------------------------------

_add = _adder(reductions)
for _name in ("sum", "prod", "mean", "std", "var", "min", "max", "median", "ptp"):
    _add(_name, f"np.{_name}(a) * a[1]")
for _name in ("amin", "amax"):
    _add(_name, f"np.{_name}(a) * a[1]")
for _name in ("nansum", "nanprod", "nanmean", "nanstd", "nanvar", "nanmin", "nanmax", "nanmedian"):
    _add(_name, f"np.{_name}(a) * a[1]")
for _name in ("cumsum", "cumprod", "nancumsum", "nancumprod"):
    _add(_name, f"total(np.{_name}(a)) * a[1]")
for _name in ("percentile", "nanpercentile"):
    _add(_name, f"np.{_name}(a, 30.0) * a[1]")
for _name in ("quantile", "nanquantile"):
    _add(_name, f"np.{_name}(a, 0.3) * a[1]")
for _name in ("argmin", "argmax", "nanargmin", "nanargmax", "all", "any"):
    _add(_name, f"np.{_name}(a) + 1", constant=True)
_add("average", "np.average(a, None, b) * a[1]")
_add("trace", "np.trace(m) * m[0, 1]")
reductions.call(
    "trace-offset", "np.trace(m, 1) * m[0, 1]", feature="`np.trace` beside the diagonal", names=()
)
_add("diff", "total(np.diff(a)) * a[1]")
_add("ediff1d", "total(np.ediff1d(a)) * a[1]")
_add(_TRAPEZOID, f"np.{_TRAPEZOID}(a) * a[1]")
_add("cov", "total2(np.cov(m)) * m[1, 1]")
_add("corrcoef", "total2(np.corrcoef(m)) * m[1, 1]")
reductions.call(
    "sum-axis", "total(np.sum(m, 0)) * m[1, 1]", feature="`np.sum` along an axis", names=()
)
reductions.call("sum-builtin", "sum(a) * a[1]", feature="`sum` of an array", names=())

# -- order -----------------------------------------------------------------------------------

_add = _adder(order)
_add("sort", "total(np.sort(a)) * a[1]")
order.call("sort-rows", "total2(np.sort(m)) * m[1, 1]", feature="`np.sort` of rows", names=())
_add("argsort", "np.argsort(a)[0]", constant=True)
_add("partition", "np.partition(a, 2)[2] * a[1]")
_add("argpartition", "np.argpartition(a, 2)[2]", constant=True)
_add("searchsorted", "np.searchsorted(b, a[1]) + 1", constant=True)
_add("digitize", "np.digitize(a, np.array([0.5, 1.2]))[1]", constant=True)
_add("bincount", "np.bincount(i)[1]", constant=True)
order.call(
    "bincount-weights",
    "total(np.bincount(i, a)) * a[1]",
    feature="`np.bincount` of weights",
    names=(),
)
_add("histogram", "np.histogram(a, 2, (0.0, 3.0))[0][0]", constant=True)
_add("nonzero", "np.nonzero(a)[0][2]", constant=True)
_add("flatnonzero", "np.flatnonzero(a)[2]", constant=True)
_add("argwhere", "np.argwhere(a)[2, 0]", constant=True)
_add("count_nonzero", "np.count_nonzero(a)", constant=True)
_add("unique", "total(np.unique(a)) * a[1]")
_add("union1d", "total(np.union1d(a, b)) * a[1]")
_add("intersect1d", "total(np.intersect1d(a, a)) * a[1]")
_add("setdiff1d", "total(np.setdiff1d(a, b)) * a[1]")
_add("setxor1d", "total(np.setxor1d(a, b)) * a[1]")
_add("isin", "np.isin(i, np.array([1, 2]))[0] + 1", constant=True)
_add("isclose", "np.isclose(a, b)[1] + 1", constant=True)
_add("allclose", "np.allclose(a, b) + 1", constant=True)
_add("array_equal", "np.array_equal(a, b) + 1", constant=True)

# -- other -----------------------------------------------------------------------------------

_add = _adder(other)
_add("where", "total(np.where(c, a, b)) * a[1]")
_add("select", "total(np.select([a > 1.0, a > 0.5], [a, b], 0.5)) * a[1]")
_add("clip", "total(np.clip(a, 0.6, 1.5)) * a[1]")
_add("interp", "np.interp(x, np.array([0.0, 0.5, 2.0]), np.array([1.0, 3.0, 2.0])) * x")
other.call(
    "interp-fp",
    "np.interp(0.7, np.array([0.0, 0.5, 1.0, 2.0]), a) * a[1]",
    feature="`np.interp` by its values",
    names=(),
)
_add("convolve", "total(np.convolve(a, b)) * a[1]")
_add("correlate", "total(np.correlate(a, b)) * a[1]")
_add("cross", "total(np.cross(a[:3], b[:3])) * a[1]")
_add("unwrap", "total(np.unwrap(a)) * a[1]")
_add("sinc", "np.sinc(x) * x")
_add("angle", "np.angle(complex(x, 0.4)) * x")
_add("real", "np.real(complex(x, y)) * x")
_add("imag", "np.imag(complex(1.5, x)) * x")
_add("round", "np.round(x * 9.0)", constant=True, also=("around",))
_add("nan_to_num", "np.nan_to_num(x) * x")
for _name in ("isneginf", "isposinf", "isreal", "iscomplex", "isrealobj", "iscomplexobj"):
    _add(_name, f"np.{_name}(x) + 1", constant=True)
other.call("np.pi, e, inf, nan", "np.pi * x * x + np.e", names=())
other.call(
    "array expression",
    "total((a * b - 2.0) / (a + 1.0)) * a[1]",
    feature="array expression",
    names=(),
)
other.call("broadcasting", "total2(a[:, None] * b) * a[1]", names=())
other.call("ufunc of an array", "total(np.sin(a)) * a[1]", names=())
other.call("array and scalar", "total(x * b) * x", names=())
other.call("comparison of arrays", "a[1] * a[1] * (a > b)[1]", names=())


@other.feature("ufunc with an output array")
def ufunc_out(a):
    out = np.zeros(4)
    np.multiply(a, a, out)
    return total(out)


@other.feature("augmented assignment of an array")
def array_augmented(a, b):
    out = b.copy()
    out += a
    out *= a
    return total(out)


# -- polynomials -----------------------------------------------------------------------------

_add = _adder(polynomials, "numpy.polynomial.polynomial")
for _name in ("polyadd", "polysub", "polymul"):
    _add(_name, f"total(np.polynomial.polynomial.{_name}(a, b)) * a[1]")
_add("polyval", "np.polynomial.polynomial.polyval(x, np.array([1.0, 2.0, 3.0])) * x")
_add("polyint", "total(np.polynomial.polynomial.polyint(a)) * a[1]")
_add("polydiv", "total(np.polynomial.polynomial.polydiv(a, np.array([1.0, 2.0]))[0]) * a[1]")
_add("Polynomial", "total(np.polynomial.Polynomial(a).coef) * a[1]")
polynomials.call(
    "np.roots", "total(np.roots(np.array([1.0, -3.0, x]))) * x", names=("numpy.roots",)
)
polynomials.call(
    "np.polynomial.polyutils.trimseq",
    "total(np.polynomial.polyutils.trimseq(a)) * a[1]",
    names=("numpy.polynomial.polyutils.trimseq",),
)
polynomials.call(
    "np.polynomial.polyutils.as_series",
    "total(np.polynomial.polyutils.as_series(a)[0]) * a[0]",
    names=("numpy.polynomial.polyutils.as_series",),
)
polynomials.call(
    "np.lib.stride_tricks.as_strided",
    "total2(np.lib.stride_tricks.as_strided(a, (3, 2), (8, 8))) * a[1]",
    names=("numpy.lib.stride_tricks.as_strided",),
)
polynomials.call(
    "np.lib.stride_tricks.sliding_window_view",
    "total2(np.lib.stride_tricks.sliding_window_view(a, 2)) * a[1]",
    names=("numpy.lib.stride_tricks.sliding_window_view",),
)
