"""SciPy's special functions in nopython code, differentiable by both modes and to every order.

Most are SciPy's own ufuncs, which Numba compiles once this module is loaded, under either name; from
Python they are called as ever. `docs/special.md` lists them, by which arguments they are
differentiated, and how accurately.

>>> import numbad as nd
>>> from numba import njit
>>> @njit
... def f(x):
...     return nd.special.gammaln(x) * nd.special.jv(0.5, x)
>>> print(f"{nd.derivative(f)(2.0):.10f}")
0.2168951862
"""

from numba.core.registry import cpu_target
from numba.extending import overload
from scipy.special import (
    airy,
    beta,
    betainc,
    betaincc,
    betaincinv,
    betaln,
    binom,
    boxcox,
    boxcox1p,
    cbrt,
    chdtr,
    chdtrc,
    cosm1,
    dawsn,
    digamma,
    ellipe,
    ellipeinc,
    ellipk,
    ellipkinc,
    ellipkm1,
    elliprd,
    entr,
    erf,
    erfc,
    erfcinv,
    erfcx,
    erfi,
    erfinv,
    exp1,
    exp2,
    exp10,
    expi,
    expit,
    expm1,
    expn,
    exprel,
    fresnel,
    gamma,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    huber,
    hyp0f1,
    hyp1f1,
    hyp2f1,
    i0,
    i0e,
    i1,
    i1e,
    inv_boxcox,
    inv_boxcox1p,
    iv,
    ive,
    j0,
    j1,
    jn,
    jv,
    k0,
    k0e,
    k1,
    k1e,
    kl_div,
    kn,
    kv,
    kve,
    log1p,
    log_expit,
    log_ndtr,
    loggamma,
    logit,
    modstruve,
    ndtr,
    ndtri,
    owens_t,
    poch,
    pseudo_huber,
    psi,
    rel_entr,
    rgamma,
    shichi,
    sici,
    spence,
    stdtr,
    struve,
    wrightomega,
    xlog1py,
    xlogy,
    y0,
    y1,
    yn,
    yv,
)

from ..rules import ship
from ..rules.auxiliary import lambertw_real
from ..rules.special_functions import (
    PARTIALS,
    airy_ai,
    airy_aip,
    airy_bi,
    airy_bip,
    fresnel_c,
    fresnel_s,
    lambertw,
    polygamma,
    shichi_chi,
    shichi_shi,
    sici_ci,
    sici_si,
    spherical_in,
    spherical_jn,
    spherical_kn,
    spherical_yn,
    zeta,
)
from .array_functions import log_softmax, logsumexp, softmax
from .real import hurwitz_zeta, polygamma_of_doubles
from .ufunc_compiling import compile_dispatcher, compile_output, compile_pointer

__all__ = [
    "airy",
    "airy_ai",
    "airy_aip",
    "airy_bi",
    "airy_bip",
    "beta",
    "betainc",
    "betaincc",
    "betaincinv",
    "betaln",
    "binom",
    "boxcox",
    "boxcox1p",
    "cbrt",
    "chdtr",
    "chdtrc",
    "cosm1",
    "dawsn",
    "digamma",
    "ellipe",
    "ellipeinc",
    "ellipk",
    "ellipkinc",
    "ellipkm1",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfi",
    "erfinv",
    "exp1",
    "exp2",
    "exp10",
    "expi",
    "expit",
    "expm1",
    "expn",
    "exprel",
    "fresnel",
    "fresnel_c",
    "fresnel_s",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gammaln",
    "huber",
    "hyp0f1",
    "hyp1f1",
    "hyp2f1",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "inv_boxcox",
    "inv_boxcox1p",
    "iv",
    "ive",
    "j0",
    "j1",
    "jn",
    "jv",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kl_div",
    "kn",
    "kv",
    "kve",
    "lambertw",
    "log1p",
    "log_expit",
    "log_ndtr",
    "log_softmax",
    "loggamma",
    "logit",
    "logsumexp",
    "modstruve",
    "ndtr",
    "ndtri",
    "owens_t",
    "poch",
    "polygamma",
    "pseudo_huber",
    "psi",
    "rel_entr",
    "rgamma",
    "shichi",
    "shichi_chi",
    "shichi_shi",
    "sici",
    "sici_ci",
    "sici_si",
    "softmax",
    "spence",
    "spherical_in",
    "spherical_jn",
    "spherical_kn",
    "spherical_yn",
    "stdtr",
    "struve",
    "wrightomega",
    "xlog1py",
    "xlogy",
    "y0",
    "y1",
    "yn",
    "yv",
    "zeta",
]

_DISPATCHERS = {
    lambertw: lambertw_real,
    polygamma: polygamma_of_doubles,
    zeta: hurwitz_zeta,
}
_OUTPUTS = {
    airy: (airy_ai, airy_aip, airy_bi, airy_bip),
    fresnel: (fresnel_s, fresnel_c),
    sici: (sici_si, sici_ci),
    shichi: (shichi_shi, shichi_chi),
}


def _compile_tuple(ufunc, outputs):
    """Let Numba compile a ufunc of several outputs as the tuple of them."""
    outputs = (*outputs, None, None)[:4]
    first, second, third, fourth = outputs
    if third is None:
        overload(ufunc)(lambda x: lambda x: (first(x), second(x)))
    else:
        overload(ufunc)(lambda x: lambda x: (first(x), second(x), third(x), fourth(x)))


def _compile_all():
    for ufunc, outputs in _OUTPUTS.items():
        for number, output in enumerate(outputs):
            compile_output(output, ufunc.__name__, number, ufunc.nout)
        _compile_tuple(ufunc, outputs)
    for function, dispatcher in _DISPATCHERS.items():
        compile_dispatcher(function, dispatcher)
    known = {*_DISPATCHERS, *(output for outputs in _OUTPUTS.values() for output in outputs)}
    for function in PARTIALS:
        if function not in known and hasattr(function, "nout"):
            compile_pointer(function)
    compile_pointer(elliprd)  # for rules
    ship(PARTIALS)


_compile_all()
# This module may be loaded while Numba infers the types of a function that names it.
if "_toplevel_typing_context" in vars(cpu_target):
    cpu_target.typing_context.refresh()
if "_toplevel_target_context" in vars(cpu_target):
    cpu_target.target_context.refresh()
