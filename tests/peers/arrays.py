"""Reductions, shapes, assembly, order, samples."""

from .table import GROUPS, Group, each

GROUPS["reductions"] = Group(
    "a m s",
    each("np", "sum prod mean std var min max amin amax ptp median cumsum cumprod", "m")
    | each("np", "cov corrcoef", "m")
    | {
        "average": "np.average(a, None, a * a)",
        "trace": "np.trace(s)",
        "percentile": "np.percentile(m, 30.0)",
        "quantile": "np.quantile(m, 0.3)",
    },
)

GROUPS["along an axis"] = Group(
    "m",
    {
        "sum": "m.sum(1)",
        "mean": "m.sum(axis=0) / m.shape[0]",
        "cumsum": "np.cumsum(m, 0)",
        "cumprod": "np.cumprod(m)",
        "take_along_axis": "np.take_along_axis(m[0], np.array([1, 0, 1]), 0)",
    },
)

GROUPS["without NaN"] = Group(
    "gaps",
    each("np", "nansum nanprod nanmean nanstd nanvar nanmin nanmax nanmedian", "gaps")
    | each("np", "nancumsum nancumprod", "gaps")
    | {
        "nanpercentile": "np.nanpercentile(gaps, 30.0)",
        "nanquantile": "np.nanquantile(gaps, 0.3)",
    },
)

GROUPS["order and samples"] = Group(
    "a b v x",
    each("np", "diff ediff1d sort", "v")
    | {
        "partition": "np.partition(v, 1)[1]",
        "take": "np.take(v, np.array([2, 0, 1, 2]))",
        "extract": "np.extract(v > 0.0, v)",
        "unique": "np.unique(v)",
        "union1d": "np.union1d(a, v)",
        "intersect1d": "np.intersect1d(v, v[1:])",
        "setdiff1d": "np.setdiff1d(v, v[1:])",
        "setxor1d": "np.setxor1d(a, v)",
        "select": "np.select([v > 0.5, v > 0.0], [a, b * v], 0.0)",
        "trapezoid": "np.trapezoid(v, np.cumsum(a))",
        "interp": "np.interp(b * 2.0, np.cumsum(a), v)",
        "unwrap": "np.unwrap(4.0 * v)",
        "convolve": "np.convolve(a, v[:2])",
        "correlate": "np.correlate(a, v[:2])",
    },
    {
        "extract": "np.extract(v > 0.0, v, size=int((known['v'] > 0.0).sum()))",
        "unique": "np.unique(v, size=v.size)",
        "union1d": "np.union1d(a, v, size=a.size + v.size)",
        "intersect1d": "np.intersect1d(v, v[1:], size=v.size - 1)",
        "setdiff1d": "np.setdiff1d(v, v[1:], size=1)",
        "setxor1d": "np.setxor1d(a, v, size=a.size + v.size)",
    },
)

GROUPS["shapes"] = Group(
    "a m",
    each("np", "ravel transpose flip fliplr flipud rot90 tril triu atleast_1d atleast_2d", "m")
    | each("np", "diag diagflat asarray atleast_3d", "a")
    | {
        "reshape": "np.reshape(m, (m.shape[1], m.shape[0]))",
        "swapaxes": "np.swapaxes(m, 0, 1)",
        "moveaxis": "np.moveaxis(m, 0, 1)",
        "expand_dims": "np.expand_dims(m, 1)",
        "broadcast_to": "np.broadcast_to(a, (2, a.size))",
        "broadcast_arrays": "np.broadcast_arrays(a, m)[0]",
        "roll": "np.roll(m, 2)",
        "repeat": "np.repeat(m, 2)",
        "resize": "np.resize(a, (2, 4))",
        "vander": "np.vander(a, 3)",
    },
)

GROUPS["assembly"] = Group(
    "a b m x y",
    each("np", "concatenate vstack hstack dstack stack column_stack", "(a, b)")
    | {
        "append": "np.append(a, m)",
        "delete": "np.delete(a, 1)",
        "insert": "np.insert(a, 1, x * y)",
        "split": "np.split(m, m.shape[0])[1]",
        "array_split": "np.array_split(a, 2)[1]",
        "hsplit": "np.hsplit(m, m.shape[1])[1]",
        "vsplit": "np.vsplit(m, m.shape[0])[1]",
        "dsplit": "np.dsplit(np.dstack((m, m * m)), 2)[1]",
        "array": "np.array([[x, y], [x * y, 2.0]])",
        "full": "np.full((2, 3), x)",
        "full_like": "np.full_like(a, y)",
        "linspace": "np.linspace(x, y, 4)",
        "geomspace": "np.geomspace(1.0 + x * x, 2.0 + y * y, 4)",
        "nan_to_num": "np.nan_to_num(a * x)",
        "divmod": "np.divmod(a, 0.7 + y * y)[1]",
        "logspace": "np.logspace(x, y, 4)",
    },
)
