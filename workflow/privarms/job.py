"""Run the body of a pipeline job: log to a file, and report bad input in one clear line."""

import contextlib
import logging
import sys
from collections.abc import Iterator

from privarms.errors import PrivarmsError


@contextlib.contextmanager
def job(snakemake) -> Iterator[None]:
    """Run the body of a job: log to `snakemake.log`; a PrivarmsError is one line there and on stderr, with status 1."""
    logging.basicConfig(
        filename=snakemake.log[0], filemode="w", level=logging.INFO, format="%(asctime)s %(message)s", force=True
    )
    logging.captureWarnings(True)
    # If the log cannot be written, for example on a full disk, its tracebacks must not hide the error of the job.
    logging.raiseExceptions = False
    log = logging.getLogger(snakemake.rule)
    try:
        yield
    except PrivarmsError as error:
        log.error("error: %s", error, exc_info=error.__cause__)
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except Exception:
        log.exception("failed")
        raise
    log.info("done")
