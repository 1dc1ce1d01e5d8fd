#!/bin/sh
# Installs what loopscope needs and this machine lacks; says what it installs; does nothing, and needs no root, when all is there.
# The list: Debian package, and what shows that it is there (a name asked of pkg-config, a path, or a command with "()").
set -eu
missing=
while read -r package proof; do
    case "$proof" in
        *'()') command -v "${proof%()}" >/dev/null 2>&1 || missing="$missing $package" ;;
        /*)    [ -e "$proof" ] || missing="$missing $package" ;;
        *)     pkg-config --exists "$proof" 2>/dev/null || missing="$missing $package" ;;
    esac
done <<LIST
pkg-config        pkg-config()
libncurses-dev    ncursesw
libopenblas-dev   openblas
libpng-dev        libpng
libcjson-dev      libcjson
libcairo2-dev     cairo
libfreetype-dev   freetype2
libzip-dev        libzip
libcmocka-dev     cmocka
fonts-dejavu-core /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
LIST
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null 2>&1; then
    echo "loopscope needs (Debian's names):$missing; install them and run make again" >&2
    exit 1
fi
root=
if [ "$(id -u)" != 0 ]; then
    root=sudo
    command -v sudo >/dev/null 2>&1 || { echo "loopscope needs:$missing; as root: apt-get install$missing" >&2; exit 1; }
fi
echo "installing:$missing"
$root apt-get update -qq
$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
echo "installed:$missing"
