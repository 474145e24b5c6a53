"""The plan of quick scale, for tests that only read it."""

import pytest

from privarms.files import settings
from privarms.planning import start
from tests import ROOT


@pytest.fixture(scope="session")
def quick_plan():
    with pytest.MonkeyPatch.context() as patch:
        # The variable that the plan sets is gone afterwards.
        patch.setenv(start.STATUSES_VARIABLE, "")
        patch.delenv(start.STATUSES_VARIABLE)
        config = {**settings.read(ROOT / "config/config.yaml"), "scale": "quick", "mirror": None}
        return start.make_plan(config, main=False)
