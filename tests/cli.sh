#!/bin/sh
# The program from outside: exit codes, what goes to stdout and what to stderr, and that nothing but text goes into a pipe.
# usage: LOOPSCOPE=build/loopscope tests/cli.sh
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
XDG_CACHE_HOME=$dir/cache
TERM=xterm
export XDG_CACHE_HOME TERM
failed=0
out=$dir/out err=$dir/err
escape=$(printf '\033')

# run CODE WORDS: runs the program and remembers whether it ended with the code, and whether a control character was in the output.
run() {
    want=$1
    shift
    "$LOOPSCOPE" "$@" >"$out" 2>"$err" </dev/null
    got=$?
    [ $got = "$want" ] || why="exit code $got, not $want: loopscope $*: $(head -3 "$err")"
    if grep -q "$escape" "$out" "$err"; then why="escape bytes: loopscope $*"; fi
}
says() { grep -qF -- "$2" "$1" || why="'$2' is not in: $(head -3 "$1")"; }
silent() { [ ! -s "$1" ] || why="not silent: $(head -3 "$1")"; }
# check NAME: reports what went wrong since the last one.
check() {
    if [ -z "$why" ]; then echo "ok $1"; else echo "FAIL $1: $why"; failed=1; fi
    why=
}
why=

run 0 --version
says "$out" loopscope
silent "$err"
check version

run 0 help
says "$out" "data VERB"
run 0 --help
says "$out" "data VERB"
for name in $(sed -n '/^commands$/,/^$/ s/^  \([a-z_-]*\) .*/\1/p' "$out"); do
    run 0 "$name" --help
    says "$out" "usage: loopscope $name"
    silent "$err"
    run 0 help "$name"
done
run 0 tui --help
check help_of_every_command

run 2 dta
says "$err" "did you mean 'data'?"
silent "$out"
run 2 data chek
run 2 data khop --hops 9 --out "$dir/x"
says "$err" "outside 2 to 4"
run 2 data check
run 2 data check a b
run 2 data check x --threads none
run 2 tui a b
check usage_is_2

run 1 data check "$dir/nosuch"
says "$err" "$dir/nosuch"
silent "$out"
check failure_is_1

small="--entities 20 --relations 8 --out-degree 5 --train 300 --test 100 --seed 3"
# shellcheck disable=SC2086
run 0 data khop $small --out "$dir/one"
says "$out" "wrote $dir/one"
silent "$err"
# shellcheck disable=SC2086
run 0 data khop $small --out "$dir/two" --quiet
diff -r "$dir/one" "$dir/two" >"$out" || why="two runs differ: $(head -3 "$out")"
run 0 data check "$dir/one"
says "$out" train_two_hop
silent "$err"
check same_seed_same_bytes

run 0 data rows "$dir/one" test_ood --from 3 --count 2 --json
[ "$(wc -l <"$out")" = 1 ] || why="a table is not one line"
says "$out" '"provenance":{'
says "$out" "\"command\":\"data rows $dir/one test_ood --from 3 --count 2\""
says "$out" '"version":'
says "$out" '"columns":['
if command -v python3 >/dev/null; then python3 -c 'import json,sys; t=json.load(open(sys.argv[1])); assert len(t["rows"])==2' "$out" || why="not JSON"; fi
run 0 --tsv data rows "$dir/one" test_ood --count 2
says "$out" "# command: data rows"
run 0 data rows "$dir/one" test_ood --count 2
says "$out" "e2"
run 1 data rows "$dir/one" test_odd
says "$err" "did you mean 'test_ood'?"
check forms

cp -r "$dir/one" "$dir/bad"
printf 'x\033[2J\n' >>"$dir/bad/test_id.jsonl"
run 1 data check "$dir/bad"
says "$err" "test_id.jsonl: line 101:"
run 1 data check "$dir/$escape[2J"
says "$err" '\x1b[2J'
check control_characters_are_escaped

"$LOOPSCOPE" data rows "$dir/one" train_two_hop --count 300 2>"$err" | head -1 >"$out"
silent "$err"
check closed_pipe
if [ -w /dev/full ]; then
    "$LOOPSCOPE" data check "$dir/one" >/dev/full 2>"$err" && why="a full disk is no success"
    says "$err" stdout
    check full_disk
fi
exit $failed
