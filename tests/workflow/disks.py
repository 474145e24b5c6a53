"""Make full or read-only file systems for a test."""

import contextlib
import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


def _mount(*arguments: str | Path) -> bool:
    try:
        return subprocess.run(["mount", *map(str, arguments)], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def small_disk(folder: Path, size: int) -> Iterator[tuple[Callable[[], None] | None, str]]:
    """Yield a function to call before a process starts, which leaves it `size` bytes, and the words of the error.

    It mounts a separate file system if the user may. Otherwise it limits the size of every file of the process.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder):
        try:
            yield None, "No space left on device"
        finally:
            subprocess.run(["umount", str(folder)], check=True)
    else:
        yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)), "File too large"


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make a folder read-only; for the superuser, who may write everywhere, with a read-only mount."""
    if os.geteuid() != 0:
        folders = [folder, *(p for p in folder.rglob("*") if p.is_dir())]
        for one in folders:
            one.chmod(0o555)
        try:
            yield
        finally:
            for one in folders:
                one.chmod(0o755)
    else:
        mounted = _mount("--bind", folder, folder)
        try:
            if not mounted or not _mount("-o", "remount,bind,ro", folder):
                pytest.skip("the superuser may write everywhere, and nothing can be mounted here")
            yield
        finally:
            if mounted:
                subprocess.run(["umount", str(folder)], check=True)
