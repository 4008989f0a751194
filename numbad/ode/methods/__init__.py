"""The methods that exist, by name; one cited tableau a file."""

from difflib import get_close_matches

from numbad.errors import ArgumentError
from numbad.ode.methods.auto_tsit5 import AUTO_TSIT5
from numbad.ode.methods.bdf import BDF
from numbad.ode.methods.bs3 import BS3
from numbad.ode.methods.dop853 import DOP853
from numbad.ode.methods.dp5 import DP5
from numbad.ode.methods.euler import EULER
from numbad.ode.methods.heun import HEUN
from numbad.ode.methods.kencarp4 import KENCARP4
from numbad.ode.methods.mclachlan_atela4 import MCLACHLAN_ATELA4
from numbad.ode.methods.radau_iia5 import RADAU_IIA5
from numbad.ode.methods.rk4 import RK4
from numbad.ode.methods.rodas4 import RODAS4
from numbad.ode.methods.rodas5p import RODAS5P
from numbad.ode.methods.rosenbrock23 import ROSENBROCK23
from numbad.ode.methods.tsit5 import TSIT5
from numbad.ode.methods.velocity_verlet import VELOCITY_VERLET
from numbad.ode.methods.vern7 import VERN7
from numbad.ode.methods.vern9 import VERN9

EXPLICIT = (EULER, HEUN, RK4, BS3, DP5, TSIT5, DOP853, VERN7, VERN9)
ROSENBROCK = (ROSENBROCK23, RODAS4, RODAS5P)
SWITCHING = (AUTO_TSIT5,)
IMPLICIT = (RADAU_IIA5, KENCARP4)
MULTISTEP = (BDF,)
SYMPLECTIC = (VELOCITY_VERLET, MCLACHLAN_ATELA4)
METHODS = {
    method.name: method
    for method in EXPLICIT + ROSENBROCK + IMPLICIT + MULTISTEP + SWITCHING + SYMPLECTIC
}

# Other names of a method: what it is called in full; SciPy's, for the method that does the same here.
ALIASES = {
    "DormandPrince5": "DP5",
    "RK23": "BS3",
    "RK45": "DP5",
    "Radau": "RadauIIA5",
    "LSODA": "AutoTsit5",
}


def find_method(name):
    """The method called `name`.

    Raises
    ------
    ArgumentError
        where no method has that name; the message lists those that exist.
    """
    try:
        return METHODS[ALIASES.get(name, name)]
    except (KeyError, TypeError):
        raise ArgumentError(
            f"method {name!r} does not exist{_meant(name)}; available: {', '.join(known_names())}"
        ) from None


def known_names():
    """All names of methods."""
    return sorted({*METHODS, *ALIASES}, key=str.lower)


def _meant(name):
    """What a name that is nearly that of a method is meant to be, as part of a sentence."""
    lower = {known.lower(): known for known in known_names()}
    near = get_close_matches(str(name).lower(), lower, n=1)
    return f" (did you mean {lower[near[0]]!r}?)" if near else ""
