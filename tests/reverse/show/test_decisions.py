"""What listings say of the optimisations; run, they give the derivative with and without each of them."""

import functools
import inspect

import numpy as np
import pytest

import numbad as nd
from asv_bench.benchmarks import nearest_centre, problems
from numbad.compilation.caching import SWITCHED_OFF
from numbad.reverse.switches import SWITCHES, without
from tests.reverse import complex_step
from tests.reverse import listed_functions as functions
from tests.reverse.listed import run


@pytest.fixture(autouse=True)
def everything_on(monkeypatch):
    """Nothing is switched off, whatever this run of the tests is made with."""
    monkeypatch.delenv(SWITCHED_OFF, raising=False)


LISTED = [problem for problem in problems.NAMES if problem != "P3"]  # of P3, the residual


def wrt(problem):
    given = problems.module(problem).ARGNUMS
    return given if isinstance(given, tuple) else (given,)


def small(problem):
    return problems.module(problem).shorten(problems.load()[problem])


@functools.cache
def exact(problem):
    """Value and derivatives by complex step."""
    primal, arguments = problems.module(problem).primal, small(problem)
    (value,) = complex_step.value(primal, arguments)
    derivatives = complex_step.jacobian(primal, arguments, wrt(problem))
    return value, [derivative[0] for derivative in derivatives]


@functools.cache
def listing_of(problem):
    return nd.inspect_adjoint(
        problems.module(problem).primal, *small(problem), argnums=wrt(problem)
    )


def run_problem(listing, problem):
    """The value, and the adjoints of what is differentiated by."""
    names = inspect.signature(problems.module(problem).primal.py_func).parameters
    value, adjoints = run(listing, dict(zip(names, small(problem), strict=True)))
    return value, [adjoints[list(names)[k]] for k in wrt(problem)]


def assert_exact(listing, problem):
    value, derivatives = exact(problem)
    found, adjoints = run_problem(listing, problem)
    assert found == pytest.approx(value, rel=1e-12)
    for adjoint, derivative in zip(adjoints, derivatives, strict=True):
        scale = abs(derivative).max()
        assert scale > 0.0
        np.testing.assert_allclose(adjoint, derivative, rtol=0, atol=1e-11 * scale)


def sweep(listing, part):
    forward, _, reverse = listing.partition("\nforward sweep\n")[2].partition("\nreverse sweep\n")
    return {"forward": forward, "reverse": reverse}[part]


# -- the problems of the benchmarks --------------------------------------------------------------


@pytest.mark.deep(but=["P1", "P4"])
@pytest.mark.parametrize("problem", LISTED)
def test_running_the_listing_of_a_problem(problem):
    assert_exact(listing_of(problem), problem)


def test_running_the_listing_of_a_residual():
    source = problems.module("P3")
    cams, X, w, obs, feats = small("P3")
    arguments = cams[obs[0, 0]], X[obs[0, 1]], float(w[0]), feats[0]
    names = inspect.signature(source.residual).parameters
    listing = nd.inspect_adjoint(source.residual, *arguments, argnums=source.ARGNUMS)
    jacobians = complex_step.jacobian(source.residual, arguments, source.ARGNUMS)
    for row, seed in enumerate(np.eye(2)):
        _, adjoints = run(listing, dict(zip(names, arguments, strict=True)), seed=seed)
        for k, jacobian in enumerate(jacobians):
            adjoint = list(adjoints.values())[k]
            np.testing.assert_allclose(adjoint, jacobian[row], rtol=1e-11, atol=1e-11)


@pytest.mark.deep
@pytest.mark.parametrize("problem", ["P2", "P4", "P6"])
@pytest.mark.parametrize("switch", SWITCHES)
def test_running_the_listing_without_an_optimisation(switch, problem):
    with without(switch):
        listing = nd.inspect_adjoint(
            problems.module(problem).primal, *small(problem), argnums=wrt(problem)
        )
    assert f"switched off by NUMBAD_REVERSE_OFF\n    {switch}\n" in listing
    assert_exact(listing, problem)


@pytest.mark.deep(but=["P2-*", "P4-reversed*"])
@pytest.mark.parametrize(
    ("problem", "right", "wrong"),
    [
        ("P4", "r_bar += acc_bar * r_bar@30", "r_bar += r_bar@30"),
        ("P4", "reversed(range(nstep))", "range(nstep)"),
        ("P4", "if S_bar != 0.0:", "if S_bar == 0.0:"),
        ("P4", "vp = v if %7 else 0.0", "vp = v"),
        ("P2", "alphas_bar += se_bar * alphas_bar@73", "alphas_bar += alphas_bar@73"),
        ("P2", "reversed(range(i + 1, d))", "reversed(range(i, d))"),
        ("P6", "s_bar = seed@17", "s_bar = 0"),
    ],
)
def test_a_wrong_listing_is_found(problem, right, wrong):
    listing = listing_of(problem)
    assert right in listing
    with pytest.raises((AssertionError, IndexError)):
        assert_exact(listing.replace(right, wrong), problem)


@pytest.mark.deep(but=["P1", "P4"])
@pytest.mark.parametrize("problem", LISTED)
def test_bookkeeping_is_left_out(problem):
    text = listing_of(problem)
    for internal in ("arena", "top_", "range_length", "chosen(", "element(", "scaled(", "$", "|"):
        assert internal not in text


# -- what is told --------------------------------------------------------------------------------


