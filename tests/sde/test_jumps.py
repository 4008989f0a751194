"""Jumps: Poisson's law, thinning, slopes by their sizes, slopes by rates by weights."""

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import numbad as nd
from numbad.random.box_muller import open_unit
from numbad.sde.poisson import candidate

KEY = nd.random.key(31)
RATE = 2.5


@njit
def _still(t, y):
    return 0.0


@njit
def _counted(t, y, mark):
    return y + 1.0


COUNT = nd.sde.solver(_still, _still, noise="additive", dt=0.25, jumps=nd.sde.jumps(RATE, _counted))


@njit
def _counts(key, paths):
    out = np.empty((paths, 3))
    for p in range(paths):
        out[p] = COUNT(0.0, (0.0, 0.6, 2.0), (), (key, p))[:, 0]
    return out


@pytest.mark.dear
def test_numbers_of_jumps_have_poissons_law():
    """In two intervals that meet within a step: independent, with the right means."""
    ys = _counts(KEY, 4000)
    first, second = ys[:, 1], ys[:, 2] - ys[:, 1]
    for numbers, mean in ((first, 0.6 * RATE), (second, 1.4 * RATE)):
        found = np.bincount(numbers.astype(int), minlength=9)
        most = len(found)
        expected = 4000 * stats.poisson.pmf(np.arange(most), mean)
        large = expected > 5
        chi2 = ((found - expected)[large] ** 2 / expected[large]).sum()
        assert chi2 < stats.chi2.ppf(0.999, large.sum())
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.05


def test_jumps_are_functions_of_key_and_time():
    """Outputs change nothing elsewhere, and a path goes on where it ended."""
    refined_times, some = np.array([0.0, 0.1, 0.3, 1.0, 1.9, 2.0]), []
    for path in range(30):
        key = KEY, path
        whole = COUNT(0.0, np.array([0.0, 1.0, 2.0]), (), key)[:, 0]
        refined = COUNT(0.0, refined_times, (), key)[:, 0]
        later = COUNT(0.0, np.array([1.0, 2.0]), (), key)[:, 0]
        assert (refined[[0, 3, 5]] == whole).all()
        assert later[1] == whole[2] - whole[1]
        some.append(refined[1] + refined[4] - refined[3])
    assert 40 < sum(some) < 120  # 75 on average


def _words(mark):
    """The numbers within (0, 1) that a mark's words make."""
    return open_unit(np.uint32(mark >> np.uint64(32)), np.uint32(mark & np.uint64(2**32 - 1)))


def test_each_jump_has_a_mark_of_its_own():
    """No two marks are the same, and none holds the words that say where a candidate is or if it is taken."""
    marks, others = [], set()
    for path, cell, number in np.ndindex(4, 5, 6):
        place, level, mark = candidate(KEY, path, cell, number)
        marks.append(mark)
        others |= {place, level}
    assert len(set(marks)) == len(marks) == 120
    assert len(others) == 240
    assert others.isdisjoint(map(_words, marks))


def test_sizes_of_jumps_are_independent_of_their_times_and_of_one_another():
    """A compound Poisson process: its increments have the moments that independent normal sizes give."""

    @njit
    def jump(t, y, mark):
        return y[0] + nd.random.normal(mark, 0), y[1] + 1.0, t * nd.random.normal(mark, 0) + y[2]

    zero = njit(lambda t, y: (0.0, 0.0, 0.0))
    solve = nd.sde.solver(zero, zero, noise="additive", dt=0.5, jumps=nd.sde.jumps(4.0, jump))
    end = nd.sde.ensemble(solve, (0.0, 0.0, 0.0), (0.0, 2.0), (), KEY, 4000)[:, -1]
    total, number, by_time = end.T
    assert total.mean() == pytest.approx(0.0, abs=4.0 * math.sqrt(8.0 / 4000))
    assert total.var() == pytest.approx(
        8.0, rel=0.1
    )  # 16 where the jumps of a cell shared their size
    assert abs(np.corrcoef(total, number)[0, 1]) < 0.06
    # Times are ends of steps, 0.5 to 2.
    assert np.mean(total * by_time) == pytest.approx(8.0 * 1.25, rel=0.12)


@njit
def _last(ys):
    return ys[-1, 0]


