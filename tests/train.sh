#!/bin/sh
# Training: the same bytes for any number of threads, and for a run that was stopped, killed and resumed.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
say() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "FAIL $2"; failed=1; fi; }
same() { # every file of two run folders
    for f in model.safetensors state.safetensors log.tsv config.json; do cmp -s "$1/$f" "$2/$f" || return 1; done
}
"$LOOPSCOPE" data khop --entities 40 --relations 8 --out-degree 4 --train 400 --test 60 --hops 2 --seed 1 --out "$work/data" --quiet >/dev/null 2>&1
cat > "$work/recipe" <<R
data = $work/data
epochs = 12
batch = 300
lr = 0.003
warmup = 10
schedule = cosine
decay_from = 0.5
eval_every = 2
model.model_type = looped
model.hidden_size = 32
model.intermediate_size = 48
model.num_hidden_layers = 2
model.num_loops = 2
model.num_attention_heads = 4
model.num_key_value_heads = 2
model.head_dim = 8
model.hidden_act = silu
model.rms_norm_eps = 1e-6
model.position_embedding = rope
model.rope_theta = 100
model.tie_word_embeddings = true
model.norm_each_loop = true
model.loop_interface.kind = discoloop
model.loop_interface.alpha = gate
R
run() { out=$1; shift; "$LOOPSCOPE" train "$work/recipe" --out "$work/$out" --quiet "$@" >/dev/null 2>"$work/err"; }
run one --threads 1; say $? "a small training runs"
run two --threads 2; same "$work/one" "$work/two"; say $? "two threads give the same bytes as one"
run eight --threads 8; same "$work/one" "$work/eight"; say $? "eight threads give the same bytes as one"
run part --threads 2 --stop-after 7; run part --resume --threads 1; same "$work/one" "$work/part"; say $? "stopped at step 7 and resumed: the same bytes"
"$LOOPSCOPE" train "$work/recipe" --out "$work/killed" --quiet --set epochs=4000 >/dev/null 2>&1 & pid=$!
for _ in $(seq 150); do sleep 0.2; [ "$(grep -c '^[0-9]' "$work/killed/log.tsv" 2>/dev/null || echo 0)" -gt 2 ] && break; done
kill -9 $pid; wait $pid 2>/dev/null
step=$(tail -n 1 "$work/killed/log.tsv" | cut -f1)
more=$((step + 25))
"$LOOPSCOPE" train "$work/recipe" --out "$work/killed" --quiet --set epochs=4000 --resume --stop-after $more >/dev/null 2>&1
"$LOOPSCOPE" train "$work/recipe" --out "$work/straight" --quiet --set epochs=4000 --stop-after $more >/dev/null 2>&1
same "$work/killed" "$work/straight"; say $? "killed with signal 9 and resumed: the same bytes"
run one --resume --set lr=0.1 && bad=1 || bad=0; say $bad "another recipe is refused on resume"
grep -q "another recipe" "$work/err"; say $? "and the message says so"
run one && bad=1 || bad=0; say $bad "a finished run is not overwritten"
"$LOOPSCOPE" train "$work/recipe" --out "$work/nan" --quiet --set lr=1e9 --set clip=0 --set warmup=0 >/dev/null 2>"$work/err" && bad=1 || bad=0
say $bad "a loss that is not finite stops the training"
grep -q "step .*not finite" "$work/err"; say $? "and the message names the step"
"$LOOPSCOPE" info "$work/nan" >/dev/null 2>"$work/err" && ! grep -q "NaN" "$work/err"; say $? "and the last checkpoint is a good model"
for loops in 1 2 3 5; do
    other=0
    for line in "eval $work/one" "bridge $work/one --boundary -1" "lens $work/one --row test_ood:1" "questions $work/one" \
                "sweep $work/one --over alpha=0,1" \
                "sweep $work/one --over alpha=0,1 --boundary $loops" "sweep $work/one --over alpha=0,1 --boundary $loops --position answer"; do
        "$LOOPSCOPE" $line --loops $loops >/dev/null 2>"$work/err" || { other=1; echo "$line"; cat "$work/err"; }
    done
    say $other "trained with 2 loops, measured with $loops"
done
ls "$work"/*/*.tmp-* >/dev/null 2>&1 && bad=1 || bad=0; say $bad "no temporary file is left"
exit $failed