def test_iterations_whose_factor_is_known_later():
    listing = listing_of("P4")
    assert "line 30    one by one " in listing
    assert "only in the sum acc, whose adjoint is\n" in listing
    forward, reverse = sweep(listing, "forward"), sweep(listing, "reverse")
    assert "acc_bar = 1.0\n" in forward
    assert "kap_bar@30 += " in forward
    assert "kap_bar = acc_bar * kap_bar@30\n" in reverse
    assert "# 30  for p in prange(npath):\n" in reverse


def test_nested_loops_that_are_reversed_as_one():
    listing = listing_of("P7")
    head = " ".join(listing.partition("\nforward sweep\n")[0].split())
    assert "line 13 one by one the iterations meet only in the sum s" in head
    assert "line 14 one by one its iterations are those of line 13" in head
    assert "x2_bar[k, i] += s_bar * %2\n" in sweep(listing, "forward")
    assert sweep(listing, "reverse") == "    return (result, (None, None))"


def test_iterations_whose_factor_is_known_before():
    listing = listing_of("P6")
    assert "known before: seed@17\n" in listing
    assert "\n    seed@17 = seed\n" in sweep(listing, "forward")
    assert "_bar[" not in sweep(listing, "reverse")


def test_an_iteration_is_reversed_where_it_ends():
    before, _, after = sweep(listing_of("P4"), "forward").partition("# the iteration backward\n")
    assert "_bar" not in before
    assert "_bar" in after


def test_skipped_loops():
    listing = nd.inspect_adjoint(functions.skipping, np.ones((2, 3)), 0.7)
    assert (
        " ".join(listing.split()).count("; skipped where the adjoints of its results are zero") == 2
    )
    assert "if s_bar != 0.0:    # else the loop adds nothing\n" in listing
    assert "record@248 s, %2" in listing
    with without("skip"):
        listing = nd.inspect_adjoint(functions.skipping, np.ones((2, 3)), 0.7)
    assert "skipped" not in listing
    assert "    record s, %2" in listing


def test_loops_skipped_for_two_results():
    listing = nd.inspect_adjoint(functions.orbit, np.ones(3), 0.5, 4)
    assert "if x_bar != 0.0 or y_bar != 0.0:    # else the loop adds nothing\n" in listing


def test_ranges_are_run_over_backward():
    listing = nd.inspect_adjoint(functions.strided, np.ones(9), 1, 2)
    reverse = sweep(listing, "reverse")
    assert "count@" not in listing
    assert "for k in reversed(range(i, 0, -step)):\n" in reverse
    with without("counted"):
        listing = nd.inspect_adjoint(functions.strided, np.ones(9), 1, 2)
    assert "as a whole  count@266 times" in listing
    assert "count@266 += 1\n" in sweep(listing, "forward")


@pytest.mark.parametrize(
    ("f", "reason"),
    [
        (functions.settled, "an iteration needs y, x of the one before"),
        (functions.backwards, "s is not only added to"),
        (functions.weighted, "nothing is recorded"),
        (functions.newton, "it may be left in the middle"),
        (functions.in_place, "there is no sum that its iterations add to"),
        (functions.listed, "it uses more than numbers and arrays"),
        (functions.nested, "it lies within another one"),
        (functions.running, "an iteration may read what another one has written"),
    ],
)
def test_why_a_loop_is_reversed_as_a_whole(f, reason):
    with without("fused"):
        listing = nd.inspect_adjoint(f, *functions.RUN[f])
    head = listing[: listing.index("\nforward sweep\n")]
    assert " ".join(reason.split()) in " ".join(head.split())
    assert "one by one" not in head


def test_that_it_is_switched_off():
    with without("independent"):
        listing = nd.inspect_adjoint(functions.skipping, np.ones((2, 3)), 0.7)
    assert "reversing one by one is switched off\n" in listing
    assert "switched off" not in nd.inspect_adjoint(functions.skipping, np.ones((2, 3)), 0.7)


def test_arrays_that_are_added_to_as_a_whole():
    def same(a, x):
        a[0] *= x
        return a

    listing = nd.inspect_adjoint(same, np.array([2.0, 3.0]), 5.0)
    arguments = {"a": np.array([2.0, 3.0]), "x": 5.0}
    _, adjoints = run(listing, arguments, seed=np.array([7.0, 11.0]))
    np.testing.assert_array_equal(adjoints["a"], [35.0, 11.0])
    assert adjoints["x"] == 14.0


@pytest.mark.deep
def test_a_loop_that_is_run_again():
    assert "run again   over its range  its state out is kept at the start" in listing_of("P5")
    source = problems.module("P5")
    with without("replay"):
        listing = nd.inspect_adjoint(source.primal, *small("P5"), argnums=wrt("P5"))
    assert "run again" not in listing
    assert_exact(listing, "P5")


def test_the_iteration_that_chose():
    listing = nd.inspect_adjoint(nearest_centre.by_branch, np.ones((2, 3)), np.ones((4, 3)))
    assert "best is what one iteration chose: the last one that did is reversed" in " ".join(
        listing.split()
    )
    assert "last@22 = count@22\n" in listing
    assert "new@22 = True\n" in listing
    with without("selected"):
        listing = nd.inspect_adjoint(nearest_centre.by_branch, np.ones((2, 3)), np.ones((4, 3)))
    assert "@22" not in listing.replace("record@22", "").replace("reload@22", "")
