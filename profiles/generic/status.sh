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

# The job has ended. Its account is written some seconds later, or never if the job was deleted before its start.
ended="logs/sge/$1.ended"
[ -e "$ended" ] || touch "$ended"
[ $(($(date +%s) - $(stat -c %Y "$ended"))) -lt 60 ] && otherwise=running || otherwise=failed
qacct -j "$1" 2>/dev/null | awk -v otherwise=$otherwise '
    $1 == "failed" { failed = $2 }
    $1 == "exit_status" { status = $2 }
    END { print NR ? (failed + status ? "failed" : "success") : otherwise }'
