"""How many threads a kernel is launched with."""

from dataclasses import dataclass

REGISTERS = (
    65_536  # of a multiprocessor, in every architecture since Maxwell (CUDA programming guide)
)
MOST_THREADS = 2_048  # resident on a multiprocessor of most architectures; fewer on some
THREADS = (256, 128, 64)  # of a block, in order of preference
_WAVES = 4  # blocks a multiprocessor has to do, in units of what it holds: the last ones balance the load


@dataclass
class Launch:
    """Blocks, threads of a block."""

    blocks: int
    threads: int


def launch_for(count, registers, multiprocessors, threads=None):
    """The launch for `count` elements, one thread for an element at a time.

    `registers` of a thread, which come in units of 8; blocks are as large as lets most threads be
    resident, and no more than keep every multiprocessor busy: threads take further elements in turn.
    """
    threads = threads or max(THREADS, key=lambda t: (resident(registers, t), t))
    held = max(resident(registers, threads) // threads, 1)
    needed = -(-count // threads)
    return Launch(max(min(needed, _WAVES * held * multiprocessors), 1), threads)


def resident(registers, threads):
    """Threads resident on a multiprocessor, in blocks of `threads`."""
    a_thread = max(-(-registers // 8) * 8, 8)
    blocks = min(REGISTERS // (a_thread * threads), MOST_THREADS // threads)
    return blocks * threads
