"""The git revision of the project, which every file of results names."""

import os
import subprocess
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
UNKNOWN = "unknown"


def revision() -> str:
    """Return the revision of the project's working tree, with the suffix `-dirty` if files differ from it.

    "unknown" if the project's folder is not the top folder of a repository, or if git gives no answer.
    """
    return _answer()[0]


def why_unknown() -> str | None:
    """Return why git gives no revision of the project's own repository; None if it does or if there is none."""
    return _answer()[1] if (PROJECT / ".git").exists() else None


def _answer() -> tuple[str, str | None]:
    """Return the revision and, if it is unknown, git's reason."""
    # GIT_DIR and its like, which hooks and `git rebase --exec` set, name another repository. Without a ceiling git also
    # answers for a repository that contains the project's folder, such as that of a thesis.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CEILING_DIRECTORIES": str(PROJECT.parent), "LC_ALL": "C"}
    command = ["git", "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
    try:
        done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as error:
        return UNKNOWN, str(error)
    return (UNKNOWN, " ".join(done.stderr.split())) if done.returncode else (done.stdout.strip(), None)
