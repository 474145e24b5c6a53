"""Check what the process that starts jobs compiles before its first fork."""

import os
import subprocess
import sys

import pytest

CODE = "from privarms.runner import preloaded; print(bool(preloaded.typical.signatures), end='')"


@pytest.mark.parametrize("kernels", [[], ["kernel"]])
def test_common_functions_are_compiled_before_a_first_run_only(tmp_path, kernels):
    for name in kernels:
        (tmp_path / name).mkdir()
    environment = os.environ | {"PRIVARMS_KERNELS": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout == str(not kernels)


@pytest.mark.long
def test_a_kernel_folder_that_cannot_be_read_stops_nothing(tmp_path):
    environment = os.environ | {"PRIVARMS_KERNELS": str(tmp_path / ("x" * 300))}
    run = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout == "True"
