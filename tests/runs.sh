#!/bin/sh
# Training in the background: paused, resumed, listed; checkpoints that stay, and measurements over them.
# usage: LOOPSCOPE=build/loopscope tests/runs.sh
dir=$(mktemp -d) || exit 1
trap '"$LOOPSCOPE" pause "$dir/runs/a" >/dev/null 2>&1; rm -rf "$dir"' EXIT
XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME
failed=0
why=
check() {
    if [ -z "$why" ]; then echo "ok $1"; else echo "FAIL $1: $why"; failed=1; fi
    why=
}
state() { "$LOOPSCOPE" --tsv runs "$dir/runs" 2>/dev/null | grep "^$dir/runs/$1	" | cut -f2; }
# wait_for NAME STATE OTHER: up to a minute, until it is one of the two
wait_for() {
    for _ in $(seq 240); do
        now=$(state "$1")
        [ "$now" = "$2" ] || [ "$now" = "$3" ] && return 0
        sleep 0.25
    done
    why="$1 is $(state "$1"), not $2"
    return 1
}

"$LOOPSCOPE" data khop --entities 12 --relations 4 --out-degree 3 --train 40 --test 20 --seed 3 --out "$dir/data" --quiet >/dev/null || why="no data"
cat >"$dir/recipe" <<R
data = $dir/data
epochs = 300
batch = 16
eval_every = 20
keep_every = 100
model.model_type = looped
model.hidden_size = 16
model.intermediate_size = 24
model.num_hidden_layers = 1
model.num_loops = 2
model.num_attention_heads = 2
model.hidden_act = silu
model.rms_norm_eps = 1e-6
model.position_embedding = rope
model.rope_theta = 10
model.tie_word_embeddings = true
model.norm_each_loop = true
model.loop_interface.kind = none
R
"$LOOPSCOPE" train "$dir/recipe" --out "$dir/runs/whole" --quiet >/dev/null 2>"$dir/err" || why="train: $(head -1 "$dir/err")"
[ "$(state whole)" = "done" ] || why="a run that has ended is '$(state whole)'"
check train

steps=$(find "$dir/runs/whole/checkpoints" -mindepth 1 -maxdepth 1 | wc -l)
[ "$steps" = 4 ] || why="$steps checkpoints, not those of epochs 0, 100, 200 and 300"
check checkpoints_stay

last=$(find "$dir/runs/whole/checkpoints" -mindepth 1 -maxdepth 1 | sort | tail -1)
cmp "$last/model.safetensors" "$dir/runs/whole/model.safetensors" || why="the last checkpoint is not the model"
"$LOOPSCOPE" --tsv timeline "$dir/runs/whole" --probe 'eval --split test_id' 2>"$dir/err" | grep -v '^#' >"$dir/timeline" || why="timeline: $(head -1 "$dir/err")"
"$LOOPSCOPE" --tsv eval "$last" --data "$dir/data" --split test_id | grep -v '^#' | tail -2 >"$dir/eval"
[ "$(wc -l <"$dir/timeline")" = 9 ] || why="timeline has $(wc -l <"$dir/timeline") lines"
tail -2 "$dir/timeline" | cut -f2- | cmp - "$dir/eval" || why="the last step is not what eval says of it"
[ "$("$LOOPSCOPE" --tsv timeline "$dir/runs/whole" | grep -vc '^#')" = 16 ] || why="the log has other lines"
check timeline

"$LOOPSCOPE" train "$dir/recipe" --out "$dir/runs/a" --background >"$dir/out" 2>"$dir/err" || why="background: $(head -1 "$dir/err")"
if wait_for a training "done" && [ "$(state a)" = training ]; then # a fast machine may have come to the end
    "$LOOPSCOPE" train "$dir/recipe" --out "$dir/runs/a" --background >/dev/null 2>"$dir/err" && why="two trainings in one folder"
    "$LOOPSCOPE" pause "$dir/runs/a" >"$dir/out" 2>"$dir/err" || why="pause: $(head -1 "$dir/err")"
    [ "$(state a)" = training ] && why="it still trains"
