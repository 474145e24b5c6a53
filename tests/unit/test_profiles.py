"""Check the profiles: known options, and the default profile's options also in the Slurm profile."""

import pytest
import yaml
from snakemake.cli import get_argument_parser

from tests import ROOT

PROFILES = {
    file.parent.name: yaml.safe_load(file.read_text(encoding="utf-8"))
    for file in (ROOT / "profiles").glob("*/config.yaml")
}
CLUSTERS = sorted(set(PROFILES) - {"default"})


@pytest.mark.parametrize("name", PROFILES)
def test_every_key_is_an_option_of_snakemake_or_of_the_executor(name):
    # Snakemake refuses unknown keys, but only when it uses the profile.
    options = {o.removeprefix("--") for action in get_argument_parser()._actions for o in action.option_strings}
    executor = PROFILES[name].get("executor")
    assert executor == (None if name == "default" else name)
    own = {key for key in PROFILES[name] if executor and key.startswith(f"{executor}-")}
    assert set(PROFILES[name]) - own <= options


# Options that are only in the default profile.
ALONE = ("quiet", "keep-going", "max-jobs-per-timespan")


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_s_profile_says_what_the_default_one_says(name):
    # Snakemake reads a single workflow profile and then ignores the default one.
    # On a cluster, a fault that all jobs may have stops the run, and jobs are submitted more slowly.
    default = {key: value for key, value in PROFILES["default"].items() if key not in ALONE}
    assert default.items() <= PROFILES[name].items()
    # With `quiet: rules` Snakemake does not show why a job could not be submitted.
    assert PROFILES[name]["quiet"] == ["host"]
