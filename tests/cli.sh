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

# What is text refuses to be a table, and long work asks first where it may write.
for line in "card vanilla" "view grid vanilla" "help sweep" "sweep --help" "synth ouro example --out $dir/x" "tui"; do
    # shellcheck disable=SC2086
    run 2 $line --json
    says "$err" "leave --json and --tsv out"
    silent "$out"
done
run 0 help --json
says "$out" '"sweep"'
check text_is_no_table
run 1 sweep vanilla -o "$dir/nosuch/x.png"
says "$err" "$dir/nosuch/x.png"
silent "$out"
run 1 sweep vanilla --save "$dir/nosuch/x.tsv"
silent "$out"
run 2 sweep vanilla -o "$dir/x.jpg"
check writing_is_asked_first

for line in "sweep vanilla --do mix" "sweep vanilla --do mux@h.1" "sweep vanilla --do mix@h.1:alhpa=1" "lens vanilla --row test_ood" \
    "sweep vanilla --over alpha" "sweep vanilla --over aplha=0,1" "sweep vanilla --over alpha=0,0.0" "sweep vanilla --over position=0:5:1" \
    "eval vanilla --split test_id,test_id" "plot $dir/x.tsv --size 3" "train models/vanilla/recipe" "compare vanilla vanilla eval --questions"; do
    # shellcheck disable=SC2086
    run 2 $line
    silent "$out"
done
run 0 view grid vanilla --row test_id:5 --set grid.metric=rank
says "$out" "test_id 5"
says "$out" "lens vanilla --row test_id:5"
run 2 view grid vanilla --set grid.metrik=rank
says "$err" "did you mean grid.metric?"
run 2 view grid vanilla --data two-hop-tinny
says "$err" "did you mean two-hop-tiny?"
check view_is_set_up

# A home that cannot be written: sets are made among the temporary files, which is said once.
mkdir "$dir/tmp"
HOME=/proc XDG_CACHE_HOME= TMPDIR=$dir/tmp run 0 vocab vanilla
says "$err" "so the dataset two-hop-small did not exist yet and was made in $dir/tmp/loopscope-"
HOME=/proc XDG_CACHE_HOME= TMPDIR=$dir/tmp run 0 vocab vanilla
silent "$err"
HOME=/proc XDG_CACHE_HOME= TMPDIR=/proc run 1 vocab vanilla
says "$err" "XDG_CACHE_HOME may name another place"
check no_home_to_write_to

run 1 lens vanilla --row test_ood:99999999
run 1 lens vanilla --row nosuch:1
says "$err" "test_ood"
run 1 train nosuch --out "$dir/x"
says "$err" "help --names recipes"
run 0 sweep vanilla --split train_atomic,test_id --limit 4 --over position=1,2
says "$err" "train_atomic: 1 of 2 cells wrote no row"
check wrong_lines_are_usage

# One table a command: what a pipe takes, plot draws.
run 0 compare vanilla discoloop --limit 20 --tsv
[ "$(grep -c '^# table' "$out")" = 1 ] || why="compare prints more than one table"
"$LOOPSCOPE" compare vanilla discoloop --limit 20 --tsv 2>"$err" | "$LOOPSCOPE" plot - -o "$dir/compare.png" >"$out" 2>>"$err"
says "$out" "wrote $dir/compare.png"
run 0 compare vanilla discoloop --limit 20 --questions --json
says "$out" '"says_a"'
check one_table

# Bundled files are found from any folder.
(cd "$dir" && "$LOOPSCOPE" plot models/vanilla/log.tsv -o log.png >/dev/null && "$LOOPSCOPE" replay --list models/tour.log >/dev/null &&
    "$LOOPSCOPE" train models/vanilla/recipe --out run --stop-after 1 --quiet >/dev/null) 2>"$err" || why="from another folder: $(head -1 "$err")"