@pytest.mark.dear
def test_ensembles_of_paths_that_jump():
    """Path for path those of single solves; sums in threads; one that ends in NaN costs that one."""
    ts = np.array([0.0, 0.6, 2.0])
    many = nd.sde.ensemble(COUNT, 0.0, ts, (), KEY, 600)
    np.testing.assert_array_equal(many[:, :, 0], _counts(KEY, 600))
    found = nd.sde.ensemble(COUNT, 0.0, ts, (), KEY, 600, reduce=_last)
    assert found.mean == pytest.approx(many[:, -1, 0].mean(), rel=1e-14)
    assert nd.sde.ensemble(COUNT, 0.0, ts, (), KEY, 600, reduce=_last, executor=2) == found
    broken = nd.sde.solver(
        _still, _still, noise="additive", dt=0.25, jumps=nd.sde.jumps(0.01, _to_nan)
    )
    with pytest.warns(nd.NumbadWarning, match="of 600 paths end in NaN"):
        found = nd.sde.ensemble(broken, 0.0, ts, (), KEY, 600, reduce=_last)
    assert 570 < found.paths < 600
    assert found.mean == 0.0


@njit
def _to_nan(t, y, mark):
    return y + math.nan


@njit
def _nothing(t, y, mu, lam):
    return 0.0, lam * 0.0


@njit
def _deaths(t, y, mu, lam):
    """Each of y[0] dies at the rate mu; the second component is a clock."""
    return mu * y[0]


@njit
def _died(t, y, mark, mu, lam):
    return y[0] - 1.0, y[1] + t


DEATHS = nd.sde.solver(
    _nothing, _nothing, noise="additive", dt=2.0**-7, jumps=nd.sde.jumps(_deaths, _died, bound=16.0)
)


def test_rates_that_depend_on_the_state_by_thinning():
    """Of 20, the number alive at time 1 is binomial."""
    mu, n, paths = 0.8, 20, 3000

    @njit
    def alive(key, paths):
        out = np.empty(paths)
        for p in range(paths):
            out[p] = DEATHS((20.0, 0.0), (0.0, 1.0), (mu, 0.0), (key, p))[-1, 0]
        return out

    found, chance = alive(KEY, paths), math.exp(-mu)
    error = math.sqrt(n * chance * (1.0 - chance) / paths)
    assert abs(found.mean() - n * chance) < 4.0 * error
    assert found.var() == pytest.approx(n * chance * (1.0 - chance), rel=0.12)


# -- derivatives -----------------------------------------------------------------------------------------


@njit
def _growth(t, y, size, lam):
    """Of the logarithm of a weight, y[1]: the way out for derivatives by the rate."""
    return 0.05 * y[0], nd.stop_gradient(lam) - lam


@njit
def _shaken(t, y, size, lam):
    return 0.2 * y[0], 0.0


@njit
def _given_rate(t, y, size, lam):
    return nd.stop_gradient(lam)


@njit
def _plain_rate(t, y, size, lam):
    return lam


@njit
def _jump(t, y, mark, size, lam):
    weight = y[1] + math.log(lam / nd.stop_gradient(lam))
    return y[0] * math.exp(size + 0.1 * nd.random.normal(mark, 0)), weight


def _merton(rate):
    solve = nd.sde.solver(_growth, _shaken, dt=0.05, jumps=nd.sde.jumps(rate, _jump, bound=4.0))

    @njit
    def end(size, lam, key):
        return solve((1.0, 0.0), (0.0, 1.0), (size, lam), key)[-1]

    return end


WEIGHED, PLAIN = _merton(_given_rate), _merton(_plain_rate)


@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_slopes_by_the_sizes_of_jumps(mode):
    """That of the logarithm is the number of jumps, a whole number; beside differences."""

    @njit
    def logarithm(size, key):
        return math.log(PLAIN(size, 3.0, key)[0])

    slope = nd.grad(logarithm, mode=mode)
    found = [slope(-0.1, nd.random.fold_in(KEY, p)) for p in range(20)]
    np.testing.assert_allclose(found, np.round(found), atol=1e-12)
    assert 1.5 < np.mean(found) < 4.5
    assert len(set(np.round(found))) > 3


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_slopes_by_rates_are_refused(mode):
    @njit
    def last(lam, key):
        return PLAIN(-0.1, lam, key)[0]

    @njit
    def alive(count, key):
        return DEATHS((count, 0.0), (0.0, 1.0), (0.8, 0.0), key)[-1, 0]

    for f in (last, alive):  # a parameter of the rate; the state that it depends on
        with pytest.raises(nd.UnsupportedError, match=r"rate of jumps decides .* nd.stop_gradient"):
            nd.grad(f, mode=mode)(3.0, KEY)


