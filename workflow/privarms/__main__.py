"""`python -m privarms` is the command `privarms`."""

import sys

from privarms.cli.command import main

if __name__ == "__main__":
    sys.exit(main())
