"""Delimited text with a header line, read so that every complaint names file, line and column."""

import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from numbad.errors import DataError

DELIMITERS = ",;\t"
MISSING = frozenset({"", "nan", "na", "n/a", "#n/a", "<na>", "null", "none", "."})
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")  # what may also be 1,234 as a whole number
DATE = re.compile(r"\d{4}-\d\d?-\d\d?.*|\d\d?[./]\d\d?[./]\d{2,4}.*")


@dataclass(frozen=True)
class Table:
    """The cells of a data file as text, with the line that each row stands on.

    Cells turn into numbers when a column is asked for, so that a column of remarks does no harm.
    """

    path: Path
    names: tuple[str, ...]
    header_line: int
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    delimiter: str = ","

    def __len__(self):
        return len(self.rows)

    def column(self, name):
        """Return a column as floats, NaN where a cell is missing.

        Missing is what is empty, ``NaN``, ``NA``, ``N/A``, ``null``, ``None`` or a point. Between
        semicolons, as spreadsheets write numbers where these have a decimal comma, it is one,
        unless the column has points, too, or all of its commas may part thousands.

        Raises DataError, with file, line and column, for an unknown name, text and infinities.
        """
        k = self._index(name)
        cells = [row[k].strip() for row in self.rows]
        commas = self.delimiter == ";" and _has_decimal_commas(cells)
        return np.array([self._number(i, name, cell, commas) for i, cell in enumerate(cells)])

    def matrix(self, names):
        """Return several columns side by side, shape (rows, len(names))."""
        return np.column_stack([self.column(name) for name in names])

    def times(self, name):
        """Return a column in which no cell is missing."""
        t = self.column(name)
        for i in np.flatnonzero(np.isnan(t)):
            raise self.error("is missing; every row needs its time", int(i), name)
        return t

    def text(self, name):
        """Return the cells of a column as they are, blanks around them aside."""
        k = self._index(name)
        return [row[k].strip() for row in self.rows]

    def error(self, complaint, row=None, name=None):
        """Return the DataError that places a complaint at a row (by index) and a column."""
        place = [str(self.path)]
        place.append(f"line {self.header_line if row is None else self.lines[row]}")
        if name is not None:
            place.append(f"column '{name}'")
        return DataError(f"{', '.join(place)}: {complaint}")

    def _index(self, name):
        if name not in self.names:
            raise self.error(f"there is no column '{name}'; the header has {_quoted(self.names)}")
        return self.names.index(name)

    def _number(self, row, name, cell, commas):
        if cell.lower() in MISSING:
            return math.nan
        number = cell
        if commas and DECIMAL_COMMA.fullmatch(cell):
            number = cell.replace(",", ".")
        try:
            # float() would read 1_000 as a thousand; in a data file it is a slip.
            value = math.nan if "_" in cell else float(number)
        except ValueError:
            value = math.nan
        if math.isnan(value):
            raise self.error(f"'{cell}' is not a number{_hint(cell, row)}", row, name)
        if math.isinf(value):
            raise self.error(f"'{cell}' is not finite", row, name)
        return value


def read_table(path):
    """Read a file of delimited text into a `Table`.

    Lines that begin with ``#`` are comments, and rows of empty cells are left out; the first other line
    is the header and says which of comma, semicolon and tab separates the columns.

    Parameters
    ----------
    path : str or path
        The file, UTF-8.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        A file that cannot be read, has no header, no rows, a row of another length than the
        header, or two columns of one name; the message names file, line and column.

    >>> from numbad.data import HUDSON_BAY
    >>> read_table(HUDSON_BAY).names
    ('year', 'lynx', 'hare')
    """
    path = Path(path)
    records, delimiter = _records(path)
    if not records:
        raise DataError(f"{path}: the file is empty; it needs a header line with column names")
    (header_line, header), *body = records
    names = _header(path, header_line, header)
    body = [(line, cells) for line, cells in body if any(map(str.strip, cells))]
    if not body:
        raise DataError(f"{path}, line {header_line}: no rows of data below the header")
    for line, cells in body:
        if len(cells) != len(names):
            raise DataError(
                f"{path}, line {line}: {len(cells)} {'cell' if len(cells) == 1 else 'cells'}"
                f" where the header (line {header_line}) has {len(names)}"
            )
    lines, rows = zip(*body, strict=True)
    return Table(path, names, header_line, rows, lines, delimiter)


_COMPRESSED = {b"\x1f\x8b": "gzip", b"PK": "zip", b"BZ": "bzip2", b"\xfd7zXZ": "xz"}


def _no_text(error):
    """What to say of bytes that are no text, with a way out."""
    given = error.object
    for start, name in _COMPRESSED.items():
        if given.startswith(start):
            return f": a file that {name} has compressed; unpack it"
    line = given[: error.start].count(b"\n") + 1
    utf16 = given.startswith((b"\xff\xfe", b"\xfe\xff"))
    found = "it looks like UTF-16" if utf16 else error.reason
    return f", line {line}: not UTF-8 text ({found}); save the file as UTF-8 (in a spreadsheet: CSV UTF-8)"


def _records(path):
    """Return (line number, cells) of every line that is neither blank nor a comment; the delimiter."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}{_no_text(error)}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    kept = [
        (number, line)
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not kept:
        return [], ","
    delimiter = max(DELIMITERS, key=kept[0][1].count)
    return [(number, _cells(path, number, line, delimiter)) for number, line in kept], delimiter


def _cells(path, number, line, delimiter):
    try:
        (cells,) = csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True)
    except csv.Error as error:
        raise DataError(f"{path}, line {number}: {error}") from None
    return tuple(cells)


def _header(path, line, cells):
    names = tuple(cell.strip() for cell in cells)
    for k, name in enumerate(names):
        if not name:
            by_pandas = " (pandas writes its index so: to_csv(index=False), or index_label='time')"
            hint = by_pandas if k == 0 else ""
            raise DataError(f"{path}, line {line}: column {k + 1} has no name in the header{hint}")
        if name in names[:k]:
            raise DataError(f"{path}, line {line}, column '{name}': the header has it twice")
    if all(_is_number(name) for name in names):
        raise DataError(
            f"{path}, line {line}: the header holds numbers only; a first line of column names"
            " is missing"
        )
    return names


def _has_decimal_commas(cells):
    """Whether the commas in a column are decimal ones for certain."""
    if any("." in cell for cell in cells if cell != "."):
        return False
    return any(DECIMAL_COMMA.fullmatch(c) and not THOUSANDS.fullmatch(c) for c in cells)


def _hint(cell, row):
    if DATE.fullmatch(cell):
        return " (a date? write times as numbers, days since the first, say)"
    if cell[0] in "<>":
        return " (beyond what can be measured? leave the cell empty)"
    if "," in cell:
        return " (a decimal comma? write a point)"
    return " (units? begin their line with #)" if row == 0 else ""


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _quoted(names):
    return ", ".join(f"'{name}'" for name in names)
