"""Ensembles on a GPU: milliseconds and ratios where there is one; registers and instructions in any case.

The Lorenz ensemble of U. Utkarsh et al., CMAME 419 (2024), doi:10.1016/j.cma.2023.116591: t from 0 to 1, rho
from 0 to 21, the end alone; 1000 steps of RK4 ("fixed"), or Tsit5 at 1e-8 ("adaptive"). Geometric Brownian
motion by Euler's method in 100 steps; Heston's model, with derivatives by its seven numbers. Beside the fixed
steps stands a kernel written by hand. Without a GPU nothing is timed but the compiler: the table then tells
what the assembler says of the kernels for `TARGET`.
"""

import argparse
import importlib.util
import math
import re
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

TARGET = (9, 0)
TRAJECTORIES = 8_388_608
PATHS = 2**25
REPEATS = 5
# Milliseconds for the trajectories above on an H100, and ratios; None: told for information.
BARS = {
    ("fixed", "float32"): 45.0,
    ("adaptive", "float32"): 20.0,
    ("fixed", "float64"): 90.0,
    ("adaptive", "float64"): 40.0,
    "fixed, 3 partials over the value": 5.5,
    "adaptive, 3 partials over the value": 4.5,
    "over the kernel written by hand": 1.15,
    "Heston, 7 derivatives over the price": 2.0,
}
NORMALS_A_SECOND = 1e11


def lorenz(t, y, sigma, rho, beta):
    return sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]


def heston_drift(t, y, rate, kappa, theta, xi, rho):
    return rate * y[0], kappa * (theta - y[1])


def heston_diffusion(t, y, rate, kappa, theta, xi, rho):
    root = math.sqrt(max(y[1], 1e-8))
    return (root * y[0], 0.0), (rho * xi * root, math.sqrt(1.0 - rho**2) * xi * root)


def solvers():
    """What is integrated, by name."""
    import numbad as nd

    return {
        "fixed": nd.ode.solver(lorenz, method="RK4", first_step=0.001),
        "adaptive": nd.ode.solver(lorenz, rtol=1e-8, atol=1e-8),
        "GBM": nd.sde.solver(lambda t, y, r, v: r * y, lambda t, y, r, v: v * y, dt=0.01),
        "Heston": nd.sde.solver(heston_drift, heston_diffusion, noise="general", dt=0.01),
    }


def given(name, count, array=np.asarray):
    """Initial states, arguments and keys of an ensemble; `array` brings one to where it is wanted."""
    import numbad as nd

    if name == "GBM":
        return array(np.ones(count)), (0.05, 0.2), nd.random.key(1)
    if name == "Heston":
        args = 0.03, 2.0, 0.09, 0.3, -0.7
        return array(np.tile([100.0, 0.09], (count, 1))), args, nd.random.key(1)
    rho = array(np.linspace(0.0, 21.0, count))
    return array(np.array([[1.0, 0.0, 0.0]])), (10.0, rho, 8.0 / 3.0), None


# -- without a GPU ----------------------------------------------------------------------------------


def stand_in():
    """Let device functions compile where there is no GPU to ask for its capability."""
    from numba.cuda import dispatcher

    device = type("Device", (), {"compute_capability": TARGET})
    dispatcher.get_current_device = lambda: device


def assembled(ptx):
    """Registers of a thread and bytes spilled; None without NVIDIA's assembler."""
    places = importlib.util.find_spec("nvidia")
    roots = map(Path, places.submodule_search_locations if places else ())
    found = [root / "cuda_nvcc/bin/ptxas" for root in roots]
    found = [path for path in found if path.exists()]
    if not found:
        return None, None
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx)
        target = re.search(r"\.target (\w+)", ptx)[1]
        command = [found[0], "-v", f"-arch={target}", source, "-o", Path(folder, "kernel.cubin")]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    spilled = map(int, re.findall(r"(\d+) bytes spill", told))
    return max(map(int, re.findall(r"Used (\d+) registers", told))), sum(spilled)


def kernel_of(name, precision, by):
    """The first kernel of an ensemble."""
    from numbad.cuda.trajectories.accelerator import Accelerator
    from numbad.cuda.trajectories.ensemble_call import Request, plan_of

    y0s, args, keys = given(name, 4)
    plan = plan_of(solvers()[name])
    request = Request(plan, Accelerator(), y0s, args, keys, precision, by)
    return request.kernels(plan.times((0.0, 1.0), precision))[0]


