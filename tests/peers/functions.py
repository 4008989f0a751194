"""SciPy's special functions."""

from .table import GROUPS, Group, each

GROUPS["special of errors"] = Group(
    "a",
    each("special", "erf erfc erfcx erfinv ndtr ndtri log_ndtr dawsn entr expit logit", "a")
    | {"fresnel": "special.fresnel(a)[0]", "fresnel, second": "special.fresnel(a)[1]"},
)

GROUPS["special of gamma"] = Group(
    "a b",
    each("special", "digamma gamma gammaln loggamma", "a")
    | each("special", "beta betaln poch", "a, b")
    | {
        "polygamma": "special.polygamma(2, a)",
        "zeta": "special.zeta(2.5, a)",
        "gammainc": "special.gammainc(1.5, a)",
        "gammaincc": "special.gammaincc(1.5, a)",
        "betainc": "special.betainc(1.5, 2.5, a)",
    },
)

GROUPS["special of Bessel"] = Group(
    "a",
    each("special", "i0 i0e i1 i1e expi spence", "a")
    | {
        "sici": "special.sici(a)[0]",
        "sici, second": "special.sici(a)[1]",
        "hyp1f1": "special.hyp1f1(1.5, 2.5, a)",
        "hyp2f1": "special.hyp2f1(1.5, 2.5, 0.7, a)",
    },
)

GROUPS["special of two"] = Group(
    "a b m",
    each("special", "kl_div rel_entr xlogy xlog1py owens_t boxcox boxcox1p", "a, b")
    | each("special", "logsumexp softmax log_softmax", "m"),
)
