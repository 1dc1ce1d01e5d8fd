#!/bin/sh
# The same work in PyTorch, in the same minutes: training steps at three shapes, and the 21-point sweep on the bundled model.
# usage: peer.sh LOOPSCOPE [PEER.py]     (PYTHON: one that has torch, such as Debian's with python3-torch; PEER.py prints one JSON line, as
# `torch_looped.py train|sweep` does)
set -eu
loopscope=$1 peer=${2:-$(dirname "$0")/torch_looped.py}
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import torch' 2>/dev/null || { echo "peer.sh: $python has no torch: install python3-torch, or say PYTHON=one that has it" >&2; exit 1; }
rounds=${ROUNDS:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=8589934592

theirs() { # best of one and two threads, in ms or s, field $1
    field=$1; shift
    for t in 1 2; do OMP_NUM_THREADS=$t OPENBLAS_NUM_THREADS=$t "$python" "$peer" "$@"; done |
        "$python" -c "import sys, json; print(min(json.loads(l)['$field'] for l in sys.stdin))"
}
ours() { "$loopscope" bench "$1" --rounds 3 --tsv | awk -F'\t' -v name="$1" '$1 == name { print $2 }'; }
row() { # name, then ours and theirs of every round on standard input
    sort -g -k3 | awk -v name="$1" '{ o[NR] = $1; t[NR] = $2; r[NR] = $3 } END { m = int((NR + 1) / 2); printf "%-22s %9.1f %9.1f %7.2f  %.2f to %.2f\n", name, o[m], t[m], r[m], r[1], r[NR] }'
}
compare() { # bench row, then the peer's words
    name=$1; shift
    for _ in $(seq "$rounds"); do
        o=$(ours "$name") t=$(theirs ms_per_step_median train "$@")
        echo "$o $t" | awk '{ print $1, $2, $2 / $1 }'
    done | row "$name"
}
printf '%-22s %9s %9s %7s  %s\n' work ours_ms torch_ms ratio spread
compare train-d128
compare train-d64 --d 64 --ff 256
compare train-d128-discoloop --kind discoloop
"$loopscope" eval models/vanilla --limit 1 --quiet >/dev/null 2>&1 # makes the dataset
data=${XDG_CACHE_HOME:-$HOME/.cache}/loopscope/datasets/two-hop-small
for _ in $(seq "$rounds"); do
    begin=$(date +%s%N)
    "$loopscope" sweep models/vanilla --quiet > "$work/ours" 2>/dev/null
    end=$(date +%s%N)
    t=$(for split in test_id test_ood; do theirs seconds sweep models/vanilla "$data/$split.jsonl"; done | awk '{ s += $1 } END { print 1e3 * s }')
    echo "$(( (end - begin) / 1000000 )) $t" | awk '{ print $1, $2, $2 / $1 }'
done | row "sweep, 21 x 2,000"
