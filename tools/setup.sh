#!/bin/sh
# Makes the virtual environment: `tools/setup.sh .venv run|dev|mutants`.
set -eu
venv=$1
part=$2
python=${PYTHON:-python3}

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "error: Plait needs Python 3.11 or newer" >&2
    echo "hint: name one with \`make PYTHON=python3.12 run\`" >&2
    exit 1
fi
if [ ! -x "$venv/bin/python" ]; then
    if ! "$python" -m venv "$venv" 2>/dev/null; then
        # Debian keeps venv in a package of its own.
        [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || {
            echo "error: python's venv module is missing" >&2
            echo "hint: install it, for example with \`apt-get install python3-venv\`" >&2
            exit 1
        }
        apt-get update -qq && apt-get install -y -qq python3-venv
        "$python" -m venv "$venv"
    fi
fi
case $part in
    run) what=. ;;
    dev) what=".[dev]" ;;
    *) what=".[dev,$part]" ;;
esac
bin=$venv/bin
if [ -x "$bin/uv" ] || "$bin/python" -m pip install --quiet --constraint constraints.txt uv 2>/dev/null; then
    "$bin/uv" pip install --quiet --compile-bytecode --python "$bin/python" --constraint constraints.txt --editable "$what"
else
    "$bin/python" -m pip install --quiet --constraint constraints.txt --editable "$what"
fi
# Whoever has Python write no bytecode would wait at every start for it to be made anew.
"$bin/python" -m compileall -q src
# The pages are tested in a real browser; where none can be had, those tests are skipped.
if [ "$part" = dev ] && ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null \
    && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium; } >/dev/null 2>&1 \
        || echo "note: no browser could be installed, the tests of pages will be skipped" >&2
fi
touch "$venv/.$part"
