"""Whether a file of the library is not what it was."""

import contextlib
import os
from pathlib import Path

LIBRARY = Path(__file__).parent


def looks() -> dict[str, tuple]:
    """What an edit of the library's files changes of each of them."""
    found = {}
    for folder, _, names in os.walk(LIBRARY, followlinks=True):
        for name in names:
            # Editors leave links to nowhere beside a file, and files that are gone a moment later.
            with contextlib.suppress(OSError):
                if name.endswith(".py"):
                    told = os.stat(path := os.path.join(folder, name))
                    found[path] = (told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns)
    return found


# When this process began to import the library.
AT_IMPORT = looks()
