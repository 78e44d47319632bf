#!/bin/sh
# Format and static analysis: tools/lint.sh [all | COMMIT] [BUILD_FOLDER]
#
# clang-format on every tracked C++ file; clang-tidy on the sources that differ from COMMIT (default
# HEAD), or on all of them when asked, or when a header or the rules differ. Needs a configured
# build folder (default build/release) for its compile commands.
set -eu
cd "$(dirname "$0")/.."
since=${1:-HEAD}
build=${2:-build/release}

git ls-files '*.h' '*.cc' '*.cuh' | xargs clang-format-19 --dry-run -Werror

if [ ! -f "$build/compile_commands.json" ]; then
  echo "lint: $build has no compile_commands.json; run cmake --preset release" >&2
  exit 1
fi
# Left out are the tests and the tier files of kernels, whose unrolled tiles still have findings; a
# changed one is checked when it is touched.
tests='.*_test(_util)?\.cc'
tiles='kernel/.*_(baseline|avx2|avx512|avx512bf16|neon)\.cc'
every="(src|bench|cli|tools)/(?!$tests)(?!$tiles)[a-z0-9_/]+\.cc"
if [ "$since" = all ]; then
  sources=$every
else
  changed=$({ git diff --name-only --diff-filter=d "$since"; git ls-files -o --exclude-standard; })
  sources=$(printf '%s\n' "$changed" | { grep '\.cc$' || true; } | paste -sd '|' -)
  if printf '%s\n' "$changed" | grep -qE '\.(h|inc)$|\.clang-tidy$'; then sources=$every; fi
fi
if [ -z "$sources" ]; then exit 0; fi
exec run-clang-tidy-19 -quiet -p "$build" "^$PWD/($sources)\$"
