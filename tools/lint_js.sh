#!/bin/sh
# Checks the page's script with ESLint, kept in the cache; where it cannot be had, that node can read each module.
set -eu
version=9.39.5
place=.cache/eslint-$version
eslint=$place/node_modules/.bin/eslint
modules=src/plait/view/page/assets/script

if ! command -v node >/dev/null; then
    echo "note: node is not installed, the page's script is not checked" >&2
    exit 0
fi
[ -x "$eslint" ] || npm install --prefix "$place" --no-save --no-audit --no-fund --silent "eslint@$version" \
    >/dev/null 2>&1 || true
if [ -x "$eslint" ]; then
    exec "$eslint" --config tools/eslint.config.mjs "$modules" tests/script tools
fi
echo "note: ESLint $version could not be installed, the page's script is only read" >&2
for module in "$modules"/*.js; do
    node --check --input-type=module - <"$module" || {
        echo "error: node cannot read '$module'" >&2
        exit 1
    }
done
