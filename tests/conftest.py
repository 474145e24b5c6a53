"""Distribute the tests over workers, and mark the long ones."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
# The tests of these files share one run of the whole pipeline.
TOGETHER = ("workflow/test_runs.py", "workflow/test_additions.py", "workflow/test_files_for_papers.py")
# This file compares a run of its own with the shared one, and would wait for it.
LAST = "workflow/test_resumption.py"


def pytest_collection_modifyitems(items):
    """Mark tests that share one whole run as long; run most of their files first, then other runs, to save time."""
    for item in items:
        if "made" in item.fixturenames and item.path.parent == HERE / "workflow":
            # Another worker would wait for the shared run.
            assert item.path.as_posix().endswith((*TOGETHER, LAST)), item.nodeid
            item.add_marker(pytest.mark.long)

    def turn(item):
        place = item.path.relative_to(HERE)
        return place.as_posix() == LAST, place.as_posix() not in TOGETHER, place.parts[0] != "workflow"

    items.sort(key=turn)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Use one worker per file, and one for all files that share a run; `xdist_group` has no effect with pytest 9.2."""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.split("::", 1)[0]
            return "everything" if file.endswith(TOGETHER) else file

    return Together(config, log)
