"""Results for the eye: the table, and the picture."""

import sys

import numpy as np
import pytest

from numbad.errors import DataError, ModelError

from .models import COUNTS
from .test_ode import fitted

SUMMARY = """\
converged: 6 unknowns, 42 observations, log scale

            estimate  std. error  95 % interval
growth       0.54016      0.0595  0.43203 to 0.67534
predation   0.027165     0.00384  0.020390 to 0.036193
death        0.79639      0.0839  0.64325 to 0.98598
conversion  0.023695     0.00329  0.017885 to 0.031391
hare(1900)    34.602        2.93  29.143 to 41.084
lynx(1900)    5.8445       0.479  4.9490 to 6.9021

residual standard deviation 0.23680 on 36 degrees of freedom, cost 1.00933, """


def test_summary_is_a_table_with_the_published_numbers(result):
    assert result.summary().startswith(SUMMARY)
    assert repr(result) == str(result) == result.summary()


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_plot_writes_a_picture_without_pyplot(result, tmp_path, suffix):
    for module in [name for name in sys.modules if name.startswith("matplotlib.pyplot")]:
        del sys.modules[module]
    path = result.plot(tmp_path / f"fit.{suffix}", title="Hudson Bay", xlabel="year", ylabel="10³")
    assert path.read_bytes().startswith(
        {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
    )
    assert "matplotlib.pyplot" not in sys.modules


def test_plot_shows_data_fit_and_band(result, tmp_path):
    text = result.plot(tmp_path / "fit.svg", title="Hudson Bay", xlabel="year").read_text()
    for word in ("Hudson Bay", "year", "hare", "lynx", "data", "fit", "95 % band"):
        assert f"<!-- {word} -->" in text
    assert "NOT CONVERGED" not in text
    text = fitted(max_nfev=2).plot(tmp_path / "fit.svg").read_text()
    assert "NOT CONVERGED" in text


def test_plot_into_axes_of_ones_own(result):
    from matplotlib.figure import Figure

    assert isinstance(result.plot(), Figure)
    figure = Figure()
    axes = figure.subplots(3)
    assert result.plot(ax=axes[:2]) is figure
    assert [axis.get_ylabel() for axis in axes] == ["hare", "lynx", ""]
    with pytest.raises(ModelError, match="ax: 3 axes for 2 panels"):
        result.plot(ax=axes)


@pytest.mark.deep
def test_plot_of_infinite_bands_and_many_components(tmp_path):
    hare = fitted(y=COUNTS[:, 0], observed="hare", fit_y0=True)
    hare.plot(tmp_path / "hare.png")
    from .test_ode import many_rates

    t = np.linspace(0.0, 2.0, 9)
    rates = np.linspace(0.3, 2.0, 16)
    y = np.exp(-rates * t[:, None])
    from numbad.fit import fit_ode

    fit_ode(many_rates, t, y, np.full(16, 1.0), y0=np.ones(16)).plot(tmp_path / "many.png")


def test_a_path_that_cannot_be_written_says_so(result, tmp_path):
    with pytest.raises(DataError, match="No such file or directory"):
        result.plot(tmp_path / "nowhere" / "fit.png")
    with pytest.raises(DataError, match="fit.xyz"):
        result.plot(tmp_path / "fit.xyz")
