#!/bin/sh
# OpenMythos trains with every part on and off: the loss at the end is a fraction of the first; sweeps (replays) answer what full runs answer.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
say() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "FAIL $2"; failed=1; fi; }
"$LOOPSCOPE" data khop --entities 24 --relations 6 --out-degree 3 --train 100 --test 20 --hops 2 --seed 1 --out "$work/data" --quiet >/dev/null 2>&1
cat > "$work/recipe" <<R
data = $work/data
epochs = 12
batch = 64
lr = 0.005
warmup = 5
eval_every = 3
embedding_sd = 0.1
model.model_type = openmythos
model.dim = 32
model.n_heads = 4
model.n_kv_heads = 2
model.max_loop_iters = 2
model.prelude_layers = 1
model.coda_layers = 1
model.q_lora_rank = 12
model.kv_lora_rank = 8
model.qk_rope_head_dim = 4
model.qk_nope_head_dim = 4
model.v_head_dim = 8
model.n_experts = 4
model.n_shared_experts = 1
model.n_experts_per_tok = 2
model.expert_dim = 16
model.act_threshold = 0.99
model.rope_theta = 100
model.lora_rank = 4
R
falls() { awk -F'\t' '/^[0-9]/ { if (!first) first = $4; last = $4 } END { exit !(last > 0 && last < 0.6 * first) }' "$1/log.tsv"; }
train() { # NAME ATTENTION SWITCHED_OFF ...
    name=$1; attention=$2; shift 2
    sets="--set model.attn_type=$attention"
    for off in "$@"; do sets="$sets --set model.$off=false"; done
    # shellcheck disable=SC2086
    "$LOOPSCOPE" train "$work/recipe" --out "$work/$name" --quiet $sets >/dev/null 2>"$work/err" && falls "$work/$name"
    say $? "the loss falls: $attention without ${*:-nothing}"
}
train all gqa
train latent mla
train index gqa use_loop_index_embedding
train lora gqa use_lora
train act gqa use_act
train moe gqa use_moe
train bare mla use_loop_index_embedding use_lora use_act use_moe
last() { grep -v '^#' | tail -n 1 | cut -f"$1"; }
for model in latent bare; do
    for k in 0 1 2; do
        swept=$("$LOOPSCOPE" sweep "$work/$model" --split train_two_hop --loops 3 --do "mix@h.$k:position=1" --over alpha=1:1:1 --tsv --quiet 2>/dev/null | last 4)
        whole=$("$LOOPSCOPE" eval "$work/$model" --split train_two_hop --loops 3 --do "mix@h.$k:position=1,alpha=1" --tsv --quiet 2>/dev/null | last 4)
        [ -n "$swept" ] && [ "$swept" = "$whole" ]
        say $? "an edit at h.$k of $model: $swept right by replay, $whole by a full run"
    done
done
exit $failed
