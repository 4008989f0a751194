"""A Python file with an ODE in it, read into a checked `Model`.

The names that a model file may define are the fields of `Model` (`path` and `components` of a
`y0` given as a dict aside). Complaints name the file and the line of the name at fault.
"""

from dataclasses import dataclass, field
from pathlib import Path

from numbad.models.diffusion_file import defines_diffusion, read_diffusion
from numbad.models.reader import Reader, is_number, listed
from numbad.models.running import read_source, run

REQUIRED = ("rhs", "p0")
# What these may be, the fit knows.
PASSED_ON = (
    "fixed",
    "transforms",
    "priors",
    "own",
    "events",
    "tstops",
    "mass_matrix",
    "sens_errcon",
)
OPTIONAL = (
    *("y0", "components", "fit_y0", "observables", "observed", "bounds", "sigma", "scale", "loss"),
    *("absolute_sigma", "method", "time", "experiment", "conditions", "doses", *PASSED_ON),
)
NUMBERS = ("t0", "f_scale", "rtol", "atol", "first_step", "max_step", "ftol", "xtol", "gtol")
COUNTS = ("max_steps", "max_nfev")
KNOWN = (*REQUIRED, *OPTIONAL, *NUMBERS, *COUNTS)
CHOICES = {
    "scale": ("linear", "log"),
    "loss": ("linear", "soft_l1", "huber", "cauchy", "arctan"),
}


@dataclass(frozen=True)
class Model:
    """What a model file says.

    Attributes
    ----------
    path : Path
        The file.
    rhs : callable
        ``rhs(t, y, *parameters)`` returns the derivative of y by t, a tuple or an array.
    p0 : dict
        The parameters of `rhs` by name, with the values that the fit starts from.
    components : tuple of str
        The names of the components of y, in its order.
    y0 : dict or None
        The components at the initial time, numbers or names of entries of `p0`; None: what was
        observed then.
    fit_y0 : bool or list
        Whether `y0` is unknown, too, or which of its components; it is then what the fit starts
        from.
    observables : dict
        Name -> function of (t, y, *parameters) that stands for what was measured; empty where the
        components of y are.
    observed : dict or None
        Column of the data -> component or observable; None: every column that bears such a name.
    bounds : dict
        Parameter or component -> (low, high), either of which may be None or infinite.
    sigma : dict
        Component or observable -> standard deviation of its observations: a number, a column's name,
        or "estimate".
    experiment : str or None
        The column that names the experiment of each row.
    conditions : dict
        Parameter or component -> the column with its value, or initial value, in each experiment.
    doses : dict
        Column with amounts -> the component to which they are added at the times of their rows.
    options : dict
        Of ``time`` and the options of `numbad.fit.fit_ode` (those in `PASSED_ON`, `NUMBERS`, `COUNTS`;
        ``scale``, ``loss``, ``absolute_sigma``, ``method``) those that are given.
    """

    path: Path
    rhs: object
    p0: dict
    components: tuple
    y0: dict | None = None
    fit_y0: bool | list = False
    observed: dict | None = None
    bounds: dict = field(default_factory=dict)
    sigma: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)
    observables: dict = field(default_factory=dict)
    experiment: str | None = None
    conditions: dict = field(default_factory=dict)
    doses: dict = field(default_factory=dict)

    @property
    def shown(self):
        """The names of what is compared with the data."""
        return tuple(self.observables) or self.components


def load_model(path):
    """Run a model file and return the `Model` that it defines, or the `DiffusionModel`.

    The module is entered in `sys.modules` under a name made from its path, so that its functions
    can be pickled; a process that calls `load_model` on the same path can unpickle them.

    Parameters
    ----------
    path : str or path
        The file. It is run as Python code: use files that you trust.

    Returns
    -------
    Model or DiffusionModel
        The latter of a file that defines a drift, a density or a likelihood.

    Raises
    ------
    ModelError
        A file that cannot be read or run, lacks a name, or gives one the wrong kind of value; the
        message names file and line.

    >>> from numbad.models import PREDATOR_PREY
    >>> load_model(PREDATOR_PREY).components
    ('hare', 'lynx')
    """
    path = Path(path)
    source = read_source(path)
    module = run(path, source)
    if defines_diffusion(vars(module)):
        return read_diffusion(path, source, vars(module))
    reader = _Reader(path, source, vars(module), KNOWN)
    reader.check_names()
    reader.check_required()
    rhs, p0 = reader.function("rhs"), reader.numbers("p0")
    components, y0 = reader.state()
    for name in components:
        if name in p0:
            raise reader.error("p0", f"'{name}' is both a parameter and a component of y")
    reader.check_options()
    observables = reader.observables()
    shown = tuple(observables) or components
    return Model(
        path=path,
        rhs=rhs,
        p0=p0,
        components=components,
        y0=y0,
        fit_y0=reader.free(components),
        observed=reader.observed(shown),
        bounds=reader.mapping("bounds"),
        sigma=reader.sigma(shown),
        options=reader.options(),
        observables=observables,
        experiment=reader.experiment(),
        conditions=reader.conditions(),
        doses=reader.doses(components),
    )


