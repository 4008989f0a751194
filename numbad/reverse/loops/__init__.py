"""The ways to reverse certain loops: one file each, listed in `loop_strategies`."""
