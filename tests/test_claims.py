"""What README and the docs say is differentiated, or refused, is what docs/supported.md says of it.

That page is made by the probes of `tests/supported/`: they are what the prose is held against.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROSE = ("README.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md"))))
BOTH = ("differentiated", "differentiated")
REFUSED = ("refused", "refused")

# A page, words that it says, the status in forward and in reverse mode, the probes that show it.
CLAIMS = [
    (
        "README.md",
        "through loops, branches and arrays that are written in place",
        BOTH,
        "language-constructs-while language-constructs-for-over-range language-constructs-if-elif-else "
        "numpy-array-access-item-assignment numpy-array-access-slice-assignment-fill",
    ),
    ("README.md", "With `prange` over the paths", BOTH, "language-constructs-prange"),
    (
        "docs/reverse.md",
        "control flow, arrays, views, tuples, namedtuples",
        BOTH,
        "language-constructs-for-over-an-array language-constructs-break numpy-array-access-slice "
        "numpy-array-access-store-through-a-view "
        "built-in-types-tuple-named-tuple-construction-constant-index "
        "standard-library-other-modules-collections.namedtuple",
    ),
    (
        "docs/reverse.md",
        "`@jitclass` instances, lists, calls, recursion, closures",
        BOTH,
        "language-functions-jitclass-instance-that-holds-a-differentiated-float "
        "built-in-types-list-numba.typed.list-.append language-functions-recursion "
        "language-functions-closure",
    ),
    (
        "docs/reverse.md",
        "A draw that has no such derivative (`poisson`, `binomial`, `vonmises`)",
        REFUSED,
        "numpy-np.random-np.random.poisson-by-a-parameter "
        "numpy-np.random-np.random.binomial-by-a-parameter "
        "numpy-np.random-np.random.vonmises-by-a-parameter",
    ),
    (
        "docs/reverse.md",
        "What `choice`, `permutation` and `shuffle` pick is differentiated",
        BOTH,
        "numpy-np.random-np.random.choice-of-differentiated-values "
        "numpy-np.random-np.random.permutation-of-differentiated-values "
        "numpy-np.random-np.random.shuffle-of-differentiated-values",
    ),
]


def _rows():
    """Name of a probe -> (feature, (status in forward mode, status in reverse mode))."""
    text = (ROOT / "docs" / "supported.md").read_text(encoding="utf-8")
    cells = [re.split(r"\s*(?<!\\)\|\s*", line.strip("| ")) for line in text.splitlines()]
    return {row[3].strip("`"): (row[0], (row[1], row[2])) for row in cells if len(row) == 4}


ROWS = _rows()


def _prose(page):
    """A page in one line, without code blocks."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return " ".join(re.sub(r"```.*?```", "", text, flags=re.DOTALL).split())


def _false_refusals(text):
    """The features that a text says are refused, all of which docs/supported.md has as differentiated."""
    found = []
    for sentence in re.split(r"(?<=[.;:])\s", text):
        for name in re.findall(r"`([\w.]+)`(?:,| and| or|)* (?:is|are) refused", sentence):
            known = [
                status
                for feature, status in ROWS.values()
                if re.search(rf"`{re.escape(name)}(?:`|\.)", feature)
            ]
            if known and not any("refused" in status for status in known):
                found.append(name)
    return found


@pytest.mark.parametrize(("page", "words", "status", "probes"), CLAIMS, ids=lambda x: str(x)[:40])
def test_claims_of_support_are_shown_by_probes(page, words, status, probes):
    assert words in _prose(page), "the page says something else now: so must the entry of CLAIMS"
    assert {probe: ROWS[probe][1] for probe in probes.split()} == dict.fromkeys(
        probes.split(), status
    )


@pytest.mark.parametrize("page", PROSE)
def test_nothing_is_said_to_be_refused_that_is_differentiated(page):
    assert _false_refusals(_prose(page)) == []


def test_a_stale_refusal_is_found():
    assert _false_refusals("`np.linalg` is refused so far.") == ["np.linalg"]
    assert _false_refusals("Loops over `prange` are fine; `prange` is refused.") == ["prange"]
    assert _false_refusals("`np.Polynomial` is refused.") == []
