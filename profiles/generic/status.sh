#!/bin/sh
# Prints the state of a Grid Engine job for Snakemake: running (also: waiting), success or failed.
# Without it, a run would wait forever for a job that was killed.
trap '' INT # Ctrl-C is for Snakemake

if listed=$(qstat -j "$1" 2>&1); then
    case $listed in
        *"error reason"*) # it can never start, for example because it may not write its log
            qdel "$1" >&2
            echo failed ;;
        *) echo running ;;
    esac
    exit
fi
case $listed in
    *"do not exist"*) ;;
    *) # the master does not answer: ask later
        echo running
        exit ;;
esac

# The job has ended.
state=$(qacct -j "$1" 2>/dev/null | awk '
    $1 == "failed" { failed = $2 }
    $1 == "exit_status" { status = $2 }
    END { if (NR) print failed + status ? "failed" : "success" }')
if [ -z "$state" ]; then
    # Its account is written some seconds later, or never if the job was deleted before its start.
    unknown="logs/sge/$1.unknown"
    [ -e "$unknown" ] || touch "$unknown"
    [ $(($(date +%s) - $(stat -c %Y "$unknown"))) -lt 60 ] && state=running || state=failed
fi
echo "$state"
