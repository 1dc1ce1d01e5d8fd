#!/bin/sh
# Every family's example as a checkpoint: the same seed gives the same bytes, and a model without a dataset can be looked into.
here=$(mktemp -d)
failed=0
say() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "FAIL $2"; failed=1; fi; }
families=$("$LOOPSCOPE" synth none example --out "$here/none" 2>&1 | sed -n 's/^ *synth \([a-z0-9_]*\) example$/\1/p')
[ -n "$families" ]
say $? "synth names the families"
for family in $families; do
    for dtype in f32 bf16 f16; do
        "$LOOPSCOPE" synth "$family" example --dtype $dtype --seed 5 --out "$here/$family-$dtype" >/dev/null 2>"$here/notes" && ! [ -s "$here/notes" ]
        say $? "synth $family example as $dtype"
    done
    "$LOOPSCOPE" synth "$family" example --dtype bf16 --seed 5 --out "$here/again" >/dev/null 2>&1
    cmp -s "$here/again/model.safetensors" "$here/$family-bf16/model.safetensors"
    say $? "the same seed gives the same bytes ($family)"
    rm -rf "$here/again"
    "$LOOPSCOPE" synth "$family" example --out "$here/$family-f32" >/dev/null 2>&1
    [ $? -ne 0 ]
    say $? "synth does not write over a model ($family)"
    "$LOOPSCOPE" lens "$here/$family-bf16" --tokens '1 4 2' >"$here/lens" 2>&1 && ! grep -q 'not finite' "$here/lens"
    say $? "lens without a dataset ($family)"
done
"$LOOPSCOPE" lens "$here/ouro-bf16" --tokens '1 4 2' --loops 7 --do mix@h.6:position=1 2>/dev/null | grep -q ' 7 '
say $? "more loops than the config says"
"$LOOPSCOPE" lens "$here/looped-f32" --tokens '1 4 2' --exit-threshold 0.5 >/dev/null 2>&1
[ $? -ne 0 ]
say $? "an exit threshold needs an exit gate"
mkdir "$here/long" # twenty tokens, for a model with positions for sixteen
echo '{"kind":"khop","vocab_size":20,"files":{"test_id.jsonl":{}}}' >"$here/long/dataset.json"
echo '{}' >"$here/long/vocab.json"
echo '{"tokens":[1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2],"answer":3,"answer_position":19,"bridges":[{"position":1,"token":7}]}' \
    >"$here/long/test_id.jsonl"
"$LOOPSCOPE" synth loopformer example --out "$here/sixteen" >/dev/null 2>&1
for command in eval sweep flips orbit; do
    "$LOOPSCOPE" $command "$here/sixteen" --data "$here/long" --split test_id >"$here/out" 2>"$here/err"
    [ $? -eq 1 ] && grep -q "20 tokens.*positions for 16" "$here/err"
    say $? "$command says that a question is too long for the model"
done
rm -rf "$here"
exit $failed