fi
"$LOOPSCOPE" pause "$dir/runs/a" >/dev/null 2>"$dir/err" && why="nothing was there to pause"
check pause

if [ "$(state a)" = paused ]; then
    "$LOOPSCOPE" train "$dir/runs/a/recipe" --out "$dir/runs/a" --resume --background >/dev/null 2>"$dir/err" || why="resume: $(head -1 "$dir/err")"
fi
if wait_for a "done" "done"; then cmp "$dir/runs/a/model.safetensors" "$dir/runs/whole/model.safetensors" || why="paused and resumed is not the same as uninterrupted"; fi
check resumed_is_the_same

# as from the screen, whose workers block signals
blocked='env --block-signal=INT --block-signal=TERM'
$blocked true 2>/dev/null || blocked=
$blocked "$LOOPSCOPE" train "$dir/recipe" --out "$dir/runs/long" --set epochs=1000000 --background >/dev/null 2>"$dir/err" || why="$(head -1 "$dir/err")"
pid=$("$LOOPSCOPE" --tsv runs "$dir/runs" 2>/dev/null | grep "^$dir/runs/long	" | cut -f14)
"$LOOPSCOPE" pause "$dir/runs/long" >"$dir/out" 2>"$dir/err" || why="pause: $(head -1 "$dir/err")"
if [ "$(state long)" = training ]; then
    why='signals that are blocked where a training is begun are blocked in it'
    [ -n "$pid" ] && kill -9 "$pid"
fi
rm -rf "$dir/runs/long"
check pause_though_blocked

# two seeds of one recipe, one row; the first line of each log at which the level is there
"$LOOPSCOPE" train "$dir/recipe" --out "$dir/runs/other" --set seed=7 --quiet >/dev/null 2>"$dir/err" || why="train: $(head -1 "$dir/err")"
first() { grep -v '^#' "$dir/runs/$1/log.tsv" | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "test_id.stage_2") c = i; next }
    $c >= 0.2 { print $2; found = 1; exit } END { if (!found) print "-" }'; }
"$LOOPSCOPE" --tsv seeds "$dir/runs" --level 0.2 2>"$dir/err" | grep -v '^#' | grep "$(printf '\t3\t')" >"$dir/seeds" || why="seeds: $(cat "$dir/err")"
expect=$(echo $(for run in "$dir"/runs/*; do first "${run##*/}"; done))
[ "$(cut -f8 "$dir/seeds")" = "$expect" ] || why="epochs '$(cut -f8 "$dir/seeds")', not '$expect'"
expect=$(echo "$expect" | tr ' ' '\n' | sort -n | sed -n 2p)
[ "$(cut -f4 "$dir/seeds")" = "$expect" ] || why="the median is $(cut -f4 "$dir/seeds"), not $expect"
"$LOOPSCOPE" seeds "$dir/runs" --split nosuch >/dev/null 2>"$dir/err" && why="a split that no log has"
check seeds

"$LOOPSCOPE" timeline "$dir/runs/nosuch" >/dev/null 2>"$dir/err" && why="no run is no success"
grep -q nosuch "$dir/err" || why="$(cat "$dir/err")"
sed -i 's/^keep_every.*//' "$dir/recipe"
"$LOOPSCOPE" train "$dir/recipe" --out "$dir/runs/none" --set epochs=1 --quiet >/dev/null 2>&1
[ -d "$dir/runs/none/checkpoints" ] && why="checkpoints without keep_every"
grep -q keep_every "$dir/runs/none/recipe" && why="an option that was not given stands in the recipe"
"$LOOPSCOPE" timeline "$dir/runs/none" --probe eval >/dev/null 2>"$dir/err" && why="no checkpoints are no success"
grep -q keep_every "$dir/err" || why="$(cat "$dir/err")"
check refusals
exit $failed
