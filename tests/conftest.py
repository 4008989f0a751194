"""Settings for all tests."""

import os

from hypothesis import settings

# A first call compiles, so no example has a deadline; CI draws the same examples every time.
settings.register_profile("numbad", deadline=None, print_blob=True)
settings.register_profile("ci", parent=settings.get_profile("numbad"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "numbad")
