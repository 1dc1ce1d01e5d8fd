#!/bin/sh
# Runs every test program and every test script; prints one closing line that counts them all. What was skipped has tested nothing, and is said.
# usage: run.sh BUILD PROGRAM ...
build=$1
shift
here=$(dirname "$0")
LOOPSCOPE=$(pwd)/$build/loopscope
export LOOPSCOPE
passed=0 failed=0 skipped=0
log=$build/tests/last.log
unlike() { grep -E "$1" "$log" | sort -u | wc -l; } # cmocka names those that failed or were skipped twice
for t in "$@" "$here"/*.sh; do
    [ "$t" = "$here/run.sh" ] && continue
    if "$t" >"$log" 2>&1; then state=ok; else state=FAILED; fi
    p=$(grep -cE '^\[ +OK +\]|^ok ' "$log")
    f=$(unlike '^\[  FAILED  \] [^0-9]|^FAIL ')
    s=$(unlike '^\[  SKIPPED \] [^0-9]')
    [ $state = FAILED ] && [ "$f" = 0 ] && f=1
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    echo "$state $(basename "$t"): $p passed, $f failed, $s skipped"
    if [ $state = FAILED ]; then cat "$log"; fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
