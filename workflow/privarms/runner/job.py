"""Run the body of a pipeline job: log to a file, and report bad input in one clear line."""

import contextlib
import logging
import os
import sys
import time
from collections.abc import Iterator

from privarms.errors import PrivarmsError

# The time at which the run began, in seconds since 1970. The Snakefile sets it.
BEGAN = "PRIVARMS_BEGAN"
# The modules that a fork has from its parent process, which imported them at the start of the run.
inherited: set[str] = set()


@contextlib.contextmanager
def job(snakemake) -> Iterator[None]:
    """Run the body of a job: log to `snakemake.log`; a PrivarmsError is one line there and on stderr, with status 1.

    A job fails if it imported a module that was edited during the run, because Snakemake records the former digest.
    """
    logging.basicConfig(
        filename=snakemake.log[0], filemode="w", level=logging.INFO, format="%(asctime)s %(message)s", force=True
    )
    logging.captureWarnings(True)
    # If the log cannot be written, for example on a full disk, its tracebacks must not hide the error of the job.
    logging.raiseExceptions = False
    log = logging.getLogger(snakemake.rule)
    try:
        yield
        _refuse_edited(float(os.environ.get(BEGAN, "inf")))
    except PrivarmsError as error:
        log.error("error: %s", error, exc_info=error.__cause__)
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except Exception:
        log.exception("failed")
        raise
    log.info("done")


def _refuse_edited(began: float) -> None:
    for name in set(sys.modules) - inherited:
        file = name.startswith(("privarms.", "privarms_extensions.")) and getattr(sys.modules[name], "__file__", None)
        # A file dated in the future was not edited.
        if file and (not os.path.exists(file) or began < os.path.getmtime(file) <= time.time()):
            raise PrivarmsError(f"{file}: edited during the run; run the same command again to repeat this job")
