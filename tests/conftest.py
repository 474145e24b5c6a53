"""How the tests are dealt to several workers, and which of them are long."""

import pytest


def pytest_collection_modifyitems(items):
    """Tests that look at one run of everything share it, and so a worker; they are long, and come first. Of the others
    those of a file share one."""
    groups = {
        item: "everything" if item.path.parent.name == "workflow" and "made" in item.fixturenames else str(item.path)
        for item in items
    }
    for item, group in groups.items():
        item.add_marker(pytest.mark.xdist_group(group))
        if group == "everything":
            item.add_marker(pytest.mark.long)
    items.sort(key=lambda item: groups[item] != "everything")
