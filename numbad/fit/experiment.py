"""Experiments: what each was given and has shown, and which unknowns they share."""

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from numbers import Real

import numpy as np

from numbad.errors import DataError, ModelError
from numbad.fit.data import component_index, label_of
from numbad.fit.labelled import by_label


@dataclass(frozen=True, eq=False)
class Experiment:
    """One of several experiments that `fit_ode` or `fit_sde(..., experiments=[...])` fits together.

    Parameters
    ----------
    t, y : array, shape (m,), and array, shape (m, components observed) or (m,)
        Times, and what was observed then, in every form that `fit_ode`, or `fit_sde`, takes.
    y0 : sequence, dict, named tuple or array, shape (n,), optional
        The state at the initial time, which is that of the first observation unless `fit_ode` has
        `t0`; by default as `fit_ode` has it. A text in place of a number names an entry of `p0`:
        an initial value that is unknown, and shared by the experiments that name it.
    args : dict, optional
        Parameter -> what it is in this experiment: a number, which is then known here, in the unit of
        the parameter; or a text, the name of another entry of `p0` that takes its place.
    doses : sequence of (time, component, amount), optional
        What is added to a component, by name or index, of the state at a time, not before the initial
        one. Times, in the unit of `t`, and amounts, in that of the component, are numbers, or texts
        that name entries of `p0`: unknowns. Observations at the very time are before the dose.
    sigma : float, array or dict, optional
        As in `fit_ode`; by default what stands there. `fit_sde` takes neither `y0` nor `doses` nor `sigma`.
    name : str, optional
        What to call it; by default its number, from "0". A single one without a name counts as data
        that are given to `fit_ode` itself.

    Raises
    ------
    ModelError
        Arguments that cannot be used.

    Examples
    --------
    Two cups that cool at one rate; the temperature around them differs, and is known for the second.

    >>> import numpy as np, numbad as nd
    >>> def cooling(t, y, rate, room):
    ...     return (-rate * (y[0] - room),)
    >>> t = np.linspace(0.0, 20.0, 9)
    >>> cup = nd.fit.Experiment(t, 20.0 + 60.0 * np.exp(-0.1 * t), y0=[80.0], name="cup")
    >>> ice = nd.fit.Experiment(t, 70.0 * np.exp(-0.1 * t), y0=[70.0], args=dict(room=0.0), name="ice")
    >>> both = nd.fit.fit_ode(cooling, None, None, dict(rate=0.2, room=15.0), experiments=[cup, ice])
    >>> {name: round(value, 4) for name, value in both.params.items()}
    {'rate': 0.1, 'room': 20.0}
    """

    t: object
    y: object
    _: KW_ONLY
    y0: object = None
    args: object = None
    doses: object = None
    sigma: object = None
    name: str | None = None

    def __post_init__(self):
        object.__setattr__(self, "doses", _read_doses(self.doses))
        for name in ("y0", "args", "sigma"):
            object.__setattr__(self, name, by_label(getattr(self, name)))
        if self.name is not None and not isinstance(self.name, str):
            raise ModelError(f"Experiment: name must be a text, got {self.name!r}")
        if self.args is not None and not isinstance(self.args, Mapping):
            raise ModelError(
                f'Experiment: args must be a dict such as {{"k": 0.5}}, got {self.args!r}'
            )
        for key, value in (self.args or {}).items():
            number = isinstance(value, Real) and np.isfinite(value)
            if not isinstance(key, str) or not (number or isinstance(value, str)):
                raise ModelError(
                    f"Experiment: args[{key!r}] must be a finite number, or the name of an entry of "
                    f"p0; got {value!r}"
                )


def _read_doses(doses):
    """Return the doses as a tuple of (time, component, amount)."""
    found = []
    for dose in () if doses is None else doses:
        form = 'doses=[(4.0, "gut", 100.0), ...], (time, component, amount) each'
        if isinstance(dose, str) or not np.iterable(dose) or len(tuple(dose)) != 3:
            raise ModelError(f"Experiment: expected {form}; got {dose!r}")
        time, component, amount = dose
        for value in (time, amount):
            if not isinstance(value, str) and not (isinstance(value, Real) and np.isfinite(value)):
                raise ModelError(
                    f"Experiment: a dose has {value!r}, neither a finite number nor the name of an "
                    f"entry of p0; expected {form}"
                )
        found.append((time, component, amount))
    return tuple(found)


