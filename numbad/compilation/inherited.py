"""The compile options of a user's dispatcher that the code made from it has as well."""

OPTIONS = ("fastmath", "error_model", "boundscheck", "nogil")


def inherited_options(dispatcher):
    """Those of the options that a dispatcher was given, name -> value."""
    return {k: v for k, v in dispatcher.targetoptions.items() if k in OPTIONS}
