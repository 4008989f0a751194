"""A Python file with an SDE in it, read into a checked `DiffusionModel`."""

from dataclasses import dataclass, field
from pathlib import Path

from numbad.models.reader import Reader, is_number, listed

EXACT = "vasicek", "cir", "gbm"
SHORT = "euler", "ait_sahalia", "ozaki"
PARTICLES, MOMENTS = "particle_filter", "simulated_moments"
FILTERS = "extended_kalman", "unscented_kalman", PARTICLES, MOMENTS
LIKELIHOODS = (*SHORT, *EXACT, *FILTERS)
SEEN = "mean", "spread", "noise"  # what a filter needs besides the equation
SIMULATIONS = {  # what else a likelihood takes
    PARTICLES: ("particles", "width", "seed"),
    MOMENTS: ("moments", "paths", "seed"),
}
PASSED_ON = "bounds", "fixed", "transforms", "priors", "own"  # the fit knows what they may be
KNOWN = (
    *("p0", "drift", "diffusion", "density", "likelihood", "observe", *SEEN, "dt"),
    *("particles", "width", "moments", "paths", "seed"),
    *("observed", "scale", "time", "experiment", "conditions", *PASSED_ON),
)


@dataclass(frozen=True)
class DiffusionModel:
    """What the model file of a stochastic differential equation says.

    Attributes
    ----------
    path : Path
        The file.
    p0 : dict
        Parameter -> value that the fit starts from.
    likelihood : str
        One of `LIKELIHOODS`, or "density".
    functions : dict
        Those of ``drift``, ``diffusion``, ``density``, ``observe``, ``mean``, ``spread``, ``noise`` that the
        file defines; the last three may be lists of numbers.
    dt : float or None
        The step of a filter between observations.
    observed : list or None
        Columns of the data; None: all but that of times.
    simulation : dict
        Those of ``particles``, ``width``, ``paths`` and ``seed`` that are given.
    options : dict
        Those of ``time``, ``scale``, ``bounds``, ``fixed``, ``transforms``, ``priors`` and ``own`` that are
        given.
    experiment : str or None
        The column that names the experiment of each row.
    conditions : dict
        Parameter -> the column with its value in each experiment.
    """

    path: Path
    p0: dict
    likelihood: str
    functions: dict
    dt: float | None = None
    observed: list | None = None
    options: dict = field(default_factory=dict)
    simulation: dict = field(default_factory=dict)
    experiment: str | None = None
    conditions: dict = field(default_factory=dict)

    @property
    def by_filter(self):
        """Whether the states are observed through noise, and in part."""
        return self.likelihood in FILTERS


def defines_diffusion(names):
    """Whether a file that defines these names is about an SDE."""
    return "rhs" not in names and not {"drift", "diffusion", "density", "likelihood"}.isdisjoint(
        names
    )


def read_diffusion(path, source, names):
    """Return the `DiffusionModel` of a file's names, or raise `ModelError`."""
    reader = _DiffusionReader(path, source, names, KNOWN)
    reader.check_names()
    reader.check_options()
    if "p0" not in names:
        raise reader.error("p0", "the model file does not define 'p0', a dict: parameter -> start")
    likelihood = reader.likelihood()
    return DiffusionModel(
        path=path,
        p0=reader.numbers("p0"),
        likelihood=likelihood,
        functions=reader.functions(likelihood),
        dt=reader.step(likelihood),
        observed=reader.observed(),
        options=reader.options(),
        simulation=reader.simulation(likelihood),
        experiment=reader.experiment(),
        conditions=reader.conditions(),
    )


class _DiffusionReader(Reader):
    """The names of the model file of an SDE."""

    def likelihood(self):
        """Return how the likelihood is found; by default from what the file defines."""
        by_density = "density" in self.names
        if "likelihood" not in self.names:
            return "density" if by_density else "euler"
        chosen = self.word("likelihood", LIKELIHOODS)
        for name in ("density", "drift", "diffusion"):
            if name in self.names and (name == "density" or chosen in EXACT):
                raise self.error(
                    name, f"'{name}' is not used beside likelihood = '{chosen}'; leave one out"
                )
        return chosen

    def functions(self, likelihood):
        """Return the functions that the likelihood is made of, and no others."""
        if likelihood == "density":
            wanted, signature = ["density"], "t0, y0, t1, y1, ..."
        else:
            wanted = [] if likelihood in EXACT else ["drift", "diffusion"]
            signature = "t, y, ..."
        for name in wanted:
            if name not in self.names:
                raise self.error(
                    name,
                    f"the model file does not define {name}({signature}), which likelihood = "
                    f"'{likelihood}' needs",
                )
        found = {name: self.function(name, signature) for name in wanted}
        by_filter = likelihood in FILTERS
        for name in ("observe", *SEEN, "dt"):
            if name in self.lines and not by_filter:
                raise self.error(
                    name, f"'{name}' is of a filter; likelihood is one of {', '.join(FILTERS)}"
                )
            needed = name in ("mean", "dt") or (name in SEEN and likelihood != MOMENTS)
            if by_filter and name not in self.names and needed:
                raise self.error(
                    name,
                    f"the model file does not define '{name}', which likelihood = '{likelihood}' needs",
                )
        if by_filter:
            found |= {name: self._of_parameters(name) for name in SEEN if name in self.names}
            if "observe" in self.names:
                found["observe"] = self.function("observe")
        if likelihood == MOMENTS:
            if "moments" not in self.names:
                raise self.error(
                    "moments",
                    f"the model file does not define moments(t, y), which likelihood = '{MOMENTS}' needs",
                )
            found["moments"] = self.function("moments", "t, y")
        return found

    def simulation(self, likelihood):
        """Return what the likelihood takes besides functions."""
        found = {}
        for name in ("particles", "width", "paths", "seed", "moments"):
            if name in self.lines and name not in SIMULATIONS.get(likelihood, ()):
                users = " or ".join(kind for kind, names in SIMULATIONS.items() if name in names)
                raise self.error(name, f"'{name}' is of likelihood = {users}; leave it out")
            if name in self.lines and name != "moments":
                value = self.get(name)
                whole = name == "width" or isinstance(value, int)
                if not is_number(value) or not whole or value < 0:
                    kind = "a positive number" if name == "width" else "a whole number"
                    raise self.error(name, f"{name} must be {kind}, not {value!r}")
                found[name] = value
        return found

    def _of_parameters(self, name):
        value = self.get(name)
        if callable(value):
            return self.function(name, "parameters")
        values = [value] if is_number(value) else listed(value)
        if not values or not all(map(is_number, values)):
            raise self.error(
                name,
                f"{name} must be a list of numbers or a function of the parameters, not {value!r}",
            )
        return [float(one) for one in values]

    def step(self, likelihood):
        if likelihood not in FILTERS:
            return None
        value = self.get("dt")
        if not is_number(value) or value <= 0:
            raise self.error("dt", f"dt must be a positive number, not {value!r}")
        return float(value)

    def observed(self):
        """Return the columns of the data, or None."""
        if "observed" not in self.names:
            return None
        value = self.get("observed")
        columns = [value] if isinstance(value, str) else listed(value)
        if not columns or not all(isinstance(one, str) for one in columns):
            raise self.error(
                "observed", f"observed must be a column's name or a list of such, not {value!r}"
            )
        return columns

    def options(self):
        options = {"time": self.word("time")} if "time" in self.lines else {}
        if "scale" in self.lines:
            options["scale"] = self.word("scale", ("linear", "log"))
        for name in PASSED_ON:
            if name in self.lines:
                options[name] = self.get(name)
        return options
