#!/bin/sh
# Installs what the file `packages` lists and this machine lacks; says what it installs; does nothing, and needs no root, when all is there.
set -eu
list=$(dirname "$0")/../packages
missing=
while IFS=: read -r package proof; do
    package=$(echo $package) proof=$(echo ${proof:-})
    case "$package" in ''|\#*) continue ;; esac
    case "$proof" in
        *'()') command -v "${proof%()}" >/dev/null 2>&1 || missing="$missing $package" ;;
        /*)    [ -e "$proof" ] || missing="$missing $package" ;;
        *)     pkg-config --exists "$proof" 2>/dev/null || missing="$missing $package" ;;
    esac
done < "$list"
[ -n "$missing" ] || exit 0
command -v apt-get >/dev/null 2>&1 || { echo "loopscope needs:$missing (Debian package names); install them and run make again" >&2; exit 1; }
root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || { echo "loopscope needs:$missing; as root: apt-get install$missing" >&2; exit 1; }
    root=sudo
fi
echo "installing:$missing"
$root apt-get update -qq
$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
echo "installed:$missing"
