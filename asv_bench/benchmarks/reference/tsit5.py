"""Tsit5 by hand, the practical limit in Numba: one function a system, every scalar in a register.

The source of the function is written out for a right-hand side given as expressions, with PI step
control, the first step of Hairer, Nørsett & Wanner (II.4) and the free interpolant, then compiled.
Coefficients: Ch. Tsitouras, "Runge-Kutta pairs of order 5(4) satisfying only the first column
simplifying assumption", Computers & Mathematics with Applications 62 (2011), 770-775.
"""

import math
import re

from numba import njit

COEFFICIENTS = {
    "A21": 161 / 1000,
    "A31": -0.8480655492356988544e-2,
    "A32": 0.3354806554923569885,
    "A41": 2.897153057105493432,
    "A42": -6.359448489975074843,
    "A43": 4.362295432869581411,
    "A51": 5.325864828439256604,
    "A52": -11.74888356406282788,
    "A53": 7.495539342889836208,
    "A54": -0.9249506636175524926e-1,
    "A61": 5.861455442946420029,
    "A62": -12.92096931784710929,
    "A63": 8.159367898576158643,
    "A64": -0.7158497328140099722e-1,
    "A65": -0.2826905039406838291e-1,
    "B1": 0.9646076681806522952e-1,
    "B2": 0.01,
    "B3": 0.4798896504144995748,
    "B4": 1.379008574103741893,
    "B5": -3.290069515436080680,
    "B6": 2.324710524099773982,
    "E1": 0.9646076681806522952e-1 - 0.9468075576583945807e-1,
    "E2": 0.01 - 0.9183565540343253097e-2,
    "E3": 0.4798896504144995748 - 0.4877705284247615707,
    "E4": 1.379008574103741893 - 1.234297566930478986,
    "E5": -3.290069515436080680 + 2.707712349983525455,
    "E6": 2.324710524099773982 - 1.866628418170587036,
    "E7": -1 / 66,
    "C2": 0.161,
    "C3": 0.327,
    "C4": 0.9,
    "C5": 0.9800255409045096857,
}

INTERPOLANT = """
        th=(ts[js]-t)/h; th2=th*th
        c1=-1.0530884977290216*th*(th-1.3299890189751412)*(th2-1.4364028541716351*th+0.7139816917074209)
        c2=0.1017*th2*(th2-2.1966568338249754*th+1.2949852507374631)
        c3=2.490627285651252793*th2*(th2-2.38535645472061657*th+1.57803468208092486)
        c4=-16.54810288924490272*(th-1.21712927295533244)*(th-0.61620406037800089)*th2
        c5=47.37952196281928122*(th-1.203071208372362603)*(th-0.658047292653547382)*th2
        c6=-34.87065786149660974*(th-1.2)*(th-0.666666666666666667)*th2
        c7=2.5*(th-1)*(th-0.6)*th2
"""

STAGES = (
    (2, "C2*h", ("A21",)),
    (3, "C3*h", ("A31", "A32")),
    (4, "C4*h", ("A41", "A42", "A43")),
    (5, "C5*h", ("A51", "A52", "A53", "A54")),
    (6, "h", ("A61", "A62", "A63", "A64", "A65")),
    (7, "h", ("B1", "B2", "B3", "B4", "B5", "B6")),
)

LORENZ = ["p0*(y1-y0)", "y0*(p1-y2)-y1", "y0*y1-p2*y2"]
LOTKA_VOLTERRA = ["(p0-p1*y1)*y0", "(p3*y0-p2)*y1"]


def stage(number, state, time, common, rhs):
    """Lines that evaluate `rhs` at `state(i)` into the stage derivatives k<number>_<i>."""

    def at_stage(expression):
        return re.sub(r"\bt\b", "tt", re.sub(r"\by(\d+)\b", r"w\1", expression))

    lines = [f"w{i}={state(i)}" for i in range(len(rhs))] + [f"tt={time}"]
    lines += [at_stage(line) for line in common]
    lines += [f"k{number}_{i}={at_stage(expression)}" for i, expression in enumerate(rhs)]
    return [f"    {line}" for line in lines]


def first_step(n, common, rhs, exponent=0.2):
    """Lines that choose `h` where it was given as zero (Hairer, Nørsett & Wanner, II.4)."""
    norms = [f"sc=atol+rtol*abs(y{i}); d0+=(y{i}/sc)**2; d1+=(k1_{i}/sc)**2" for i in range(n)]
    bends = [f"sc=atol+rtol*abs(y{i}); d2+=((k2_{i}-k1_{i})/sc)**2" for i in range(n)]
    return [
        "  if hfix<=0.0:",
        "    d0=0.0;d1=0.0",
        *(f"    {line}" for line in norms),
        f"    d0=math.sqrt(d0/{n}); d1=math.sqrt(d1/{n})",
        "    h=1e-6 if (d0<1e-5 or d1<1e-5) else 0.01*d0/d1",
        *stage(2, lambda i: f"y{i}+h*k1_{i}", "t+h", common, rhs),
        "    d2=0.0",
        *(f"    {line}" for line in bends),
        f"    d2=math.sqrt(d2/{n})/h; dm=max(d1,d2)",
        f"    h1=max(1e-6,h*1e-3) if dm<=1e-15 else (0.01/dm)**{exponent!r}; h=min(100*h,h1)",
    ]


