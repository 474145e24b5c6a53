"""The profiles: options that Snakemake has, and on a cluster what a workstation's profile says besides."""

from pathlib import Path

import pytest
import yaml
from snakemake.cli import get_argument_parser

PROFILES = {
    file.parent.name: yaml.safe_load(file.read_text(encoding="utf-8"))
    for file in (Path(__file__).parents[2] / "profiles").glob("*/config.yaml")
}
CLUSTERS = sorted(set(PROFILES) - {"default"})


@pytest.mark.parametrize("name", PROFILES)
def test_every_key_is_an_option_of_snakemake_or_of_the_executor(name):
    # Snakemake refuses any other key, but only when the profile is used.
    options = {o.removeprefix("--") for action in get_argument_parser()._actions for o in action.option_strings}
    executor = PROFILES[name].get("executor")
    assert executor == (None if name == "default" else name)
    own = {key for key in PROFILES[name] if executor and key.startswith(f"{executor}-")}
    assert set(PROFILES[name]) - own <= options


# What the default profile alone says.
ALONE = ("quiet", "keep-going", "max-jobs-per-timespan")


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_s_profile_says_what_the_default_one_says(name):
    # Snakemake reads one workflow profile, not the default one besides.
    # Jobs of a cluster are not let go on behind a fault that all of them may have, and are submitted more slowly.
    default = {key: value for key, value in PROFILES["default"].items() if key not in ALONE}
    assert default.items() <= PROFILES[name].items()
    # Quiet about rules, Snakemake does not say why a job could not be submitted.
    assert PROFILES[name]["quiet"] == ["host"]