run 0 runs "$dir/run" --tsv
[ "$(grep -v '^#' "$out" | cut -f5,6 | tail -1)" = "0	1" ] || why="the saved step is not told from that of the log: $(tail -1 "$out")"
check bundled_files

# Completion as bash asks for it: the line up to the cursor, of which its last word is broken at : and =.
complete_in_bash() {
    cd "$dir" && bash -c '. "$1"; COMP_LINE="$2"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=("$3" "$4"); COMP_CWORD=1; compopt() { :; }; _loopscope
        printf "%s " "${COMPREPLY[@]}"' - "$dir/completion" "$1" "$LOOPSCOPE" "$2"
}
# offers LINE WORD NAMES: WORD is the part of the line's last word that bash replaces
offers() {
    got=$(complete_in_bash "$1" "$2") # a shell of its own
    [ "$got" = "$3 " ] || why="'$1' offers '$got', not '$3'"
}
if command -v bash >/dev/null; then
    "$LOOPSCOPE" help --completion bash >"$dir/completion"
    offers "loopscope sw" sw sweep
    offers "loopscope vani" vani vanilla
    offers "loopscope --json ev" ev eval
    offers "loopscope view gri" gri grid
    offers "loopscope view grid disc" disc discoloop
    offers "loopscope replicate figure-2" figure-2 figure-2
    offers "loopscope help comp" comp compare
    offers "loopscope data che" che check
    offers "loopscope data check two-hop-t" two-hop-t two-hop-tiny
    offers "loopscope data rows $dir/one test_i" test_i test_id
    offers "loopscope sweep vanilla --spl" --spl --split
    offers "loopscope eval vanilla --data $dir/one --split test_i" test_i test_id
    offers "loopscope eval vanilla --data $dir/one --split test_id,test_o" test_id,test_o test_id,test_ood
    offers "loopscope eval vanilla --data $dir/one --split=test_o" test_o test_ood
    offers "loopscope lens vanilla --data $dir/one --row test_o" test_o test_ood:
    offers "loopscope sweep vanilla --norm rm" rm rms
    offers "loopscope sweep vanilla --over alp" alp alpha=
    offers "loopscope sweep vanilla --do mix@h.1:posi" posi position=1,alpha=0.5,norm=rms
    offers "loopscope train models/vanilla/r" models/vanilla/r models/vanilla/recipe
    offers "loopscope synth ouro 1" 1 1.4b
    offers "loopscope card vanilla " "" ""
    check completion_in_bash
fi
if command -v zsh >/dev/null; then
    "$LOOPSCOPE" help --completion zsh >"$dir/_loopscope"
    zsh -fn "$dir/_loopscope" 2>"$err" || why="zsh: $(head -1 "$err")"
    # the thinking is shared; here it runs in zsh
    zsh -fc 'compdef() { :; }; . "$1"; program=$2; _loopscope_think eval vanilla --data "$3" --split te; print -r -- $kind $found' - \
        "$dir/_loopscope" "$LOOPSCOPE" "$dir/one" >"$out" 2>"$err"
    says "$out" test_ood
    says "$out" splits
    silent "$err"
    check completion_in_zsh
fi

"$LOOPSCOPE" data rows "$dir/one" train_two_hop --count 300 2>"$err" | head -1 >"$out"
silent "$err"
check closed_pipe
if [ -w /dev/full ]; then
    "$LOOPSCOPE" data check "$dir/one" >/dev/full 2>"$err" && why="a full disk is no success"
    says "$err" stdout
    check full_disk
fi
# A kernel for another processor (most have no FMA4): it works, or it is refused; it is no crash.
OPENBLAS_CORETYPE=Bulldozer "$LOOPSCOPE" selftest models/vanilla >"$out" 2>"$err" </dev/null
got=$?
[ $got = 0 ] || [ $got = 1 ] || why="exit code $got: $(head -3 "$err")"
[ $got = 0 ] || says "$err" "OPENBLAS_CORETYPE="
check "a kernel that the processor cannot run"

exit $failed
