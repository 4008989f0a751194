"""README: its two commands are there to paste, and its numbers have their place.

Its examples run as doctests (see `testpaths` in pyproject.toml).
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_two_commands_of_one_line_each():
    blocks = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) == 2
    for block, end in zip(blocks, ("numbad fit", "-m pytest -n auto"), strict=True):
        assert block.count("\n") == 1
        assert block.startswith("python3 -m venv .venv && ")
        assert block.rstrip().endswith(end)


def test_every_link_within_the_repository_leads_somewhere():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_readme_is_among_the_tests():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "README.md" in settings["tool"]["pytest"]["ini_options"]["testpaths"]
    assert README.count(">>> ") > 10
