#!/usr/bin/env bash
# Runs the tests of the Slurm profile on a private cluster; exits with 77 where Slurm is not installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PATH:/usr/sbin:/sbin" # where Debian puts daemons, and not every user's PATH looks

missing=()
for program in munged slurmctld slurmd sbatch squeue scontrol; do
    command -v "$program" >/dev/null || missing+=("$program")
done
if [ ${#missing[@]} -gt 0 ]; then
    echo "test-slurm needs ${missing[*]}. On Debian or Ubuntu:" >&2
    echo "  sudo apt-get install --no-install-recommends munge slurmctld slurmd slurm-client" >&2
    exit 77
fi
exec "${PYTHON:-.venv/bin/python}" -m pytest tests/slurm --durations=0 "$@"
