"""DOP853 by hand, as `tsit5`: every scalar in a register, dense output only in steps with outputs.

E. Hairer, S. P. Nørsett, G. Wanner, "Solving Ordinary Differential Equations I", II.5, II.6, II.10;
coefficients from SciPy. The step control is that of `tsit5`, with exponents for order 8.
"""

import math

from numba import njit
from scipy.integrate._ivp import dop853_coefficients as table

from .tsit5 import first_step, stage

LAST = 12  # stages of a step; the slope at its end is the 13th


def weighted(weights, i):
    """The sum of weight * slope over the slopes of component i, as an expression."""
    terms = [f"{float(weight)!r}*k{j}_{i}" for j, weight in enumerate(weights, 1) if weight != 0.0]
    return "+".join(terms).replace("+-", "-")


def stages(numbers, common, rhs):
    """Lines of the stages of these numbers, from the row of A for each."""
    lines = []
    for number in numbers:
        row, c = table.A[number - 1], float(table.C[number - 1])

        def state(i, row=row):
            return f"y{i}+h*({weighted(row, i)})"

        lines += stage(number, state, f"t+{c!r}*h", common, rhs)
    return lines


def error(n):
    """Lines that leave the scaled error of the step in `er`."""
    lines = ["    e5=0.0;e3=0.0"]
    for i in range(n):
        lines += [
            f"    w{i}=y{i}+h*({weighted(table.B, i)})",
            f"    sc=atol+rtol*max(abs(y{i}),abs(w{i}))",
            f"    q=({weighted(table.E5, i)})/sc; e5+=q*q",
            f"    q=({weighted(table.E3, i)})/sc; e3+=q*q",
        ]
    return [*lines, f"    er=0.0 if e5==0.0 else h*e5/math.sqrt((e5+0.01*e3)*{float(n)!r})"]


def dense_output(n, common, rhs):
    """Lines that write the saved points which lie within the step, at `w` in the end."""
    lines = ["      if js<nt and ts[js]<=tn:"]
    lines += [f"    {line}" for line in stages((14, 15, 16), common, rhs)]
    for i in range(n):
        lines += [
            f"        f0_{i}=v{i}-y{i}; f1_{i}=h*k1_{i}-f0_{i}",
            f"        f2_{i}=2.0*f0_{i}-h*(k13_{i}+k1_{i})",
            *(f"        f{3 + m}_{i}=h*({weighted(row, i)})" for m, row in enumerate(table.D)),
        ]
    lines += ["        while js<nt and ts[js]<=tn:", "          x=(ts[js]-t)/h; z=1.0-x"]
    for i in range(n):
        form = f"f6_{i}"
        for m in range(5, -1, -1):
            form = f"(f{m}_{i}+{'x' if m % 2 else 'z'}*{form})"
        lines.append(f"          out[js,{i}]=y{i}+x*{form}")
    return [*lines, "          js+=1"]


def source(name, rhs, parameters, common=()):
    """Source of `name(u0, p, ts, out, rtol, atol, hfix) -> (accepted, rejected)`, see `tsit5`."""
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
        *first_step(n, common, rhs, exponent=1 / 8),
        "  while t<tend:",
        "    if nacc+nrej>10000000: break",
        "    last=False",
        "    if t+h*(1+1e-12)>=tend:",
        "      h=tend-t; last=True",
        *stages(range(2, LAST + 1), common, rhs),
        *error(n),
        "    if er<=1.0 or h<1e-14:",
        "      tn=tend if last else t+h",
        *(f"      v{i}=w{i}" for i in range(n)),
        *(f"  {line}" for line in stage(13, lambda i: f"v{i}", "tn", common, rhs)),
        *dense_output(n, common, rhs),
        "      t=tn; nacc+=1",
        *(f"      y{i}=v{i}; k1_{i}=k13_{i}" for i in range(n)),
        "      er=max(er,1e-10); f=0.9*math.exp(-0.0875*math.log(er)+0.05*math.log(eo))",
        "      eo=max(er,1e-4); h*=min(10.0,max(0.2,f))",
        "    else:",
        "      nrej+=1; h*=max(0.2,0.9*er**-0.125)",
        "  return nacc,nrej",
    ]
    return "\n".join(lines)


def build(name, rhs, parameters, common=()):
    """The compiled function whose source `source` writes."""
    scope = {"math": math}
    exec(compile(source(name, rhs, parameters, common), f"<{name}>", "exec"), scope)
    return njit(error_model="numpy")(scope[name])
