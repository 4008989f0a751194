"""Whether the problem looks stiff where an explicit method gave up.

It does where stability, not accuracy, kept the steps short: where the fastest motion of the system
decays, at a rate rho, and |h| rho is about the bound of the method's stability region, over an
interval of many 1/rho. The rate comes from the power method on differences of the right-hand side,
as in B. P. Sommeijer, L. F. Shampine, J. G. Verwer, "RKC: an explicit solver for parabolic PDEs",
Journal of Computational and Applied Mathematics 88 (1998) 315-326, section 2.3. It runs only after
a failure; E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", IV.2, look at each step.
"""

import math

from numbad.ode.compiling import inlined
from numbad.ode.control import smaller
from numbad.ode.state import combine, keep, make_mean_square

ITERATIONS = 20
# Perturbations, in units of the error tolerated.
PERTURBATION = 10.0
# Steps are a part of what stability allows, since the control holds back, and after a rejection.
SHARE_OF_BOUND = 0.25
# How many times 1/rho still lie ahead, at least.
LONG = 100.0


def make_looks_stiff(tableau, fun, evaluate, spare):
    """The compiled `looks_stiff(work, t, y, k0, h, t_end, structure, args, settings)`."""
    least = SHARE_OF_BOUND * tableau.stability_bound
    mean_square = make_mean_square(False)

    @inlined
    def looks_stiff(work, t, y, k0, h, t_end, structure, args, settings):
        rtol, atol = settings.rtol, settings.atol
        v = keep(work[1], k0)
        size = math.sqrt(mean_square((1.0,), (v,), y, y, rtol, atol))
        slowest, decays = math.inf, True
        for iteration in range(ITERATIONS):
            scale = PERTURBATION / size
            shifted = combine(work[spare], y, scale, (1.0,), (v,))
            slope = evaluate(fun, work[spare + 1], t, shifted, structure, args)
            size = math.sqrt(mean_square((1.0, -1.0), (slope, k0), y, y, rtol, atol))
            rho = size / PERTURBATION
            # (|x + J x / rho| / |x|)**2: 0 where J x = -rho x, 4 where J x = rho x, and 2 or more in
            # one of two iterations, where x goes round
            weights = (scale, 1.0 / rho, -1.0 / rho)
            lean = mean_square(weights, (v, slope, k0), y, y, rtol, atol) / PERTURBATION**2
            if iteration >= ITERATIONS // 2:
                slowest = smaller(rho, slowest)
                decays = decays and lean < 1.0
            v = combine(work[1], slope, -1.0, (1.0,), (k0,))
        return decays and abs(h) * slowest > least and abs(t_end - t) * slowest > LONG

    return looks_stiff
