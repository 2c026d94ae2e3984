#!/bin/bash
# What the documentation tells a reader to type runs; every shipped configuration and plan loads.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"

# Examples run in a folder that looks like the source tree, with nunasim on the PATH; what they
# write stays there.
mkdir "$tmp/bin" "$tmp/tree"
ln -s "$nunasim" "$tmp/bin/nunasim"
for item in dev configs traces docs; do
  ln -s "$root/$item" "$tmp/tree/$item"
done
export PATH="$tmp/bin:$PATH" NUNASIM=$nunasim
cd "$tmp/tree"

# commands FILE: the nunasim and ./dev run commands of its ```sh blocks, one a line; a backslash at
# the end of a line joins it with the next.
commands() {
  awk '
    /^```/ { inside = $0 ~ /^```sh/; next }
    !inside { next }
    { sub(/^\$ /, "") }
    continued { line = line $0 }
    !continued { line = $0 }
    { continued = sub(/\\$/, "", line) }
    !continued && line ~ /^(nunasim|\.\/dev run)( |$)/ { print line }
  ' "$1"
}

# works COMMAND
works() {
  local code=0
  bash -o pipefail -c "$1" >"$tmp/output" 2>&1 </dev/null || code=$?
  [ "$code" = 0 ] && return
  tail -n 3 "$tmp/output"
  return 1
}

for file in "$root"/README.md "$root"/docs/*.md; do
  while IFS= read -r command; do
    if [ -n "$light" ] && [[ $command == *64* || $command == './dev run'* ]]; then
      continue # too long for a slow build
    fi
    check "${file#"$root"/}: $command" works "$command"
  done < <(commands "$file")
done
if [ -z "$light" ]; then
  check './dev run' works './dev run --quiet --out run --size 64kB'
fi
check 'a configuration' test -e "$root/configs/pod64.yaml"
for file in configs/*.yaml; do
  check "$file" works "nunasim latency-map --config $file"
done
for file in traces/plans/*.json; do
  check "$file" works "nunasim check $file"
done

printf '```sh\n$ nunasim --config \\\n  none.yaml\n./dev test\n```\n\n```\nnunasim no\n```\n' >example.md
check 'commands are found' same "$(commands example.md)" 'nunasim --config   none.yaml'
must_fail 'a failing example is not seen' works "$(commands example.md)"

finish