class _Reader(Reader):
    """The names of the model file of an ODE."""

    def check_required(self):
        """Complain of what is missing."""
        for name in REQUIRED:
            if name not in self.names:
                raise self.error(
                    name,
                    f"the model file does not define '{name}'; it needs rhs(t, y, ...) and"
                    " p0 = dict(...), or drift(t, y, ...), diffusion(t, y, ...) and p0, see"
                    " 'numbad fit --help'",
                )

    def state(self):
        """Return the names of the components and, where given, their initial values."""
        if "y0" not in self.names:
            if "components" not in self.names:
                raise self.error(
                    "rhs",
                    "the model file names no components of y; it needs y0 = dict(name=value, ...),"
                    ' or components = ["name", ...] to start from the first row of the data',
                )
            return self._components(), None
        y0 = self.get("y0")
        if not isinstance(y0, dict):
            if "components" not in self.names:
                raise self.error("y0", "y0 must be a dict: component -> value at the first time")
            components = self._components()
            y0 = listed(y0)
            if y0 is None or len(y0) != len(components):
                raise self.error("y0", f"y0 must have {len(components)} values, as components has")
            y0 = dict(zip(components, y0, strict=True))
        entries = self.get("p0") if isinstance(self.get("p0"), dict) else {}
        named = {key: value for key, value in y0.items() if value in tuple(entries)}
        y0 = {**y0, **self.numbers("y0", {k: v for k, v in y0.items() if k not in named})}
        if not y0:
            raise self.error("y0", "y0 is empty; y needs one component at least")
        components = self._components() if "components" in self.names else tuple(y0)
        if set(components) != set(y0):
            raise self.error("components", "components and y0 name different components")
        return components, {name: y0[name] for name in components}

    def _components(self):
        components = self.get("components")
        if not isinstance(components, list | tuple) or not components:
            raise self.error("components", "components must be a list of names")
        if len(set(components)) < len(components):
            raise self.error("components", "components has a name twice")
        if not all(isinstance(name, str) for name in components):
            raise self.error("components", "components must be a list of names")
        return tuple(components)

    def free(self, components):
        """Return fit_y0: True, False or a list of components."""
        value = self.get("fit_y0", False)
        names = listed(value) or ()
        if not isinstance(value, bool) and not (names and set(names) <= set(components)):
            raise self.error(
                "fit_y0",
                f"fit_y0 must be True, False or a list of components ({', '.join(components)}),"
                f" not {value!r}",
            )
        return value if isinstance(value, bool) else names

    def observed(self, components):
        """Return column -> component."""
        observed = self.get("observed")
        if observed is None:
            return None
        if not isinstance(observed, dict) or not observed:
            raise self.error("observed", "observed must be a dict: column -> component")
        seen = set()
        for column, component in observed.items():
            self._check_component("observed", column, component, components)
            if component in seen:
                raise self.error("observed", f"observed maps two columns to '{component}'")
            seen.add(component)
        return dict(observed)

    def observables(self):
        """Return name -> function."""
        found = self.mapping("observables")
        for name, function in found.items():
            if not isinstance(name, str) or not callable(function):
                raise self.error(
                    "observables",
                    f"observables[{name!r}] must be a function {name}(t, y, ...), not {function!r}",
                )
        return found

    def doses(self, components):
        """Return column -> component."""
        found = self.mapping("doses")
        for column, component in found.items():
            self._check_component("doses", column, component, components)
        return found

    def _check_component(self, name, column, component, components):
        if component not in components:
            raise self.error(
                name,
                f"{name} maps '{column}' to {component!r}, which is no component"
                f" ({', '.join(components)})",
            )

    def sigma(self, components):
        sigma = self.get("sigma", {})
        if is_number(sigma) or sigma == "estimate":
            sigma = dict.fromkeys(components, sigma)
        if not isinstance(sigma, dict):
            raise self.error("sigma", "sigma must be a number, 'estimate', or a dict by component")
        for name, value in sigma.items():
            if name not in components:
                raise self.error("sigma", f"sigma has '{name}', which is no component of y")
            if not isinstance(value, str) and not (is_number(value) and value > 0):
                raise self.error(
                    "sigma", f"sigma['{name}'] must be a positive number or a column's name"
                )
        return dict(sigma)

    def options(self):
        """Return those of the options that are given; what numbers may be, the fit knows."""
        options = {}
        for name in ("scale", "loss", "method", "time"):
            if name in self.names:
                options[name] = self.word(name, CHOICES.get(name, ()))
        for name in PASSED_ON:
            if name in self.lines:
                options[name] = self.get(name)
        for name in NUMBERS:
            if name in self.names:
                options[name] = self._tolerance(name)
        for name in COUNTS:
            if name in self.names:
                options[name] = self._count(name)
        if "absolute_sigma" in self.names:
            options["absolute_sigma"] = bool(self.get("absolute_sigma"))
        return options

    def _tolerance(self, name):
        """Return a number; for rtol and atol one, or one for each component."""
        value = self.get(name)
        each = listed(value) if name in ("rtol", "atol") else None
        if not all(map(is_number, [value] if each is None else each)):
            raise self.error(name, f"{name} must be a number, not {value!r}")
        return float(value) if each is None else [float(one) for one in each]

    def _count(self, name):
        value = self.get(name)
        if not is_number(value) or value != int(value) or value < 1:
            raise self.error(name, f"{name} must be a whole number, 1 or more, not {value!r}")
        return int(value)
