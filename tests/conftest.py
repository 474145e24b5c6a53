"""How the tests are dealt to several workers, and which of them are long."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Their tests look at one run of everything, which they share.
TOGETHER = ("workflow/test_runs.py", "workflow/test_additions.py", "workflow/test_files_for_papers.py")


def pytest_collection_modifyitems(items):
    """Tests that look at one run of everything are long. Those of their files come first, then other whole runs: what
    takes longest must not be what is left at the end."""
    for item in items:
        if "made" in item.fixturenames and item.path.parent == HERE / "workflow":
            # Elsewhere it would be made a second time.
            assert item.path.as_posix().endswith(TOGETHER), item.nodeid
            item.add_marker(pytest.mark.long)

    def turn(item):
        place = item.path.relative_to(HERE)
        return place.as_posix() not in TOGETHER, place.parts[0] != "workflow"

    items.sort(key=turn)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A worker for each file, and one for those that share a run. (`xdist_group` has no effect with pytest 9.2.)"""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.split("::", 1)[0]
            return "everything" if file.endswith(TOGETHER) else file

    return Together(config, log)
