#!/usr/bin/env bash
# Runs the tests of a cluster's profile on a private cluster: run.sh slurm, run.sh sge. It exits with 77 where the
# scheduler is not installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PATH:/usr/sbin:/sbin" # where Debian puts daemons, and not every user's PATH looks

cluster=$1
shift
case $cluster in
    slurm)
        programs=(munged slurmctld slurmd sbatch squeue scontrol)
        packages="munge slurmctld slurmd slurm-client"
        ;;
    sge)
        programs=(sge_qmaster sge_execd qsub qstat qacct /usr/lib/gridengine/spoolinit)
        packages="gridengine-master gridengine-exec gridengine-client"
        ;;
esac
missing=()
for program in "${programs[@]}"; do
    command -v "$program" >/dev/null || missing+=("$program")
done
if [ ${#missing[@]} -gt 0 ]; then
    echo "test-$cluster needs ${missing[*]}. On Debian or Ubuntu:" >&2
    echo "  sudo apt-get install --no-install-recommends $packages" >&2
    exit 77
fi
exec "${PYTHON:-.venv/bin/python}" -m pytest tests/clusters --cluster "$cluster" --durations=0 "$@"
