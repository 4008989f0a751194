"""The picture of a fit of an SDE: its data, and profiles of the likelihood or states that a filter tells."""

import warnings

import numpy as np

from numbad.errors import ArgumentError, ModelError, NumbadWarning
from numbad.fit.report import DATA, FIT, dress, given, saved
from numbad.fit.uncertainty import half_width
from numbad.random import key
from numbad.sde.equations import equation_of

_WIDEST = 7.0  # a factor of 1000 on either side of an estimate


def draw(result, path, ax, title, xlabel, labels, ahead):
    """Draw the picture, and write it if there is a path; arguments as in `DiffusionFit.plot`."""
    in_time = []
    for one in result.problem.series:
        in_time += _in_time(result, one, labels, ahead)
    profiles = []
    if result.problem.hidden is None:
        profiles = [_profile(result, name) for name in result.names]
    panels = in_time + profiles
    times = np.concatenate([one.times for one in result.problem.series])
    figure, axes = _grid(len(panels)) if ax is None else given(panels, ax)
    for axis, panel in zip(axes.flat, panels, strict=True):
        panel(axis)
        if panel in in_time and (times % 1.0 == 0.0).all():
            axis.xaxis.get_major_locator().set_params(integer=True)
    axes.flat[len(in_time) - 1].set_xlabel(xlabel)
    verdict = "" if result.success else "NOT CONVERGED"
    text = ": ".join(filter(None, (title, verdict)))
    axes[0, 0].set_title(text, loc="left", fontsize="medium")
    return saved(figure, path)


def _in_time(result, one, labels, ahead):
    """The panels over time of an experiment."""
    times, hidden, name = one.times, result.problem.hidden, one.name
    columns = one.values.reshape(len(times), -1).T
    labels = _labels(labels, len(columns))
    told = labels if name is None else [f"{name}: {label}" for label in labels]
    panels = [_series(times, column, label) for column, label in zip(columns, told, strict=True)]
    if ahead is not None:
        panels[0] = _both(panels[0], _ahead(result, one, ahead))
    if hidden is None:
        return panels
    if hidden.sees_all:
        states = _states(result, one, told)
        return [_both(*pair) for pair in zip(states, panels, strict=True)]
    return panels + _states(result, one, None)


def _labels(labels, count):
    if labels is None:
        return ["y"] if count == 1 else [f"y[{k}]" for k in range(count)]
    if isinstance(labels, str) or len(labels) != count:
        raise ModelError(f"labels must be a list of {count} names, not {labels!r}")
    return list(labels)


def _grid(count):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 0.8 + 2.3 * count), layout="constrained")
    return figure, figure.subplots(count, 1, squeeze=False)


def _series(times, values, label):
    def panel(axis):
        axis.plot(times, values, "o-", color=DATA, markersize=3, linewidth=0.6, label="data")
        dress(axis, label)

    return panel


def _both(first, second):
    def panel(axis):
        first(axis)
        second(axis)

    return panel


def _states(result, one, labels):
    """A panel for each component of the state in an experiment."""
    times, found = one.times, result.filtered(experiment=one.name)
    width = half_width(0.95, None, known_sigma=True)
    deviations = width * np.sqrt(np.diagonal(found.cov, axis1=1, axis2=2))
    if labels is None:
        of = "" if one.name is None else f"{one.name}: "
        labels = [f"{of}state[{k}]" for k in range(found.mean.shape[1])]
    return [
        _state(times, found.mean[:, k], deviations[:, k], label) for k, label in enumerate(labels)
    ]


def _state(times, mean, deviation, label):
    def panel(axis):
        axis.fill_between(
            times, mean - deviation, mean + deviation, color=FIT, alpha=0.22, linewidth=0
        )
        axis.plot(times, mean, color=FIT, linewidth=1.6)
        dress(axis, label)

    return panel


def _ahead(result, one, ahead):
    """The band of the paths that are predicted for so long after the last observation."""
    if not 0.0 < ahead < np.inf:
        raise ArgumentError(f"ahead is a time after the last observation, not {ahead!r}")
    if equation_of(result.problem.density) is None:
        raise ArgumentError(
            "ahead= is for fits by densities of numbad.sde.transitions, which know their equation; of "
            "others, predictive_band(ts, key, y0=..., solve=...) has the quantiles"
        )
    times = one.times[-1] + np.linspace(0.0, ahead, 41)
    try:
        band = result.predictive_band(times, key(0), experiment=one.name)
    except ModelError as error:
        told = f"the band ahead is that of the estimates, without their uncertainty: {error}"
        warnings.warn(told, NumbadWarning, stacklevel=5)
        band = result.predictive_band(times, key(0), draws=None, experiment=one.name)
    low, middle, high = band[:, :, 0]

    def panel(axis):
        axis.fill_between(times, low, high, color=FIT, alpha=0.22, linewidth=0)
        axis.plot(times, middle, color=FIT, linewidth=1.6)

    return panel


def _profile(result, name):
    """A panel of twice the loss of log-likelihood over an unknown."""
    profile = result.profile(name)
    logarithmic = result.problem.unknowns.transforms[result.names.index(name)] == "log"

    def panel(axis):
        values, loss = np.array(profile.values), 2.0 * (np.array(profile.costs) - result.cost)
        bound = 2.0 * (profile.threshold - result.cost)
        seen = loss <= 3.0 * bound
        if logarithmic:  # far out it may be flat
            with np.errstate(divide="ignore"):
                seen &= np.abs(np.log(values) - np.log(profile.value)) < _WIDEST
        axis.plot(values[seen], loss[seen], "o-", color=FIT, markersize=3, linewidth=1.6)
        axis.axhline(bound, color=DATA, linewidth=0.8, linestyle="--")
        if logarithmic:
            axis.set_xscale("log")
        axis.set_xlabel(name)
        dress(axis, "2 (loss of log-likelihood)")

    return panel
