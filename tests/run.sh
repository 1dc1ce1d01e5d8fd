#!/bin/sh
# Runs every test program and every test script; prints one closing line that counts them all.
# usage: run.sh BUILD PROGRAM ...
build=$1
shift
here=$(dirname "$0")
LOOPSCOPE=$(pwd)/$build/loopscope
export LOOPSCOPE
passed=0 failed=0 wrong=
log=$build/tests/last.log
for t in "$@" "$here"/*.sh; do
    [ "$t" = "$here/run.sh" ] && continue
    if "$t" >"$log" 2>&1; then state=ok; else state=FAILED; fi
    p=$(grep -cE '^\[ +OK +\]|^ok ' "$log")
    f=$(grep -cE '^\[  FAILED  \] [^0-9]|^FAIL ' "$log")
    [ $state = FAILED ] && [ "$f" = 0 ] && f=1
    passed=$((passed + p)) failed=$((failed + f))
    echo "$state $(basename "$t"): $p passed, $f failed"
    if [ $state = FAILED ]; then wrong="$wrong $t"; cat "$log"; fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
