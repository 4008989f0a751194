"""JAX in a process of its own, which answers what it finds of the calls of a group.

So its threads, its precision and its hooks for forks are none of the other tests'. Requests and answers
are pickled, over standard input and output: `python -m tests.peers.jax_process`.
"""

import os
import pickle
import subprocess
import sys
from pathlib import Path


class Jax:
    """The process, started when the first question is asked."""

    def __init__(self):
        self._process = None

    def ask(self, what, *question):
        """The answer to `names_of` or `derivatives`; an exception there is raised here."""
        self._process = self._process or self._start()
        pickle.dump((what, question), self._process.stdin)
        self._process.stdin.flush()
        answer = pickle.load(self._process.stdout)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _start(self):
        flags = "--xla_backend_optimization_level=0 --xla_cpu_multi_thread_eigen=false"
        env = os.environ | {"JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1", "XLA_FLAGS": flags}
        command = [sys.executable, "-m", "tests.peers.jax_process"]
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return subprocess.Popen(command, env=env, cwd=Path(__file__).parents[2], **pipes)

    def close(self):
        if self._process is not None:
            self._process.stdin.close()
            self._process.stdout.close()
            self._process.wait()


def main():
    # Only this process loads JAX.
    from tests.peers import jax_values

    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    while True:
        try:
            what, question = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = getattr(jax_values, what)(*question)
        except Exception as error:
            answer = RuntimeError(f"JAX: {type(error).__name__}: {error}")
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main()