def read_experiments(experiments, t, y, call="fit_ode(fun"):
    """Return the experiments, each named; of the data `t`, `y` alone one without a name.

    `call` is how the call begins that they were given to.
    """
    if experiments is None:
        return (Experiment(t, y),)
    if t is not None or y is not None:
        raise ModelError(
            f"with experiments= the data stand there: {call}, None, None, p0, experiments=[...])"
        )
    if isinstance(experiments, Mapping | Experiment) or not len(list(experiments)):
        raise ModelError("experiments must be a list of nd.fit.Experiment, one at least")
    experiments, found = list(experiments), []
    for number, one in enumerate(experiments):
        if not isinstance(one, Experiment):
            raise ModelError(f"experiments[{number}] is no nd.fit.Experiment: {one!r}")
        name = str(number) if one.name is None and len(experiments) > 1 else one.name
        if name in (other.name for other in found):
            raise ModelError(f"experiments: two are called {name!r}; names must differ")
        kept = {key: getattr(one, key) for key in ("y0", "args", "doses", "sigma")}
        found.append(Experiment(one.t, one.y, **kept, name=name))
    return tuple(found)


@contextmanager
def about(experiment):
    """Say which experiment an error is about, where there are several."""
    try:
        yield
    except (DataError, ModelError) as error:
        if experiment.name is None:
            raise
        raise type(error)(f"experiment {experiment.name!r}: {error}") from None


def named_parameters(given, what, known, experiments):
    """Return names given as one, or as a sequence of them."""
    if not np.iterable(given):
        raise ModelError(
            f"{what}: expected names of parameters, such as {list(known[:1])}; got {given!r}"
        )
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if name not in known:
            raise ModelError(
                f"{what}: no parameter is called {name!r}; there are {', '.join(known)}"
            )
    if names and experiments[0].name is None:
        raise ModelError(f"{what}= is about several experiments=")
    return names


def check_arguments(experiments, names):
    """Raise ModelError where an experiment is given what is no parameter."""
    for one in experiments:
        for key in one.args or {}:
            if key not in names:
                raise ModelError(
                    f"experiment {one.name!r}: args has {key!r}, but the parameters are "
                    f"{', '.join(names)}"
                )


