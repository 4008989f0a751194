"""The command line: what it writes, what it says, and its exit status."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import curve_fit

from numbad.cli import main
from numbad.data import HUDSON_BAY
from numbad.models import PREDATOR_PREY
from tests.command_line import COOLING, TEA, complaint, files, saved

__all__ = ["files"]  # a fixture

PUBLISHED = {
    "prey_growth": (0.54016, 0.0595),
    "predation": (0.027165, 0.00384),
    "predator_death": (0.79639, 0.0839),
    "conversion": (0.023695, 0.00329),
    "hare(1900)": (34.602, 2.93),
    "lynx(1900)": (5.8445, 0.479),
}


def test_the_main_job(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["fit"]) == 0
    captured = capsys.readouterr()
    for name, (value, stderr) in PUBLISHED.items():
        assert name in captured.out
        assert f"{value:#.5g}" in captured.out
        assert f"{stderr:#.3g}" in captured.out
    assert "predator_prey.png" in captured.out
    assert (tmp_path / "predator_prey.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads((tmp_path / "predator_prey.json").read_text())
    for name, (value, stderr) in PUBLISHED.items():
        assert found["params"][name] == pytest.approx(value, rel=1e-4)
        assert found["stderr"][name] == pytest.approx(stderr, rel=5e-3)


@pytest.mark.dear
def test_a_model_of_ones_own(files, capsys):
    """The estimates are those of scipy.optimize.curve_fit with the solution in closed form."""
    assert main([*files(), "--out", "results/today"]) == 0
    captured = capsys.readouterr()
    assert "rate" in captured.out
    found = saved("results/today/cooling.json")
    assert found["params"]["rate"] == pytest.approx(0.095228, rel=1e-4)
    assert found["params"]["room"] == pytest.approx(19.6087, rel=1e-4)
    assert found["params"]["tea(0)"] == pytest.approx(83.1921, rel=1e-4)
    assert not Path("results/today/cooling.png").exists()


@pytest.mark.dear
def test_the_example_can_be_fitted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["example", "mine"]) == 0
    assert (tmp_path / "mine/hudson_bay.csv").read_bytes() == HUDSON_BAY.read_bytes()
    command = capsys.readouterr().out.splitlines()[-1].split()
    assert command[0] == "numbad"
    assert main([*command[1:], "--no-plot", "--quiet"]) == 0
    found = json.loads((tmp_path / "mine/predator_prey.json").read_text())
    assert found["params"]["prey_growth"] == pytest.approx(0.54016, rel=1e-4)

    capsys.readouterr()
    assert main(["example", "mine"]) == 2
    assert "is there already" in complaint(capsys)


@pytest.mark.dear
def test_quiet_prints_nothing(files, capsys):
    assert main([*files(), "--quiet"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_progress_can_be_left_out(files, capsys):
    assert main([*files(), "--no-progress"]) == 0
    captured = capsys.readouterr()
    assert "rate" in captured.out
    assert captured.err == ""


def test_options_outrank_the_model_file(files):
    assert main([*files(COOLING + "scale = 'log'"), "--quiet"]) == 0
    on_log = saved()["params"]
    assert main([*files(COOLING + "scale = 'log'"), "--quiet", "--scale", "linear"]) == 0
    on_linear = saved()["params"]
    assert main([*files(), "--quiet"]) == 0
    assert on_linear == saved()["params"]
    assert on_log["room"] != pytest.approx(on_linear["room"], rel=1e-4)


def test_missing_observations(files):
    assert main([*files(data=TEA.replace("59.8", "").replace("28.6", "NaN")), "--quiet"]) == 0
    found = saved()
    assert found["params"]["rate"] == pytest.approx(0.095, abs=0.003)


BOUNDS = "bounds = dict(rate=(0.01, 1.0), room=(1.0, 50.0), tea=(20.0, 200.0))\n"


@pytest.mark.deep(but=["1"])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_many_starts_and_a_journal(files, workers):
    arguments = [*files(COOLING + BOUNDS), "--quiet", "--starts", "4", "--seed", "3"]
    assert main([*arguments, "--workers", workers, "--journal", "starts.jsonl"]) == 0
    found = saved()["params"]
    assert found["rate"] == pytest.approx(0.095228, rel=1e-4)
    journal = Path("starts.jsonl").read_text()
    assert journal.count("\n") >= 4
    assert main([*arguments, "--journal", "starts.jsonl"]) == 0
    assert Path("starts.jsonl").read_text() == journal  # nothing is repeated
    assert saved()["params"] == found


def test_a_fit_that_does_not_converge(files, capsys):
    assert main([*files(), "--no-progress", "--max-nfev", "2"]) == 1
    captured = capsys.readouterr()
    assert "rate" in captured.out
    assert "did not converge" in captured.err
    assert saved()["success"] is False


def test_the_first_observation_starts_the_solution(files):
    model = COOLING.replace("y0 = dict(tea=80.0)", "components = ['tea']")
    assert main([*files(model.replace("fit_y0 = True", "")), "--quiet"]) == 0
    assert set(saved()["params"]) == {"rate", "room"}
    assert main([*files(model), "--quiet"]) == 0
    assert saved()["params"]["tea(0)"] == pytest.approx(83.1, abs=0.5)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (TEA.replace("59.8", "warm"), "cooling.csv, line 4, column 'tea': 'warm' is not a number"),
        (TEA.replace("\n5,", "\n,"), "cooling.csv, line 4, column 'minute': is missing"),
        (TEA.replace("tea", "milk"), "cooling.csv, line 1: no column is named like a component"),
        ("minute,tea\n", "cooling.csv, line 1: no rows of data"),
        (TEA.replace("59.8", "inf"), "cooling.csv, line 4, column 'tea': 'inf' is not finite"),
        (TEA.replace("59.8", "59.8,1"), "cooling.csv, line 4: 3 cells where the header"),
        ("minute,tea,tea\n0,1,1\n", "cooling.csv, line 1, column 'tea': the header has it twice"),
        ("minute,tea\n0,83\n1,80\n", "cooling.csv"),  # fewer observations than unknowns
    ],
)
def test_unusable_data(files, capsys, data, message):
    assert main(files(data=data)) == 2
    assert complaint(capsys).startswith(f"numbad fit: error: {message}")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (COOLING.replace("p0", "start"), "cooling.py: the model file does not define 'p0'"),
        (COOLING.replace("-rate", "-("), "cooling.py, line 2: SyntaxError: "),
        (COOLING.replace("0.1", "float('nan')"), "cooling.py, line 4: p0['rate'] is nan"),
        (COOLING.replace("room=20.0", "hall=20.0"), "cooling.py: "),
        (COOLING.replace("room),)", "room), 0.0)"), "cooling.py: "),
        (COOLING.replace("y[0]", "y[0].upper()"), "cooling.py: "),
        (COOLING + BOUNDS.replace("(1.0, 50.0)", "(1.0, 2.0)"), "cooling.py: "),
        (COOLING + BOUNDS.replace("room", "hall"), "cooling.py: "),
        (COOLING + "method = 'Euler'", "cooling.py: "),
    ],
)
def test_unusable_models(files, capsys, model, message):
    assert main(files(model)) == 2
    assert complaint(capsys).startswith(f"numbad fit: error: {message}")


@pytest.mark.dear
def test_options_of_the_solver_reach_it_from_file_and_command_line(files, capsys):
    model = COOLING + "method = 'RK4'\nfirst_step = 4.0\nmax_steps = 3\n"
    assert main([*files(model), "--quiet", "--max-steps", "30"]) == 0
    solved = saved()["problem"]["solving"]
    assert (solved["method"], solved["first_step"], solved["max_steps"]) == ("RK4", 4.0, 30)
    assert solved["max_step"] == "inf"


CUPS = """\
cup,minute,tea,room,first
blue,0,181.6,19,84
blue,5,139.6,19,84
red,10,91.4,5,70
red,0,156.6,5,70
blue,20,83.5,19,84
red,4,125.6,5,70
red,4,123.8,5,70
"""
SHARED = """\
def rhs(t, y, rate, room):
    return (-rate * (y[0] - room),)

