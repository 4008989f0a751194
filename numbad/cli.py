"""The command line: `numbad fit`, `numbad example`, `numbad cache`."""

import argparse
import contextlib
import gc
import math
import os
import shutil
import sys
from pathlib import Path

from numbad import __version__
from numbad.compilation import folder
from numbad.errors import ArgumentError, DataError, ModelError, NumbadError
from numbad.interrupts import interruptible
from numbad.models.manual import DESCRIPTION, EPILOG

CONVERGED, NOT_CONVERGED, UNUSABLE, INTERRUPTED = 0, 1, 2, 130
GARBAGE = 100_000
"""Objects made between two collections of garbage; each walks over all that numbad and matplotlib load."""


class _Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message):
        self.exit(UNUSABLE, f"{self.prog}: error: {message} (see '{self.prog} --help')\n")


def main(argv=None):
    """Run the command line and return its exit status.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        0 for a converged fit, 1 for one that did not converge, 2 for unusable input.
    """
    if argv is None:  # the process is ours
        gc.set_threshold(GARBAGE)
    arguments = _parser().parse_args(argv)
    command = f"numbad {arguments.command}"
    try:
        with interruptible:
            return arguments.run(arguments)
    except NumbadError as error:
        print(f"{command}: error: {_one_line(error)}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        kept = getattr(arguments, "journal", None)
        more = f"; the starts that finished are in {kept}, run it again to go on" if kept else ""
        print(f"\n{command}: interrupted{more}", file=sys.stderr)
        return INTERRUPTED


def _parser():
    parser = _Parser(prog="numbad", description="Derivatives of Numba code, put to work.")
    parser.add_argument("--version", action="version", version=f"numbad {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_fit(commands)
    _add_example(commands)
    _add_cache(commands)
    return parser


def _add_fit(commands):
    fit = commands.add_parser(
        "fit",
        help="fit an ODE or an SDE to data; without arguments, predator and prey to the Hudson Bay counts",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    fit.set_defaults(run=_fit)
    files = fit.add_argument_group("what is fitted, and where the results go")
    files.add_argument("--model", metavar="FILE", help="a model file, see below")
    files.add_argument("--data", metavar="FILE", help="a data file, see below")
    files.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        default=Path(),
        help="write MODEL.png and MODEL.json here (default: the current directory)",
    )
    files.add_argument("--time", metavar="COLUMN", help="the column of times (default: the first)")
    how = fit.add_argument_group("how it is fitted")
    how.add_argument(
        "--scale",
        choices=("linear", "log"),
        help="log: unknowns and observations count by their logarithms",
    )
    how.add_argument(
        "--loss",
        choices=("linear", "soft_l1", "huber", "cauchy", "arctan"),
        help="robust losses give outliers less weight (default: linear, least squares)",
    )
    how.add_argument("--method", help="the ODE method (default: Tsit5)")
    how.add_argument("--rtol", type=_positive, help="relative tolerance of the ODE solver")
    how.add_argument("--atol", type=_positive, help="absolute tolerance of the ODE solver")
    how.add_argument("--max-steps", type=_count, metavar="N", help="give a solve up after N steps")
    how.add_argument(
        "--max-nfev", type=_count, metavar="N", help="give up after N evaluations of the model"
    )
    many = fit.add_argument_group("many starts, for fits that may end in a local minimum")
    many.add_argument(
        "--starts",
        type=_count,
        default=1,
        metavar="N",
        help="fit from N starts, drawn within the bounds; keep the best (default: 1)",
    )
    many.add_argument(
        "--seed", type=int, default=0, help="the seed that starts are drawn with (default: 0)"
    )
    many.add_argument(
        "--workers",
        type=_count,
        default=1,
        metavar="N",
        help="run the starts in N processes (default: 1)",
    )
    many.add_argument(
        "--journal",
        metavar="FILE",
        type=Path,
        help="keep finished starts in FILE; a run that was killed goes on from there",
    )
    show = fit.add_argument_group("what is shown")
    show.add_argument("--no-plot", action="store_true", help="write no picture")
    show.add_argument(
        "--ahead",
        type=_positive,
        metavar="TIME",
        help="of an SDE: draw the paths predicted for so long after the last observation",
    )
    show.add_argument("--no-progress", action="store_true", help="show no progress bar")
    show.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _add_example(commands):
    example = commands.add_parser(
        "example",
        help="write the shipped model and data into a directory, to start from",
        description="Write the shipped model and data into a directory, to start from.",
    )
    example.add_argument("dir", metavar="DIR", type=Path)
    example.set_defaults(run=_example)


def _add_cache(commands):
    text = "tell where compiled code is kept, and how much, or delete it"
    cache = commands.add_parser("cache", help=text)
    cache.add_argument("--clear", action="store_true", help="delete all of it")
    cache.set_defaults(run=_cache)


def _positive(text):
    with contextlib.suppress(ValueError):
        if 0 < float(text) < math.inf:
            return float(text)
    raise argparse.ArgumentTypeError(f"must be a positive number, not {text!r}")


def _count(text):
    with contextlib.suppress(ValueError):
        if int(text) > 0:
            return int(text)
    raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more, not {text!r}")


def _fit(arguments):
    from numbad.data import HUDSON_BAY, read_table
    from numbad.fit.output import prepare, write
    from numbad.models import PREDATOR_PREY, DiffusionModel, load_model

    if arguments.model and not arguments.data:
        raise ArgumentError("--model needs --data FILE, the observations to fit it to")
    # Many starts have a bar of their own, and two bars would write over one another.
    with _stages(("read", "fit", "write"), _progress(arguments) and arguments.starts == 1) as stage:
        stage("read")
        model = load_model(arguments.model or PREDATOR_PREY)
        table = read_table(arguments.data or HUDSON_BAY)
        options = model.options | _given(arguments)
        time = options.pop("time", table.names[0])
        read = _diffusion if isinstance(model, DiffusionModel) else _equation
        solve, shown = read(model, table, time, options, arguments)
        stem = arguments.out / model.path.stem
        paths = [stem.with_suffix(s) for s in (".json", ".png")[: 2 - arguments.no_plot]]
        prepare(arguments.out, paths)
        stage("fit")
        result = solve()
        stage("write")
        with _told_at_least(result):
            write(result, paths, time, **shown)
    if not arguments.quiet:
        _say(f"{result.summary()}\nwrote {' and '.join(map(str, paths))}")
    if not result.success:
        print(f"numbad fit: the fit did not converge: {result.message}", file=sys.stderr)
    return CONVERGED if result.success else NOT_CONVERGED


def _equation(model, table, time, options, arguments):
    """Return what fits an ODE, and the options of its picture."""
    from numbad.models import assemble

    if arguments.ahead is not None:
        raise ArgumentError(f"--ahead is for stochastic equations, which {model.path} has not")
    problem = assemble(model, table, time=time, scale=options.get("scale", "linear"))
    return lambda: _solve(model, table, problem, options, arguments), {}


def _diffusion(model, table, time, options, arguments):
    """Return what fits an SDE, and the options of its picture."""
    from numbad.fit import Experiment, fit_sde
    from numbad.models import assemble_series

    given = [name for name in _given(arguments) if name not in ("time", "scale")]
    for name in given:
        raise ArgumentError(
            f"--{name.replace('_', '-')} is for ordinary differential equations; {model.path} is stochastic, "
            "and fitted by maximum likelihood"
        )
    if arguments.ahead is not None and (model.by_filter or model.likelihood == "density"):
        raise ArgumentError(f"--ahead is not for likelihood = {model.likelihood!r}")
    scale = options.pop("scale", "linear")
    columns, t, y, experiments = assemble_series(model, table, time=time, scale=scale)
    data = dict(t=t, y=y)
    if experiments:
        parts = [
            Experiment(t[rows], y[rows], args=given, name=name)
            for name, (rows, given) in experiments.items()
        ]
        data = dict(t=None, y=None, experiments=parts)

    def solve():
        with _placed(model, table), _executor(arguments.workers, model) as executor:
            return fit_sde(
                _likelihood(model),
                p0=model.p0,
                **data,
                starts=arguments.starts,
                seed=arguments.seed,
                executor=executor,
                progress=_progress(arguments),
                journal=arguments.journal,
                **options,
            )

    labels = [f"log {name}" for name in columns] if scale == "log" else columns
    return solve, {"labels": labels, "ahead": arguments.ahead}


def _likelihood(model):
    """Return what `fit_sde` takes first."""
    from numbad.random import key
    from numbad.sde import filters, moments, transitions

    given = model.functions
    if model.likelihood == "density":
        return given["density"]
    if model.by_filter:
        own = dict(model.simulation)
        if "seed" in own:
            own["key"] = key(own.pop("seed"))
        by_moments = model.likelihood == "simulated_moments"
        make = moments.simulated if by_moments else getattr(filters, model.likelihood)
        return make(**given, dt=model.dt, **own)
    make = getattr(transitions, model.likelihood)
    return make(given["drift"], given["diffusion"]) if "drift" in given else make


def _progress(arguments):
    return not (arguments.no_progress or arguments.quiet)


@contextlib.contextmanager
def _stages(names, shown):
    """Give a function that moves a bar on to a stage; silent where there is no terminal."""
    if not shown:
        yield lambda name: None
        return
    from tqdm import tqdm

    layout = "{desc:<5} |{bar:30}| {elapsed}"
    with tqdm(total=len(names), bar_format=layout, disable=None, file=sys.stderr) as bar:

        def stage(name):
            bar.set_description_str(name, refresh=False)
            bar.update(names.index(name) - bar.n)
            bar.refresh()

        yield stage
        bar.set_description_str("done", refresh=False)
        bar.update(len(names) - bar.n)


def _given(arguments):
    """Return the options that stand on the command line."""
    names = ("time", "scale", "loss", "method", "rtol", "atol", "max_steps", "max_nfev")
    return {name: value for name in names if (value := getattr(arguments, name)) is not None}


@contextlib.contextmanager
def _told_at_least(result):
    """Print what was found if it cannot be written, --quiet or not: the work may have taken hours."""
    try:
        yield
    except BaseException:
        _say(result.summary())
        raise


def _solve(model, table, problem, options, arguments):
    from numbad.fit import fit_ode

    with _placed(model, table), _executor(arguments.workers, model) as executor:
        data = _data(model, problem)
        return fit_ode(
            model.rhs,
            p0=model.p0,
            fit_y0=model.fit_y0,
            components=model.components,
            observables=model.observables or None,
            observed=problem.observed,
            bounds=model.bounds or None,
            starts=arguments.starts,
            seed=arguments.seed,
            executor=executor,
            progress=_progress(arguments),
            journal=arguments.journal,
            **data,
            **options,
        )


def _data(model, problem):
    """Return the arguments of `fit_ode` about the data: one table, or the rows of each experiment."""
    import numpy as np

    from numbad.fit import Experiment

    if not problem.experiments and not problem.doses:
        return dict(t=problem.t, y=problem.y, y0=model.y0, sigma=problem.sigma)
    parts = problem.experiments or {None: (np.arange(len(problem.t)), {})}
    experiments = []
    for name, (rows, given) in parts.items():
        initial = {key: value for key, value in given.items() if key in model.components}
        experiments.append(
            Experiment(
                problem.t[rows],
                problem.y[rows],
                y0=model.y0 if model.y0 is None else model.y0 | initial,
                args={key: value for key, value in given.items() if key not in initial},
                doses=[(problem.t[i], what, much) for i, what, much in problem.doses if i in rows],
                sigma=problem.sigma and {k: _part(v, rows) for k, v in problem.sigma.items()},
                name=name,
            )
        )
    return dict(t=None, y=None, experiments=experiments)


def _part(sigma, rows):
    return sigma[rows] if hasattr(sigma, "shape") else sigma


@contextlib.contextmanager
def _placed(model, table):
    """Put the file at fault before what the fit has to say."""
    try:
        yield
    except DataError as error:
        if str(error).startswith("journal "):
            raise
        raise DataError(f"{table.path}: {error}") from error
    except NumbadError as error:
        raise ModelError(f"{model.path}: {error}") from error


@contextlib.contextmanager
def _executor(workers, model):
    """Give a pool of processes that know the model, or None for a single worker."""
    if workers == 1:
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # Not forked: a copy of a process that has threads (the progress bar's) may hang.
    pool = ProcessPoolExecutor(
        workers, get_context("spawn"), initializer=_enter_worker, initargs=(str(model.path),)
    )
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _enter_worker(path):
    """Make the functions of a model file known to a worker process."""
    import signal

    from numbad.models import load_model

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it and ends the pool
    load_model(path)


def _example(arguments):
    from numbad.data import HUDSON_BAY
    from numbad.fit.output import prepare
    from numbad.models import PREDATOR_PREY

    directory = arguments.dir
    targets = [directory / source.name for source in (PREDATOR_PREY, HUDSON_BAY)]
    prepare(directory, targets)
    for target in targets:
        if target.exists():
            raise DataError(f"{target} is there already; give another directory")
    for source, target in zip((PREDATOR_PREY, HUDSON_BAY), targets, strict=True):
        shutil.copyfile(source, target)
    _say(
        f"wrote {targets[0]} and {targets[1]}; now run\n"
        f"numbad fit --model {targets[0]} --data {targets[1]} --out {directory}"
    )
    return CONVERGED


def _cache(arguments):
    place = folder.cache_folder()
    if arguments.clear and place is not None:
        _say(f"deleted {folder.clear(place)} entries")
    _say(folder.told(place))
    return CONVERGED


def _say(text):
    """Print to standard output, whose reader may have gone (`numbad fit | head -1`)."""
    try:
        print(text, flush=True)
    except BrokenPipeError:  # leave nothing that would have to be flushed at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _one_line(error):
    return " ".join(str(error).split())
