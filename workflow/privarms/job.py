"""The frame of every job of the pipeline: log to a file, and end with one clear line on bad input."""

import contextlib
import logging
import sys
from collections.abc import Iterator

from privarms.errors import PrivarmsError


@contextlib.contextmanager
def job(snakemake) -> Iterator[None]:
    """Log to `snakemake.log`; a PrivarmsError becomes one line there and on stderr, and exit status 1."""
    logging.basicConfig(
        filename=snakemake.log[0], filemode="w", level=logging.INFO, format="%(asctime)s %(message)s", force=True
    )
    logging.captureWarnings(True)
    # A log that cannot be written, on a full disk for example, must not hide the error behind its own tracebacks.
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
