"""`python -m numbad`."""

import sys

from numbad.cli import main

if __name__ == "__main__":
    sys.exit(main())
