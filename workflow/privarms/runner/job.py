"""Run the body of a pipeline job: log to a file, and report bad input in one clear line."""

import contextlib
import logging
import sys
from collections.abc import Iterator

from privarms.errors import PrivarmsError
from privarms.registry import digests


@contextlib.contextmanager
def job(snakemake) -> Iterator[None]:
    """Run the body of a job: log to `snakemake.log`; a PrivarmsError is one line there and on stderr, with status 1.

    A job fails if one of its files was edited during the run, because Snakemake records the digest `params.library` of
    the former text. The check at the start finds an edit that is undone before the end.
    """
    logging.basicConfig(
        filename=snakemake.log[0], filemode="w", level=logging.INFO, format="%(asctime)s %(message)s", force=True
    )
    logging.captureWarnings(True)
    # If the log cannot be written, for example on a full disk, its tracebacks must not hide the error of the job.
    logging.raiseExceptions = False
    log = logging.getLogger(snakemake.rule)
    try:
        _refuse_edits(snakemake)
        yield
        _refuse_edits(snakemake)
    except PrivarmsError as error:
        log.error("error: %s", error, exc_info=error.__cause__)
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except Exception:
        log.exception("failed")
        raise
    log.info("done")


def _refuse_edits(snakemake) -> None:
    # Raw files have checksums instead of a digest of the library.
    planned = snakemake.params.get("library")
    if planned and (files := digests.edited(planned)):
        files = ", ".join(files)
        raise PrivarmsError(f"{files}: edited during the run; run the same command again to repeat this job")
