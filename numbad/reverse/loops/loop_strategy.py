"""What a way to reverse certain loops declares: the loops it takes, what it emits, what the listing says."""


class LoopStrategy:
    """One loop that is reversed in a way of its own; `sweep` is the `Sweep` that it is a part of.

    A subclass says in `find` which loops it takes. A `Sweep` asks every subclass in `loop_strategies.py`,
    and then asks its objects what to emit: what stands here is what is done for any loop.
    """

    BEFORE, APART, AFTER = range(3)
    when = AFTER  # before it is known what is kept; as no loop any more; or after it is known
    reverses_header = False  # whether `reverse_header` emits what the loop's header is in reverse
    ends_iterations = False  # whether `end_iteration` keeps what an iteration's reverse needs
    asks = False  # whether `ask` emits a question before the loop is reversed

    @classmethod
    def find(cls, sweep, taken):
        """The loops of a `Sweep` that are reversed so: header -> an object of the class.

        `taken` is the same for what was found at the same time by the classes before; those that are
        taken `APART` may be taken from them.
        """
        raise NotImplementedError

    @classmethod
    def shown(cls, sweep):
        """The same for the listing, in which some are shown that its sweep has left out."""
        return sweep.found(cls)

    def settle(self):
        """Do what is left to be done when it is known how all loops are reversed."""

    def begin(self):
        """Emit what runs where the function begins."""

    def enter(self):
        """Emit what runs on an edge into the loop, before room is made for its records."""

    def reverse_label(self, source, target):
        """The label at which the reverse of block `source` begins, come to from `target`, if another one."""
        return None

    def texts(self, listing, loop):
        """How a loop of it is reversed, how it counts, and why, if the strategy says it all.

        `listing` is `Decisions` of `show/decisions.py`.
        """
        return None

    def remark(self):
        """What is added to why the loop is reversed as a whole."""
        return ""
