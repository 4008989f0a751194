"""Data that ships with the package, and the reader of data files that the command line uses."""

from pathlib import Path

from numbad.data.table import Table, read_table

__all__ = ["HUDSON_BAY", "Table", "load_hudson_bay", "read_table"]

HUDSON_BAY = Path(__file__).with_name("hudson_bay.csv")


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
