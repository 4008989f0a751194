"""Runs programs in new processes that share a cache folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def environment(cache, package=REPOSITORY, **settings):
    """The environment of a process whose compiled code is kept in `cache`."""
    known = [str(package), str(REPOSITORY), os.environ.get("PYTHONPATH", "")]
    paths = os.pathsep.join(path for path in known if path)
    own = {"NUMBAD_CACHE_DIR": str(cache), "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    return {**os.environ, **own, **settings}


def start(program, cache, **options):
    return subprocess.Popen(
        [sys.executable, str(program)],
        env=environment(cache, **options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """What the process recorded: name -> (value, lowered, optimised)."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1])


def run(program, cache, **options):
    return finish(start(program, cache, **options))