def test_slopes_by_rates_by_weights():
    """Of the mean of Merton's model, exp(0.05 + lam (exp(size + 0.005) - 1)): the way out of the refusal."""

    @njit
    def mean(lam, key):
        total = 0.0
        for p in range(4000):
            y, w = WEIGHED(-0.1, lam, nd.random.fold_in(key, p))
            total += y * math.exp(w)
        return total / 4000

    value, slope = nd.value_and_grad(mean, mode="forward")(3.0, KEY)
    factor = math.exp(-0.1 + 0.005) - 1.0
    exact = math.exp(0.05 + 3.0 * factor)
    assert value == pytest.approx(exact, rel=0.02)
    assert slope == pytest.approx(factor * exact, abs=0.03)


@pytest.mark.deep
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_slopes_of_ensembles_of_paths_that_jump(mode):
    """Beside the sum over single paths, whose slopes have their tests."""
    solve = nd.sde.solver(
        _growth, _shaken, dt=0.05, jumps=nd.sde.jumps(_given_rate, _jump, bound=4.0)
    )

    @njit
    def by_ensemble(size, key):
        args = size, 3.0
        found = nd.sde.ensemble(solve, (1.0, 0.0), (0.0, 1.0), args, key, 50, reduce=_last)
        return found.mean

    @njit
    def by_loop(size, key):
        total = 0.0
        for p in range(50):
            total += solve((1.0, 0.0), (0.0, 1.0), (size, 3.0), (key, p))[-1, 0]
        return total / 50

    found = nd.value_and_grad(by_ensemble, mode=mode)(-0.1, KEY)
    np.testing.assert_allclose(found, nd.value_and_grad(by_loop, mode=mode)(-0.1, KEY), rtol=1e-12)


def test_what_is_refused():
    one = nd.sde.jumps(1.0, _counted)
    with pytest.raises(nd.ArgumentError, match="give bound=, the highest rate"):
        nd.sde.jumps(_still, _counted)
    with pytest.raises(nd.ArgumentError, match="lie between 0 and a positive bound"):
        nd.sde.jumps(3.0, _counted, bound=2.0)
    with pytest.raises(nd.ArgumentError, match="must be what nd.sde.jumps returned"):
        nd.sde.solver(_still, _still, dt=0.1, jumps=_counted)
    with pytest.raises(nd.ArgumentError, match=r"more than the state.*'Heun'"):
        nd.sde.solver(_still, _still, dt=0.1, method="ReversibleHeun", jumps=one)
    with pytest.raises(nd.ArgumentError, match="'stochastic' does not go back over jumps"):
        nd.sde.solver(_still, _still, dt=0.1, adjoint="stochastic", jumps=one)
    with pytest.raises(nd.ArgumentError, match="250 candidates of jumps on average; 100 at most"):
        nd.sde.solver(_still, _still, dt=100.0, jumps=nd.sde.jumps(RATE, _counted))
    with pytest.raises(nd.ArgumentError, match="multilevel does not take jumps"):
        nd.sde.multilevel(COUNT, 0.0, (0.0, 1.0), (), KEY, reduce=_last, tolerance=0.1)
    for options in ({"antithetic": True}, {"estimator": "likelihood_ratio"}):
        with pytest.raises(nd.ArgumentError, match="is for paths without jumps; leave it out"):
            nd.sde.ensemble(COUNT, 0.0, (0.0, 1.0), (), KEY, 10, reduce=_last, **options)
    with pytest.raises(nd.ArgumentError, match="jumps are functions of a key"):
        COUNT(0.0, (0.0, 1.0), (), np.zeros(4))
    with pytest.raises(nd.DataError, match="between 0 and its bound"):
        PLAIN(-0.1, 5.0, KEY)
    wrong = nd.sde.jumps(1.0, njit(lambda t, y, mark: (y, y)))
    with pytest.raises(
        nd.ModelError, match="change of a jump must return one|change of a jump must return 1"
    ):
        nd.sde.solver(_still, _still, dt=0.1, jumps=wrong)(0.0, (0.0, 1.0), (), KEY)
