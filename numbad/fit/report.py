"""A result for the eye: the table of estimates, and the picture of data, fit and band."""

import math
from pathlib import Path

import numpy as np

from numbad.errors import DataError, ModelError

DATA, FIT = "#1b1b1b", "#1f6fb2"


def table(result):
    """Return the estimates with standard errors and 95 % intervals, as plain text."""
    control, scale = result.problem.control, "log" if result.problem.log else "linear"
    verdict = "converged" if result.success else "NOT CONVERGED"
    loss = "" if control.loss == "linear" else f", {control.loss} loss"
    lines = [
        f"{verdict}: {len(result.names)} unknowns, {result.problem.count} observations"
        f"{_priors(result)}, {scale} scale{loss}",
        "",
        *_columns(result),
        "",
        f"{_scatter(result)}{result.degrees} degrees of freedom, cost {result.cost:#.6g}, "
        f"{result.nfev} evaluations",
        *_likelihood(result),
        result.message,
    ]
    return "\n".join(lines)


def _priors(result):
    count = len(result.problem.priors or ())
    return f", {count} prior{'s' if count > 1 else ''}" if count else ""


def _scatter(result):
    return "" if result.noise else f"residual standard deviation {result.residual_std:#.5g} on "


def _likelihood(result):
    if np.isnan(result.loglik):
        return
    criteria = "" if np.isnan(result.aic) else f", AIC {result.aic:#.6g}, BIC {result.bic:#.6g}"
    yield f"log-likelihood {result.loglik:#.6g}{criteria}"


def likelihood_table(result, observations):
    """Return the estimates of maximum likelihood with standard errors and 95 % intervals, as plain text."""
    verdict = "converged" if result.success else "NOT CONVERGED"
    lines = [
        f"{verdict}: {len(result.names)} unknowns, {observations}{_priors(result)}",
        "",
        *_columns(result),
        "",
        *_likelihood(result),
        f"{result.nfev} evaluations; {result.message}",
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
    rows += [(name, f"{value:#.5g}", "fixed", "") for name, value in result.fixed.items()]
    rows += [(f"noise of {k}", f"{v:#.5g}", "", "") for k, v in result.noise.items()]
    widths = [max(len(row[j]) for row in rows) for j in range(4)]
    for name, estimate, error, interval in rows:
        line = f"{name:<{widths[0]}}  {estimate:>{widths[1]}}  {error:>{widths[2]}}  {interval}"
        yield line.rstrip()


def draw(result, path, ax, title, xlabel, ylabel):
    """Draw the picture, and write it if there is a path; arguments as in `FitResult.plot`."""
    if not hasattr(result.problem, "curve"):
        raise ModelError("this result has no model in time to plot: it is not from fit_ode")
    panels = _panels(result.problem)
    figure, axes = _grid(panels, len(result.problem.trials)) if ax is None else given(panels, ax)
    curves = [_curves(result, trial) for trial in result.problem.trials]
    for axis, (number, series) in zip(axes.flat, panels, strict=False):
        t, *bands = curves[number]
        name = result.problem.trials[number].name
        label = series.label if name is None else f"{series.label}, {name}"
        _panel(axis, series, label, t, [band[:, series.component] for band in bands])
    if ax is None:
        for axis in axes.flat[len(panels) :]:
            axis.set_visible(False)
    _label(figure, axes, result, title, xlabel, ylabel if ax is None else None)
    return saved(figure, path)


def saved(figure, path):
    """Write a figure into a file and return the path; without one, return the figure."""
    if path is None:
        return figure
    path = Path(path)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise DataError(f"plot {path}: {error}") from error
    return path


def _grid(panels, trials):
    """Return a figure and its axes, at least as many as panels."""
    from matplotlib.figure import Figure

    across = 1 if len(panels) <= 4 else math.ceil(math.sqrt(len(panels) / 2))
    down = math.ceil(len(panels) / across)
    figure = Figure(figsize=(7.2 * min(across, 3) ** 0.5, 0.8 + 2.3 * down), layout="constrained")
    return figure, figure.subplots(down, across, sharex=trials == 1, squeeze=False)


def given(panels, ax):
    """Return the figure of axes that the user gives, and the axes, one below the other."""
    axes = np.array(ax, dtype=object).reshape(-1, 1)
    if len(axes) != len(panels):
        raise ModelError(f"ax: {len(axes)} axes for {len(panels)} panels; give one for each")
    return axes[0, 0].figure, axes


def _label(figure, axes, result, title, xlabel, ylabel):
    for column in axes.T:
        axis = [axis for axis in column if axis.get_visible()][-1]
        axis.set_xlabel(xlabel)
        axis.tick_params(labelbottom=True)
        times = [trial.observations.flat[0] for trial in result.problem.trials]
        if (np.concatenate(times) % 1.0 == 0.0).all():
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
    """Return (trial, series) of each panel: what was observed, in the order of the components."""
    return [
        (number, series)
        for number, trial in enumerate(problem.trials)
        for series in sorted(trial.observations.series, key=lambda one: one.component)
    ]


def _curves(result, trial):
    """Return times, the fit and its band: 400 times or more, and all of the data's."""
    ts = trial.observations.flat[0]
    t = np.union1d(ts, np.linspace(ts[0], ts[-1], min(2000, max(400, 20 * len(ts)))))
    return t, result.predict(t, trial.name), *result.band(t, experiment=trial.name)


def _panel(axis, series, label, t, curves):
    states, low, high = curves
    axis.fill_between(t, low, high, color=FIT, alpha=0.22, linewidth=0, label="95 % band")
    axis.plot(t, states, color=FIT, linewidth=1.6, label="fit")
    axis.plot(series.times, series.values, "o", color=DATA, markersize=4, label="data")
    dress(axis, label)
    axis.set_ylim(_view(curves, series.values))


def dress(axis, label):
    """What all panels have in common."""
    axis.set_ylabel(label)
    axis.margins(x=0.02)
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)


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