def listing():
    """Print registers, spills and instructions of the kernels; 1 where one spills."""
    print(f"kernels for compute capability {TARGET[0]}.{TARGET[1]}, no GPU needed")
    print(
        f"{'':34}{'registers':>10}{'spilled':>9}{'fma':>6}{'mul':>6}{'add':>6}{'compiled in s':>15}"
    )
    worst = 0
    for name in solvers():
        for by in (None, "args"):
            for precision in ("float32", "float64"):
                start = time.process_time()
                ptx = kernel_of(name, precision, by).ptx(TARGET)
                seconds = time.process_time() - start
                registers, spilled = assembled(ptx)
                counts = [
                    len(re.findall(rf"\b{kind}[\w.]*\.f(?:32|64)\b", ptx))
                    for kind in ("fma", "mul", "(?:add|sub)")
                ]
                what = f"{name}, {precision}{', derivatives' if by else ''}"
                numbers = "".join(f"{count:>6}" for count in counts)
                print(f"{what:34}{registers!s:>10}{spilled!s:>9}{numbers}{seconds:>15.1f}")
                worst = max(worst, spilled or 0)
    return int(worst > 0)


# -- on a GPU ---------------------------------------------------------------------------------------


def milliseconds(call):
    """The least time of a call whose result waits for the GPU."""
    call()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return min(times)


def ensemble_time(name, precision, by=None, count=TRAJECTORIES):
    """Milliseconds of an ensemble whose arrays stay on the GPU."""
    from numba import cuda

    import numbad as nd

    y0s, args, keys = given(name, count, lambda a: cuda.to_device(a.astype(precision)))
    solve, ends = solvers()[name], (0.0, 1.0)
    return milliseconds(
        lambda: nd.cuda.ensemble(solve, y0s, ends, args, keys, derivatives=by, precision=precision)
    )


def by_hand(precision):
    """Milliseconds of the fixed steps in a kernel written by hand."""
    from numba import cuda, float32, float64

    real = {"float32": float32, "float64": float64}[precision]
    half, sixth, third, step = real(0.5), real(1.0 / 6.0), real(1.0 / 3.0), real(0.001)
    sigma, beta = real(10.0), real(8.0 / 3.0)

    @cuda.jit(device=True)
    def slope(x, y, z, rho):
        return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

    @cuda.jit
    def kernel(rhos, out):
        i = cuda.grid(1)
        if i < rhos.size:
            rho = rhos[i]
            x, y, z = real(1.0), real(0.0), real(0.0)
            for _ in range(1000):
                a, b, c = slope(x, y, z, rho)
                h = half * step
                d, e, f = slope(x + h * a, y + h * b, z + h * c, rho)
                p, q, r = slope(x + h * d, y + h * e, z + h * f, rho)
                u, v, w = slope(x + step * p, y + step * q, z + step * r, rho)
                x += step * (sixth * a + third * d + third * p + sixth * u)
                y += step * (sixth * b + third * e + third * q + sixth * v)
                z += step * (sixth * c + third * f + third * r + sixth * w)
            out[0, i], out[1, i], out[2, i] = x, y, z

    rhos = cuda.to_device(np.linspace(0.0, 21.0, TRAJECTORIES).astype(precision))
    out = cuda.device_array((3, TRAJECTORIES), precision)

    def call():
        kernel[-(-TRAJECTORIES // 128), 128](rhos, out)
        cuda.synchronize()

    return milliseconds(call)


def timings():
    """Print the table on the GPU that is there; 1 where a bar is missed."""
    from numba import cuda

    print(f"{cuda.get_current_device().name.decode()}, {TRAJECTORIES:,} trajectories")
    missed = 0

    def told(what, found, bar):
        nonlocal missed
        missed += found > bar
        print(f"{what:52}{found:>10.2f}   must be at most {bar:g}")

    for name in ("fixed", "adaptive"):
        for precision in ("float32", "float64"):
            value = ensemble_time(name, precision)
            told(f"{name}, {precision}, ms", value, BARS[name, precision])
            slopes = ensemble_time(name, precision, "args")
            what = f"{name}, 3 partials over the value"
            told(f"{what}, {precision}", slopes / value, BARS[what])
            if name == "fixed":
                what = "over the kernel written by hand"
                told(f"{what}, {precision}", value / by_hand(precision), BARS[what])
    rate = 1e3 * PATHS * 100 / ensemble_time("GBM", "float32", count=PATHS)
    missed += rate < NORMALS_A_SECOND
    print(
        f"{'GBM, float32, normal numbers a second':52}{rate:>10.1e}   must be {NORMALS_A_SECOND:.0e}"
    )
    price, greeks = (
        ensemble_time("Heston", "float32", by, PATHS // 16) for by in (None, ("y0", "args"))
    )
    what = "Heston, 7 derivatives over the price"
    told(f"{what}, float32", greeks / price, BARS[what])
    return int(missed > 0)


def main():
    """Run what can be run here."""
    try:
        import numbad.cuda  # noqa: F401
    except ImportError as error:
        print(f"no CUDA benchmarks: {error}")
        return 0
    from numba import cuda

    if cuda.is_available():
        return max(listing(), timings())
    stand_in()
    return listing()


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    raise SystemExit(main())
