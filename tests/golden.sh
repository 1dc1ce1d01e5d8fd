#!/bin/sh
# Parity: every recorded case has to be reproduced, tensor by tensor (`loopscope selftest`).
here=$(dirname "$0")
failed=0
for case in "$here"/golden/*/; do
    if "$LOOPSCOPE" selftest "$case" >/dev/null 2>&1; then echo "ok selftest $(basename "$case")"
    else echo "FAIL selftest $(basename "$case")"; "$LOOPSCOPE" selftest "$case" 2>&1 | grep -E 'FAILED|loopscope:' | head -20; failed=1; fi
done
# A reference that is off by more than the tolerance has to be refused, or the test above says nothing.
wrong=$(mktemp -d)
cp -r "$here"/golden/looped_grad_vanilla "$wrong"/case
printf '\101' | dd of="$wrong"/case/reference.safetensors bs=1 seek=20003 conv=notrunc 2>/dev/null
if "$LOOPSCOPE" selftest "$wrong"/case >/dev/null 2>&1; then echo "FAIL a changed reference passes"; failed=1; else echo "ok a changed reference is refused"; fi
rm -rf "$wrong"
exit $failed
