"""Data that ships with the package, and the reader of data files that the command line uses."""

from pathlib import Path

from numbad.data.delimited_text import Table, read_table

__all__ = ["HUDSON_BAY", "US_TBILL", "Table", "load_hudson_bay", "load_us_tbill", "read_table"]

HUDSON_BAY = Path(__file__).with_name("hudson_bay.csv")
US_TBILL = Path(__file__).with_name("us_tbill.csv")


def load_hudson_bay():
    """Return the lynx and hare counts of the Hudson's Bay Company, 1900 to 1920.

    Returns
    -------
    t : array, shape (21,)
        The year.
    y : array, shape (21, 2)
        Pelts received, thousands: hare (the prey), lynx (the predator).

    Source: C. G. Hewitt, *The Conservation of the Wild Life of Canada* (1921), as tabulated by
    P. Howard, *Modeling Basics* (2009).

    >>> t, y = load_hudson_bay()
    >>> float(t[0]), y[0].tolist()
    (1900.0, [30.0, 4.0])
    """
    table = read_table(HUDSON_BAY)
    return table.times("year"), table.matrix(("hare", "lynx"))


def load_us_tbill():
    """Return the rate of the 3-month US Treasury bill, quarterly, 1959 to the third quarter of 2009.

    Returns
    -------
    t : array, shape (203,)
        The beginning of the quarter, in years.
    y : array, shape (203,)
        The rate as a fraction, 1/year.

    Source: Federal Reserve Bank of St. Louis (FRED), a work of the US government, in the public domain.

    >>> t, y = load_us_tbill()
    >>> float(t[1]), float(y[0].round(4))
    (1959.25, 0.0282)
    """
    columns = read_table(US_TBILL).matrix(("year", "quarter", "rate"))
    return columns[:, 0] + (columns[:, 1] - 1.0) / 4.0, columns[:, 2] / 100.0
