"""Files that tests write."""

import pytest


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="decay.py"):
        path = tmp_path / name
        path.write_text(content)
        return path

    return write_file