class Candidates:
    """All that could be unknown: names and starts, and where each experiment has which.

    `places[e, j]` is the position of the candidate that is number j of experiment e; -1 where that is
    known, and then `values[e, j]`. The numbers are the parameters, the times and then the amounts of
    `doses` doses, and, from `first` on, the initial values.
    """

    def __init__(self, parameters, experiments, components, width):
        self.parameters, self.experiments = parameters, experiments
        self.components = components
        self.doses = max(len(one.doses) for one in experiments)
        self.first = len(parameters) + 2 * self.doses
        shape = len(experiments), self.first + width
        self.places, self.values = np.full(shape, -1), np.full(shape, np.nan)
        self.names, self.start, self.aliases = [], [], {}

    def place(self, experiment, slot, name, start, own=False):
        """Let a candidate be what stands at `slot` of an experiment, and nothing else if it is `own`."""
        if own and name in self.names:
            raise ModelError(f"two unknowns are called {name!r}; give other names=")
        if name not in self.names:
            self.names.append(name)
            self.start.append(float(start))
        self.places[experiment, slot] = self.names.index(name)
        self.values[experiment, slot] = start

    def add_parameters(self, starts, extras, own):
        """Place the parameters: `starts` are theirs, `extras` further entries of p0 by name."""
        for name in self.parameters:
            if self.parameters.count(name) > 1:
                raise ModelError(f"two unknowns are called {name!r}; give other names=")
        everything = {**dict(zip(self.parameters, starts, strict=True)), **extras}
        later = []
        for slot, name in enumerate(self.parameters):
            for e, experiment in enumerate(self.experiments):
                given = (experiment.args or {}).get(name)
                if isinstance(given, str):
                    later.append((e, slot, given))
                elif given is not None:
                    self.values[e, slot] = given
                elif name in own:
                    self._alias(name, f"{name}[{experiment.name}]")
                    self.place(e, slot, f"{name}[{experiment.name}]", everything[name], True)
                else:
                    self.place(e, slot, name, everything[name])
        for e, slot, name in later:
            self.place(e, slot, name, everything[name])

    def add_doses(self, e, t0, everything):
        """Place the doses of an experiment; those that others have beyond add nothing, at its start.

        `everything` are the entries of p0 by name. Returns the components, shape (doses,).
        """
        slot, where = len(self.parameters), np.zeros(self.doses)
        self.values[e, slot : slot + self.doses] = t0
        self.values[e, slot + self.doses : self.first] = 0.0
        for k, (time, component, amount) in enumerate(self.experiments[e].doses):
            where[k] = component_index(component, self.components, "doses", ModelError)[0]
            start = everything[time] if isinstance(time, str) else time
            if start < t0:
                raise ModelError(f"doses: one is at {start:g}, before the initial time, {t0:g}")
            if where[k] >= self.values.shape[1] - self.first:
                raise ModelError(f"doses: component {component} does not exist")
            for place, value in ((slot + k, time), (slot + self.doses + k, amount)):
                if isinstance(value, str):
                    self.place(e, place, value, everything[value])
                else:
                    self.values[e, place] = value
        return where

    def add_initial_values(self, e, start, named, free, t0):
        """Place the initial values of an experiment: `named` are entries of p0 by component."""
        suffix = "" if self.experiments[e].name is None else f"[{self.experiments[e].name}]"
        for index, value in enumerate(start.tolist()):
            slot = self.first + index
            if index in named:
                self.place(e, slot, named[index], value)
            elif index in free:
                label = label_of(index, self.components)
                called = f"y0[{index}]" if self.components is None else f"{label}({t0:.10g})"
                self._alias(label, called + suffix)
                if suffix:
                    self._alias(label + suffix, called + suffix)
                    self._alias(called, called + suffix)
                self.place(e, slot, called + suffix, value, True)
            else:
                self.values[e, slot] = value

    @property
    def unambiguous_aliases(self):
        """Alias -> the names that it stands for, without those that are names themselves."""
        return {alias: meant for alias, meant in self.aliases.items() if alias not in self.names}

    def numbers(self, held, start):
        """The number of the unknown that stands at each place, -1 where that is known: `values` then has it.

        Of all candidates: `held` tells which are fixed, and `start` where they are.
        """
        numbers = np.full(len(self.names) + 1, -1)  # the last for what is no candidate
        free = np.flatnonzero(~held)
        numbers[free] = np.arange(len(free))
        placed = self.places >= 0
        self.values[placed] = start[self.places[placed]]
        return numbers[self.places]

    def _alias(self, alias, name):
        if name not in self.aliases.setdefault(alias, ()):
            self.aliases[alias] += (name,)


def referenced(experiments, y0):
    """Return the names of entries of p0 that experiments and initial values refer to."""
    given = [experiment.y0 for experiment in experiments] + [y0]
    values = [value for one in given if one is not None for value in entries(one)]
    values += [value for one in experiments for value in (one.args or {}).values()]
    values += [one[i] for experiment in experiments for one in experiment.doses for i in (0, 2)]
    return {value for value in values if isinstance(value, str)}


def entries(y0):
    """Return the entries of initial values in whatever form."""
    if isinstance(y0, Mapping):
        return list(y0.values())
    return [y0] if isinstance(y0, str) or np.ndim(y0) == 0 else list(y0)


def split_start(called_with, p0, experiments, y0):
    """Return (p0 for the parameters `called_with`, further entries by name).

    A parameter that every experiment has its own entry for needs none in p0. None for `called_with`: the
    model takes all of p0.
    """
    if not isinstance(p0, Mapping):
        return p0, {}
    p0, names = dict(p0), referenced(experiments, y0)
    for name in names - set(p0):
        where = "args, doses or y0" if experiments[0].name is not None else "y0"
        raise ModelError(f"{where}: {name!r} is neither a number nor the name of an entry of p0")
    given = [experiment.args or {} for experiment in experiments]
    missing = [key for key in given[0] if key not in p0 and all(key in one for one in given)]
    for key in missing:
        value = given[0][key]
        p0[key] = p0[value] if isinstance(value, str) else value
    if called_with is None:
        return p0, {}
    extras = {key: _number(key, p0[key]) for key in p0 if key in names - set(called_with)}
    return {key: value for key, value in p0.items() if key not in extras}, extras


def _number(name, value):
    if not (isinstance(value, Real) and np.isfinite(value)):
        raise ModelError(f"p0: {name} starts at {value!r}; every entry must be a finite number")
    return float(value)
