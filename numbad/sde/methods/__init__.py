"""The methods that exist, by name; one cited tableau a file."""

from difflib import get_close_matches

from numbad.errors import ArgumentError
from numbad.sde.methods.aboba import ABOBA
from numbad.sde.methods.align import ALIGN
from numbad.sde.methods.baoab import BAOAB
from numbad.sde.methods.dri1 import DRI1
from numbad.sde.methods.euler_heun import EULER_HEUN
from numbad.sde.methods.euler_maruyama import EULER_MARUYAMA
from numbad.sde.methods.general_shark import GENERAL_SHARK
from numbad.sde.methods.implicit_em import IMPLICIT_EM
from numbad.sde.methods.implicit_milstein import IMPLICIT_MILSTEIN
from numbad.sde.methods.issem import ISSEM
from numbad.sde.methods.log_ode import LOG_ODE
from numbad.sde.methods.midpoint import MIDPOINT
from numbad.sde.methods.milstein import MILSTEIN
from numbad.sde.methods.non import NON
from numbad.sde.methods.ralston import RALSTON
from numbad.sde.methods.reversible_heun import REVERSIBLE_HEUN
from numbad.sde.methods.ri1 import RI1
from numbad.sde.methods.rkmil import RKMIL
from numbad.sde.methods.rkmil_general import RKMIL_GENERAL
from numbad.sde.methods.sea import SEA
from numbad.sde.methods.shark import SHARK
from numbad.sde.methods.skencarp import SKENCARP
from numbad.sde.methods.slow_rk import SLOW_RK
from numbad.sde.methods.sosra import SOSRA
from numbad.sde.methods.sosra2 import SOSRA2
from numbad.sde.methods.sosri import SOSRI
from numbad.sde.methods.sosri2 import SOSRI2
from numbad.sde.methods.spark import SPARK
from numbad.sde.methods.sra1 import SRA1
from numbad.sde.methods.sra2 import SRA2
from numbad.sde.methods.sra3 import SRA3
from numbad.sde.methods.sriw1 import SRIW1
from numbad.sde.methods.sriw2 import SRIW2
from numbad.sde.methods.stochastic_heun import HEUN
from numbad.sde.methods.trapezoid import TRAPEZOID

METHODS = {
    scheme.name: scheme
    for scheme in (
        EULER_MARUYAMA,
        MILSTEIN,
        RKMIL,
        RKMIL_GENERAL,
        LOG_ODE,
        SRIW1,
        SRIW2,
        SOSRI,
        SOSRI2,
        SRA1,
        SRA2,
        SRA3,
        SOSRA,
        SOSRA2,
        SEA,
        SHARK,
        EULER_HEUN,
        HEUN,
        MIDPOINT,
        RALSTON,
        REVERSIBLE_HEUN,
        GENERAL_SHARK,
        SLOW_RK,
        SPARK,
        IMPLICIT_EM,
        TRAPEZOID,
        IMPLICIT_MILSTEIN,
        ISSEM,
        SKENCARP,
        BAOAB,
        ABOBA,
        ALIGN,
        RI1,
        DRI1,
        NON,
    )
}


_ELSEWHERE = {"em": "EulerMaruyama", "euler": "EulerMaruyama", "srk": "SRIW1"}
"""Names of other packages: of SciML, torchsde and diffrax, torchsde."""


def find_scheme(name):
    """The method called `name`; raises ArgumentError, with those that exist, where there is none."""
    if isinstance(name, str) and name in METHODS:
        return METHODS[name]
    lower = {**{known.lower(): known for known in METHODS}, **_ELSEWHERE}
    near = get_close_matches(str(name).lower(), lower, n=1)
    meant = f" (did you mean {lower[near[0]]!r}?)" if near else ""
    raise ArgumentError(f"method {name!r} does not exist{meant}; available: {', '.join(METHODS)}")
