"""What the tests of several papers share: the plan of all studies at full scale, and a paper's statements."""

import matplotlib.pyplot as plt
import pytest

from privarms.files import settings
from privarms.planning import statements
from privarms.planning.start import make_plan
from tests import PAPERS, ROOT


def planned(**own):
    """Return the plan of the configuration at full scale; own: further settings."""
    return make_plan(settings.read(ROOT / "config/config.yaml") | {"scale": "paper"} | own, main=False)


@pytest.fixture(autouse=True)
def close_figures():
    """Close the figures of each test, because matplotlib keeps them."""
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def plan():
    return planned()


def loaded(plan, paper):
    """Return name -> statement of a paper, with the artifacts, tables and tags of a plan."""
    content, folder = plan.simulation.papers[paper], PAPERS / paper
    known = {"artifacts": content.artifacts, "tables": content.inference, "tags": plan.simulation.tags[paper]}
    printed = [file.stem for file in folder.glob("published/*.csv")]
    return {one.name: one for one in statements.load(folder / "statements.yaml", paper, **known, printed=printed)}
