"""What NVIDIA's assembler says of the kernels of ensembles: no GPU is needed.

    python -m asv_bench.benchmarks.cuda_registers

prints a table in Markdown: registers of a thread of every method in its default passes, and the bytes that
it spills where it does.
"""

import importlib.util
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

TARGET = (9, 0)
ROBERTSON = 0.04, 1e4, 3e7
ENDS, WITHIN = (0.0, 1.0), (0.0, 0.3, 1.0)


def lorenz(t, y, sigma, rho, beta):
    return sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]


def robertson(t, y, a, b, c):
    slow, back, fast = a * y[0], b * y[1] * y[2], c * y[1] * y[1]
    return -slow + back, slow - back - fast, fast


def stand_in():
    """Let device functions compile where there is no GPU to ask for its capability."""
    from numba import cuda
    from numba.cuda import dispatcher

    if not cuda.is_available():
        device = type("Device", (), {"compute_capability": TARGET})
        dispatcher.get_current_device = lambda: device


def assembler():
    """The path of `ptxas`, or None."""
    places = importlib.util.find_spec("nvidia")
    roots = map(Path, places.submodule_search_locations if places else ())
    found = [path for root in roots for path in root.glob("**/bin/ptxas")]
    return shutil.which("ptxas") or (found[0] if found else None)


def assembled(ptx):
    """Registers of a thread and bytes spilled; None without NVIDIA's assembler."""
    ptxas = assembler()
    if ptxas is None:
        return None, None
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx)
        target = re.search(r"\.target (\w+)", ptx)[1]
        command = [ptxas, "-v", f"-arch={target}", source, "-o", Path(folder, "kernel.cubin")]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    spilled = map(int, re.findall(r"(\d+) bytes spill", told))
    return max(map(int, re.findall(r"Used (\d+) registers", told))), sum(spilled)


def kernels_of(solve, y0s, args, keys, precision, by, ts=ENDS, loss=None):
    """The kernels of all passes of an ensemble; with a loss of the way there, the loss, the way back."""
    from numbad.cuda.trajectories.accelerator import Accelerator
    from numbad.cuda.trajectories.ensemble_call import Request, plan_of

    plan = plan_of(solve)
    request = Request(plan, Accelerator(), y0s, args, keys, precision, by, loss=loss)
    return request.kernels(plan.times(ts, precision))


def seconds_to_compile(kernel):
    """The PTX of a kernel, and the processor's time that it took."""
    start = time.process_time()
    ptx = kernel.ptx(TARGET)
    return ptx, time.process_time() - start


def problem(method):
    """The solver and what it is given, of the stiff methods Robertson's."""
    import numbad as nd

    step = {"first_step": 0.001} if method in ("Euler", "Heun", "RK4") else {}
    if method.startswith("Ro"):
        return (
            nd.ode.solver(robertson, method=method, rtol=1e-5),
            np.array([[1.0, 0.0, 0.0]]),
            ROBERTSON,
        )
    given = np.array([[1.0, 0.0, 0.0]]), (10.0, np.linspace(0.0, 21.0, 4), 8.0 / 3.0)
    return nd.ode.solver(lorenz, method=method, rtol=1e-5, **step), *given


def cell(method, precision, by, ts):
    """Of one kind of ensemble: "54", or of several passes "98 x 2", or "255 (64 bytes spilled)"."""
    kernels = kernels_of(*problem(method), None, precision, by, ts)
    found = [assembled(kernel.ptx(TARGET)) for kernel in kernels]
    registers, spilled = max(r for r, _ in found), max(s for _, s in found)
    passes = f" x {len(kernels)}" if len(kernels) > 1 else ""
    return f"{registers}{passes}" + (f" ({spilled} bytes spilled)" if spilled else "")


def main():
    """Print the table."""
    from numbad.ode.methods import EXPLICIT, ROSENBROCK

    stand_in()
    if assembler() is None:
        print("no ptxas here: pip install nvidia-cuda-nvcc-cu12")
        return 1
    print("| | outputs | float32 | by 3 numbers | float64 | by 3 numbers |\n" + "| --- " * 6 + "|")
    for method in (method.name for method in EXPLICIT + ROSENBROCK):
        for name, ts in (("the end", ENDS), ("within", WITHIN)):
            kinds = [(p, by) for p in ("float32", "float64") for by in (None, "args")]
            cells = [cell(method, precision, by, ts) for precision, by in kinds]
            print(f"| {method} | {name} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