p0 = dict(rate=0.1)
y0 = dict(tea=80.0)
observables = dict(fahrenheit=lambda t, y, rate, room: 32.0 + 1.8 * y[0])
observed = dict(tea="fahrenheit")
experiment = "cup"
conditions = dict(room="room", tea="first")
time = "minute"
sigma = "estimate"
transforms = dict(rate="log")
"""


@pytest.mark.dear
def test_experiments_in_one_file(files, capsys):
    """The estimate is that of scipy.optimize.curve_fit with the solution in closed form."""
    assert main(files(SHARED, CUPS)) == 0
    assert "noise of fahrenheit" in capsys.readouterr().out
    rows = [line.split(",")[1:] for line in CUPS.splitlines()[1:]]
    minute, tea, room, first = np.array(rows, dtype=float).T

    def seen(minute, rate):
        return 32.0 + 1.8 * (room + (first - room) * np.exp(-rate * minute))

    wanted, cov = curve_fit(seen, minute, tea, 0.1)
    found = saved()
    assert found["params"] == {"rate": pytest.approx(wanted[0], rel=1e-5)}
    assert found["stderr"]["rate"] == pytest.approx(np.sqrt(cov[0, 0]), rel=1e-4)
    assert list(found["residuals"]) == ["blue", "red"]
    assert main([*files(SHARED + "fixed = ['rate']", CUPS), "--quiet"]) == 2
    assert complaint(capsys).endswith("nothing to fit, all is fixed: rate\n")
    assert main(files(SHARED, CUPS.replace("123.8,5", "123.8,6"))) == 2
    assert "line 8, column 'room': 6 differs from 5 in line 4" in complaint(capsys)
    assert main(files(SHARED, CUPS.replace("red,0", ",0"))) == 2
    assert "line 5, column 'cup': is empty" in complaint(capsys)


POURED = """\
minute,tea,poured
0,80.0,
2,,10
4,81.3,
8,68.9,
"""


@pytest.mark.dear
def test_doses_in_the_file(files):
    """What is poured in at 2 minutes warms by 10 degrees at once."""
    more = "doses = dict(poured='tea')\n"
    model = COOLING.replace("fit_y0 = True", "fixed = dict(room=20.0)\n" + more)
    assert main([*files(model, POURED), "--quiet"]) == 0
    found = saved()

    def tea(minute, rate):
        later = np.maximum(minute - 2.0, 0.0)
        return 20.0 + 60.0 * np.exp(-rate * minute) + 10.0 * np.exp(-rate * later) * (minute > 2.0)

    wanted, _ = curve_fit(tea, np.array([0.0, 4.0, 8.0]), np.array([80.0, 81.3, 68.9]), 0.1)
    assert found["params"] == {"rate": pytest.approx(wanted[0], rel=1e-5)}
    assert len(found["residuals"]) == 4


def test_numba_s_complaint_names_the_line_of_the_model(files, capsys):
    assert main(files(COOLING.replace("y[0]", "y[0].upper()"))) == 2
    said = complaint(capsys)
    assert "upper" in said
    assert 'cooling.py", line 2' in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "numbad: error: "),
        (["fit", "--model", "cooling.py"], "numbad fit: error: --model needs --data"),
        (["fit", "--data", "none.csv"], "numbad fit: error: none.csv: cannot be read"),
        (["fit", "--starts", "0"], "numbad fit: error: argument --starts: must be a whole"),
        (["fit", "--workers", "two"], "numbad fit: error: argument --workers: must be a whole"),
        (["fit", "--rtol", "-1"], "numbad fit: error: argument --rtol: must be a positive"),
        (["fit", "--scale", "ln"], "numbad fit: error: argument --scale: invalid choice"),
        (["fit", "--no-such-option"], "numbad: error: unrecognized arguments"),
        (["fit", "--out", "file/below"], "numbad fit: error: --out file/below: no such directory"),
        (["fit", "--time", "month"], "numbad fit: error: "),
    ],
)
def test_unusable_arguments(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as stop:
        raise SystemExit(main(arguments))
    assert stop.value.code == 2
    assert complaint(capsys).startswith(message)


@pytest.mark.parametrize("name", ["cooling.json", "cooling.png"])
def test_files_that_cannot_be_written_are_found_before_the_work(
    files, monkeypatch, capsys, tmp_path, name
):
    monkeypatch.setattr("numbad.cli._solve", lambda *_: pytest.fail("the fit was run"))
    (tmp_path / "out" / name).mkdir(parents=True)
    arguments = [a for a in files() if a != "--no-plot"]
    assert main([*arguments, "--out", "out"]) == 2
    said = complaint(capsys)
    assert said.startswith(f"numbad fit: error: {Path('out') / name}: cannot be written (")
    assert os.listdir("out") == [name]


def test_a_file_of_the_users_is_not_written_over(files, capsys, tmp_path):
    mine = tmp_path / "cooling.json"
    for text in ('{"settings": 1}', "[1, 2", "3"):
        mine.write_text(text)
        assert main(files()) == 2
        assert "cooling.json is there already, and is no fit of numbad's" in complaint(capsys)
        assert mine.read_text() == text
    mine.write_text('{"numbad fit": 2}')
    assert main(files()) == 0
    assert main(files()) == 0  # its own


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_others_own_is_found_before_the_work(files, capsys, tmp_path):
    (tmp_path / "out").mkdir(mode=0o500)
    assert main([*files(), "--out", "out"]) == 2
    assert "out/cooling.json: cannot be written (Permission denied)" in complaint(capsys)


@pytest.mark.deep(but=["True"])
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("quiet", [False, True])
def test_a_full_disk_does_not_lose_the_estimates(files, capsys, tmp_path, quiet):
    (tmp_path / "cooling.json").symlink_to("/dev/full")
    assert main([*files(), *["--quiet"] * quiet]) == 2
    captured = capsys.readouterr()
    assert "0.09522" in captured.out  # the rate
    assert captured.err.startswith("numbad fit: error: cooling.json: cannot be written (No space")


def test_a_picture_that_fails_does_not_lose_the_estimates(files, capsys, monkeypatch):
    def plot(*_, **__):
        raise MemoryError

    monkeypatch.setattr("numbad.fit.result.FitResult.plot", plot)
    with pytest.raises(MemoryError):
        main([a for a in files() if a != "--no-plot"])
    assert "0.09522" in capsys.readouterr().out
    assert saved()["params"]["rate"] == pytest.approx(0.095228, rel=1e-4)


def numbad(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "numbad", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_version():
    process = numbad("--version")
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert out.startswith("numbad 0.")


@pytest.mark.dear
@pytest.mark.skipif(os.name != "posix", reason="closes a pipe early")
def test_a_reader_that_leaves_early(tmp_path):
    with numbad("example", "mine", cwd=tmp_path) as process:
        process.stdout.close()
        assert process.wait(timeout=120) == 0
        assert process.stderr.read() == ""


@pytest.mark.dear
def test_exit_status_of_the_process(tmp_path):
    process = numbad("fit", "--data", "none.csv", cwd=tmp_path)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert err == "numbad fit: error: none.csv: cannot be read (No such file or directory)\n"


@pytest.mark.dear
@pytest.mark.deep(but=["2"])
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_interrupt(tmp_path, workers):
    """Control-C ends the process and its workers, in one line."""
    arguments = ("--starts", "2000", "--workers", workers, "--journal", "starts.jsonl")
    # A shell has what it starts in the background ignore the signal, and its children inherit that.
    heeding = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = numbad("fit", *arguments, cwd=tmp_path, start_new_session=True, preexec_fn=heeding)
    journal = tmp_path / "starts.jsonl"
    deadline = time.monotonic() + 300
    while not (journal.exists() and journal.read_text().count("\n") > 5):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # what a terminal does
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in err
    last = err.splitlines()[-1]
    assert last.startswith("numbad fit: interrupted; the starts that finished are in starts.jsonl")


def test_an_interrupt_while_compiled_code_raises(tmp_path, monkeypatch, capsys):
    """Numba then gives a SystemError of which the interrupt is the cause."""

    def raise_interrupt(*arguments, **options):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as interrupt:
            raise SystemError("returned a result with an exception set") from interrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("numbad.fit.fit_ode", raise_interrupt)
    assert main(["fit", "--no-progress"]) == 130
    assert capsys.readouterr().err == "\nnumbad fit: interrupted\n"


def test_other_system_errors_are_not_hidden(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise SystemError("a defect")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("numbad.fit.fit_ode", fail)
    with pytest.raises(SystemError, match="a defect"):
        main(["fit", "--no-progress"])


def test_the_shipped_model_is_what_runs_by_default(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    explicit = ["fit", "--model", str(PREDATOR_PREY), "--data", str(HUDSON_BAY)]
    results = []
    for arguments in (["fit"], explicit):
        assert main([*arguments, "--no-plot", "--quiet"]) == 0
        results.append(json.loads((tmp_path / "predator_prey.json").read_text())["params"])
    assert results[0] == results[1]
