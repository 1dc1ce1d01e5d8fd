#!/bin/sh
# convert: the same numbers in other files, and what changes is said.
here=$(dirname "$0")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0
check() { # what, command ...
    what=$1
    shift
    if "$@"; then echo "ok $what"; else echo "FAIL $what"; failed=1; fi
}
for case in huginn_sharded looped_discoloop_topk; do
    "$LOOPSCOPE" convert "$here/golden/$case" "$out/$case" >"$out/said" 2>&1
    cp "$here/golden/$case/reference.safetensors" "$out/$case"
    check "$case as stored says that no number changed" grep -q 'every number is what it was' "$out/said"
    check "$case as stored passes its selftest" sh -c "'$LOOPSCOPE' selftest '$out/$case' >/dev/null"
done
check "what is dropped is named" sh -c "'$LOOPSCOPE' convert '$here/golden/parcae_small' '$out/p' --dtype bf16 | grep -q 'lm_head.weight.*dropped: tied'"
check "weights are in the type asked for" sh -c "'$LOOPSCOPE' info '$out/p' 2>/dev/null | grep -q '^dtype  *BF16 '"
"$LOOPSCOPE" convert "$here/golden/huginn_sharded" "$out/h" --dtype f16 >"$out/said" 2>"$out/notes"
check "rounding is measured" grep -q 'rounded, by at most' "$out/said"
check "the config names the new type" grep -q '"torch_dtype": "float16"' "$out/h/config.json"
check "and that is said" grep -q 'torch_dtype' "$out/notes"
check "a model is never written over" sh -c "! '$LOOPSCOPE' convert '$here/golden/parcae_small' '$out/p' 2>/dev/null"
exit $failed
