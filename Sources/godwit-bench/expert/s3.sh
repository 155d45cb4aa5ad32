#!/bin/sh
# What an expert would write by hand to migrate a fleet of small stores: one process of sqlite3 a
# store, as many at a time as there are processors, a durable result each.
#
# usage: s3.sh STORES SQL TEMPLATE RESULTS
#
# STORES    a folder of stores at rest, named NUMBER-vVERSION.sqlite
# SQL       a folder with VERSION.sql for each version: see ExpertSQL.swift for what is in them
# TEMPLATE  an empty store of the newest version
# RESULTS   an empty folder
#
# JOBS (2) processes at a time. Exit 0 only where every check of every store held. Paths hold
# letters, digits, dots, dashes, underscores and slashes alone.
set -eu

if [ $# -ne 4 ]; then
    echo "usage: s3.sh STORES SQL TEMPLATE RESULTS" >&2
    exit 64
fi
stores=$1 sql=$2 template=$3 results=$4
export sql template results
mkdir "$results/new"

# Shells are cheap when each serves many stores; the rename of a store follows its own checks and
# its own sync, which the last statement of its SQL has made.
find "$stores" -name '*.sqlite' | sort | xargs -P "${JOBS:-2}" -n 16 sh -ec '
    done=
    for store; do
        name=${store##*/}
        version=${name##*-v}
        report=$(sqlite3 -bail -batch \
            -cmd "ATTACH '\''file:$store?mode=ro&immutable=1'\'' AS source" \
            -cmd "ATTACH '\''file:$template?mode=ro&immutable=1'\'' AS template" \
            -cmd ".output /dev/null" \
            "$results/new/$name" <"$sql/${version%.sqlite}.sql")
        if [ "$report" != durable ]; then
            echo "$store: $report" >&2
            exit 1
        fi
        done="$done $results/new/$name"
    done
    mv -t "$results" $done
' sh
rmdir "$results/new"
sync "$results"