def stages(common, rhs):
    """Lines of the stages 2 to 7 of a step from y to w."""
    lines = []
    for number, time, weights in STAGES:

        def state(i, weights=weights):
            terms = "+".join(f"{weight}*k{j}_{i}" for j, weight in enumerate(weights, 1))
            return f"y{i}+h*({terms})" if len(weights) > 1 else f"y{i}+h*{terms}"

        lines += stage(number, state, f"t+{time}", common, rhs)
    return lines


def error(n):
    """Lines that leave the scaled error of the step in `er`."""
    lines = ["    er=0.0"]
    for i in range(n):
        terms = "+".join(f"E{j}*k{j}_{i}" for j in range(1, 8))
        lines.append(f"    q=h*({terms})/(atol+rtol*max(abs(y{i}),abs(w{i}))); er+=q*q")
    return [*lines, f"    er=math.sqrt(er*{1.0 / n!r})"]


def dense_output(n):
    """Lines that write the saved points which lie within the step."""
    lines = INTERPOLANT.strip("\n").splitlines()
    for i in range(n):
        terms = "+".join(f"c{j}*k{j}_{i}" for j in range(1, 8))
        lines.append(f"        out[js,{i}]=y{i}+h*({terms})")
    return ["      while js<nt and ts[js]<=tn:", *lines, "        js+=1"]


def source(name, rhs, parameters, common=()):
    """Source of `name(u0, p, ts, out, rtol, atol, hfix) -> (accepted, rejected)`.

    `rhs` holds an expression in y0.., p0.. and t for each component, `common` assignments that they
    share; `hfix` is the first step, 0 for an automatic one.
    """
    n = len(rhs)
    lines = [
        f"def {name}(u0,p,ts,out,rtol,atol,hfix):",
        *(f"  y{i}=u0[{i}]" for i in range(n)),
        *(f"  p{i}=p[{i}]" for i in range(parameters)),
        "  nt=ts.shape[0]; t=ts[0]; tend=ts[nt-1]; nacc=0; nrej=0; js=0; h=hfix; eo=1e-4",
        "  while js<nt and ts[js]<=t:",
        *(f"    out[js,{i}]=y{i}" for i in range(n)),
        "    js+=1",
        "  for _ in range(1):",
        *stage(1, lambda i: f"y{i}", "t", common, rhs),
        *first_step(n, common, rhs),
        "  while t<tend:",
        "    if nacc+nrej>10000000: break",
        "    last=False",
        "    if t+h*(1+1e-12)>=tend:",
        "      h=tend-t; last=True",
        *stages(common, rhs),
        *error(n),
        "    if er<=1.0 or h<1e-14:",
        "      tn=tend if last else t+h",
        *dense_output(n),
        "      t=tn; nacc+=1",
        *(f"      y{i}=w{i}; k1_{i}=k7_{i}" for i in range(n)),
        "      er=max(er,1e-10); f=0.9*math.exp(-0.14*math.log(er)+0.08*math.log(eo))",
        "      eo=max(er,1e-4); h*=min(10.0,max(0.2,f))",
        "    else:",
        "      nrej+=1; h*=max(0.2,0.9*er**-0.2)",
        "  return nacc,nrej",
    ]
    return "\n".join(lines)


def build(name, rhs, parameters, common=()):
    """The compiled function whose source `source` writes."""
    scope = {"math": math, **COEFFICIENTS}
    exec(compile(source(name, rhs, parameters, common), f"<{name}>", "exec"), scope)
    return njit(error_model="numpy")(scope[name])


def lotka_volterra_sensitivities():
    """Right-hand side and common terms of Lotka-Volterra with its six variational equations.

    The state is (u, v, du/da, dv/da, du/db, ..., du/du0, dv/du0, du/dv0, dv/dv0).
    """
    common = ["xy=y0*y1", "jxx=p0-p1*y1", "jxy=-p1*y0", "jyx=p3*y1", "jyy=p3*y0-p2"]
    rhs = ["p0*y0-p1*xy", "p3*xy-p2*y1"]
    sources = [("y0", ""), ("-xy", ""), ("", "-y1"), ("", "xy"), ("", ""), ("", "")]
    for j, (source_u, source_v) in enumerate(sources):
        u, v = f"y{2 + 2 * j}", f"y{3 + 2 * j}"
        rhs.append(f"jxx*{u}+jxy*{v}" + (f"+({source_u})" if source_u else ""))
        rhs.append(f"jyx*{u}+jyy*{v}" + (f"+({source_v})" if source_v else ""))
    return rhs, common
