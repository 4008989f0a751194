"""A result for the eye: the table of estimates, and the picture of data, fit and band."""

import math
from pathlib import Path

import numpy as np

from numbad.errors import DataError, ModelError

DATA, FIT = "#1b1b1b", "#1f6fb2"


def table(result):
    """Return the estimates with standard errors and 95 % intervals, as plain text."""
    control, scale = result.problem.control, "log" if result.problem.unknowns.log else "linear"
    verdict = "converged" if result.success else "NOT CONVERGED"
    loss = "" if control.loss == "linear" else f", {control.loss} loss"
    lines = [
        f"{verdict}: {len(result.names)} unknowns, {result.problem.count} observations, "
        f"{scale} scale{loss}",
        "",
        *_columns(result),
        "",
        f"residual standard deviation {result.residual_std:#.5g} on {result.degrees} degrees of "
        f"freedom, cost {result.cost:#.6g}, {result.nfev} evaluations",
        result.message,
    ]
    return "\n".join(lines)


def minimum_table(result):
    """Return the estimates and the value of a minimum, as plain text."""
    verdict = "converged" if result.success else "NOT CONVERGED"
    width = max(map(len, result.names))
    rows = [f"{name:<{width}}  {value:#.6g}" for name, value in result.params.items()]
    ended = f"value {result.cost:#.8g}, {result.nfev} evaluations"
    return "\n".join(
        [f"{verdict}: {len(result.names)} unknowns", "", *rows, "", ended, result.message]
    )


def _columns(result):
    rows = [("", "estimate", "std. error", "95 % interval")]
    for name, (low, high) in result.interval().items():
        estimate, error = f"{result.params[name]:#.5g}", f"{result.stderr[name]:#.3g}"
        rows.append((name, estimate, error, f"{low:#.5g} to {high:#.5g}"))
    widths = [max(len(row[j]) for row in rows) for j in range(4)]
    for name, estimate, error, interval in rows:
        line = f"{name:<{widths[0]}}  {estimate:>{widths[1]}}  {error:>{widths[2]}}  {interval}"
        yield line.rstrip()


def draw(result, path, title, xlabel, ylabel):
    """Write the picture; arguments as in `FitResult.plot`."""
    if not hasattr(result.problem, "curve"):
        raise ModelError("this result has no model in time to plot: it is not from fit_ode")
    from matplotlib.figure import Figure

    components = _panels(result.problem)
    across = 1 if len(components) <= 4 else math.ceil(math.sqrt(len(components) / 2))
    down = math.ceil(len(components) / across)
    figure = Figure(figsize=(7.2 * min(across, 3) ** 0.5, 0.8 + 2.3 * down), layout="constrained")
    axes = figure.subplots(down, across, sharex=True, squeeze=False)
    t = _grid(result.problem)
    states, (low, high) = result.predict(t), result.band(t)
    for axis, component in zip(axes.flat, components, strict=False):
        curves = states[:, component], low[:, component], high[:, component]
        _panel(axis, result.problem, component, t, curves)
    for axis in axes.flat[len(components) :]:
        axis.set_visible(False)
    _label(figure, axes, result, title, xlabel, ylabel)
    path = Path(path)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise DataError(f"plot {path}: {error}") from error
    return path


def _label(figure, axes, result, title, xlabel, ylabel):
    for column in axes.T:
        axis = [axis for axis in column if axis.get_visible()][-1]
        axis.set_xlabel(xlabel)
        axis.tick_params(labelbottom=True)
        if (result.problem.observations.flat[0] % 1.0 == 0.0).all():
            axis.xaxis.get_major_locator().set_params(integer=True)
    if ylabel:
        figure.supylabel(ylabel, fontsize="medium")
    verdict = "" if result.success else "NOT CONVERGED"
    text = ": ".join(filter(None, (title, verdict)))
    axes[0, 0].set_title(text, loc="left", fontsize="medium")
    # On the line of the title, at its other end.
    handles, labels = axes[0, 0].get_legend_handles_labels()
    place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.1}
    axes[0, -1].legend(
        handles[::-1], labels[::-1], frameon=False, fontsize="small", ncols=3, **place
    )


def _panels(problem):
    """Return the components to draw: those observed, in the order of y."""
    return sorted(series.component for series in problem.observations.series)


def _grid(problem):
    """Return the times of the curves: 400 or more, and all of the data's."""
    ts = problem.observations.flat[0]
    return np.union1d(ts, np.linspace(ts[0], ts[-1], min(2000, max(400, 20 * len(ts)))))


def _panel(axis, problem, component, t, curves):
    states, low, high = curves
    series = next(s for s in problem.observations.series if s.component == component)
    axis.fill_between(t, low, high, color=FIT, alpha=0.22, linewidth=0, label="95 % band")
    axis.plot(t, states, color=FIT, linewidth=1.6, label="fit")
    axis.plot(series.times, series.values, "o", color=DATA, markersize=4, label="data")
    axis.set_ylabel(series.label)
    axis.margins(x=0.02)
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_ylim(_view(curves, series.values))


def _view(curves, values):
    """Return the limits of a panel: all data and the curve; of a wide band, as much again."""
    states, low, high = curves
    seen = np.concatenate((states, values[~np.isnan(values)]))
    bottom, top = seen.min(), seen.max()
    room = (top - bottom) or abs(top) or 1.0
    low, high = low[np.isfinite(low)], high[np.isfinite(high)]
    lowest = max(low.min(initial=bottom), bottom - room)
    highest = min(high.max(initial=top), top + room)
    if 0.0 <= bottom <= 0.5 * top:  # an axis from zero shows such data best
        return 0.0, highest + 0.05 * room
    return lowest - 0.05 * room, highest + 0.05 * room
