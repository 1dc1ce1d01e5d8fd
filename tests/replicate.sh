#!/bin/sh
# Replications from nothing, at the tiny scale: they train what is missing, measure, and write table, figure and card; the same runs give the same bytes.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
failed=0
say() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "FAIL $2"; cat "$work/err"; failed=1; fi; }
replicate() { "$LOOPSCOPE" replicate "$@" --scale tiny --work "$work/runs" --threads 1 --quiet >"$work/out" 2>"$work/err"; }

ids=$("$LOOPSCOPE" replicate --list --scale tiny --work "$work/runs" --tsv | sed -n '/^id	/,$ p' | sed 1d | cut -f1)
[ -n "$ids" ]; say $? "there is a list"
for id in $ids; do
    # What has no recipes at the scale, or costs seconds to measure live, is not tried here.
    [ "$id" = overhead ] && continue
    replicate "$id" --seeds 2; say $? "$id: from nothing to a card"
    out=$work/runs/tiny/results
    [ -s "$out/$id.md" ] && [ -s "$out/$id.tsv" ]; say $? "$id: a card and a table"
    replicate "$id" --seeds 2 --measure-only --out "$work/again"; say $? "$id: measured again, elsewhere"
    differing=0
    for f in "$work/again/"*; do cmp "$f" "$out/$(basename "$f")" >>"$work/err" 2>&1 || differing=$((differing + 1)); done
    [ $differing = 0 ] && [ -s "$work/again/$id.md" ]; say $? "$id: the same bytes"
    rm -rf "$work/again"
done

grep -q '^| vanilla | 1 | 12 steps' "$work/runs/tiny/results/table-1a.md"; say $? "the card counts steps and seeds"
[ -s "$work/runs/tiny/results/replicate-figure-2-controls.png" ] && [ -s "$work/runs/tiny/results/replicate-figure-2-controls.svg" ]; say $? "figure 2 is drawn"

# A run that is not finished, or is of another recipe, is never counted.
replicate table-1a --seeds 3 --measure-only
grep -q '2 of 3 trainings are finished' "$work/runs/tiny/results/table-1a.md" && grep -q '^| vanilla | 2 | not run' "$work/runs/tiny/results/table-1a.md"
say $? "a seed that was not run is named, and not counted"
sed -i 's/^lr = .*/lr = 0.5/' "$work/runs/tiny/vanilla-1/recipe"
replicate table-1a --seeds 2 --measure-only
grep -q "another recipe's run: not used" "$work/runs/tiny/results/table-1a.md"; say $? "a run of another recipe is not used"
replicate table-1a --seeds 2; [ $? = 1 ] && grep -q "another recipe" "$work/err"; say $? "nor overwritten"
replicate tabel-1a; [ $? = 2 ] && grep -q "did you mean 'table-1a'" "$work/err"; say $? "a wrong name is answered with the right one"
exit $failed
