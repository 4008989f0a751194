"""The reader of data files: what it takes, and the place that each complaint names."""

import gzip

import numpy as np
import pytest

from numbad.data import load_hudson_bay, read_table
from numbad.errors import DataError


@pytest.fixture
def write(tmp_path):
    def write_file(content):
        path = tmp_path / "counts.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def test_hudson_bay():
    t, y = load_hudson_bay()
    assert t.tolist() == list(range(1900, 1921))
    assert y.shape == (21, 2)
    assert y[20].tolist() == [24.7, 8.6]  # hare, lynx
    assert y.mean(axis=0) == pytest.approx([34.08, 20.17], abs=0.005)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_delimiters_and_line_ends(write, delimiter, newline):
    lines = ["# a remark; with, all", "t,x", "", "0,1.5", "  # another", "1,-2e3"]
    path = write(newline.join(line.replace(",", delimiter) for line in lines) + newline)
    table = read_table(path)
    assert table.names == ("t", "x")
    assert table.column("x").tolist() == [1.5, -2000.0]
    assert table.lines == (4, 6)


def test_quotes_spaces_and_byte_order_mark(write):
    path = write(b'\xef\xbb\xbf"t (s)", "x, y"\n 0 , "1"\n1, 2\n')
    table = read_table(path)
    assert table.names == ("t (s)", "x, y")
    assert table.matrix(("t (s)", "x, y")).tolist() == [[0.0, 1.0], [1.0, 2.0]]


def test_missing_cells(write):
    missing = ["", "NaN", " nan ", "NA", "N/A", "#N/A", "<NA>", "null", "None", "."]
    table = read_table(write("t,x\n" + "".join(f"0,{cell}\n" for cell in missing) + "4,5\n"))
    np.testing.assert_array_equal(table.column("x"), [np.nan] * len(missing) + [5.0])


def test_text_in_another_column_does_no_harm(write):
    table = read_table(write("t,x,remark\n0,1,cold\n1,2,rain\n"))
    assert table.column("x").tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "counts.csv: the file is empty"),
        ("# a remark\n\n", "counts.csv: the file is empty"),
        ("# a remark\nt,x\n", "counts.csv, line 2: no rows of data"),
        ("0,1\n1,2\n", "counts.csv, line 1: the header holds numbers only"),
        (",hare\n0,1\n", "counts.csv, line 1: column 1 has no name in the header .pandas"),
        ("t,,x\n0,1,2\n", "counts.csv, line 1: column 2 has no name"),
        ("t,x,x\n0,1,2\n", "counts.csv, line 1, column 'x': the header has it twice"),
        ("t,x\n0,1\n1,2,3\n", "counts.csv, line 3: 3 cells where the header .line 1. has 2"),
        ("t,x\n0,1\n\n1\n", "counts.csv, line 4: 1 cell where the header"),
        ('t,x\n0,"1\n', "counts.csv, line 2: "),
        (b"t,x\n0,1\n1,\xff\n", "counts.csv, line 3: not UTF-8.*; save the file as UTF-8"),
        ("t,x\n0,1\n".encode("utf-16"), "counts.csv, line 1: not UTF-8 text .it looks like UTF-16"),
        (gzip.compress(b"t,x\n0,1\n"), "counts.csv: a file that gzip has compressed; unpack it"),
    ],
)
def test_unusable_files(write, content, complaint):
    with pytest.raises(DataError, match=complaint):
        read_table(write(content))


def test_unreadable_files(tmp_path):
    with pytest.raises(DataError, match=r"none\.csv: cannot be read \(No such file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_table(tmp_path)


@pytest.mark.parametrize(
    ("cell", "complaint"),
    [
        ("many", "'many' is not a number"),
        ("1.2.3", "'1.2.3' is not a number"),
        ("1_000", "'1_000' is not a number"),
        ("inf", "'inf' is not finite"),
        ("-Infinity", "'-Infinity' is not finite"),
        ("1e999", "'1e999' is not finite"),
        ("2024-01-31", "'2024-01-31' is not a number .a date"),
        ("31.1.24 12:00", "'31.1.24 12:00' is not a number .a date"),
        ("<0.1", "'<0.1' is not a number .beyond what can be measured. leave the cell empty"),
    ],
)
def test_unusable_cells(write, cell, complaint):
    table = read_table(write(f"t,hare\n0,1\n# a remark\n1,{cell}\n"))
    with pytest.raises(DataError, match=f"counts.csv, line 4, column 'hare': {complaint}"):
        table.column("hare")


def test_rows_of_units_and_of_empty_cells(write):
    table = read_table(write("t,hare\nh,1/km2\n0,1\n"))
    with pytest.raises(DataError, match="line 2, column 't': .* .units. begin their line with #"):
        table.times("t")
    table = read_table(write("t,hare\n# h,1/km2\n0,1\n , \n1,2\n,\n,\n"))
    assert table.times("t").tolist() == [0.0, 1.0]
    assert table.lines == (3, 5)


def test_decimal_comma(write):
    table = read_table(write("t;x\n0;1,5\n1;-,25\n2;3,2e-1\n3;4\n4;.\n"))
    np.testing.assert_array_equal(table.column("x"), [1.5, -0.25, 0.32, 4.0, np.nan])


@pytest.mark.parametrize(
    "content",
    ["t;x\n0;1,234\n1;0.5\n", "t;x\n0;1,234\n1;25\n", "t\tx\n0\t1,234\n", 't,x\n0,"1,234"\n'],
)
def test_a_comma_that_may_part_thousands(write, content):
    with pytest.raises(DataError, match=r"line 2, column 'x': '1,234' is .* \(a decimal comma\?"):
        read_table(write(content)).column("x")


def test_missing_column(write):
    with pytest.raises(DataError, match=r"line 1: there is no column 'lynx'; .* 't', 'hare'"):
        read_table(write("t,hare\n0,1\n")).column("lynx")


@pytest.mark.parametrize(
    ("times", "complaint"),
    [
        (("0", "", "1"), "line 3, column 't': is missing"),
        (("0", "1", "inf"), "line 4, column 't': 'inf' is not finite"),
    ],
)
def test_unusable_times(write, times, complaint):
    table = read_table(write("t,x\n" + "".join(f"{t},1\n" for t in times)))
    with pytest.raises(DataError, match=complaint):
        table.times("t")
