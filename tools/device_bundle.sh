#!/bin/sh
# Collects into build/device what runs on a machine with a GPU and nothing of ours: the programs,
# the shared libraries they need, the field cases, and run_all, which runs them in one go.
#
# usage: tools/device_bundle.sh [BUILD_FOLDER]
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build/release}
out=$root/build/device
most_megabytes=50

rm -rf "$out"
mkdir -p "$out/bin" "$out/lib"
for program in cli/convoy tests/device/convoy_device_test; do
  cp "$build/$program" "$out/bin/"
  strip "$out/bin/$(basename "$program")"
done

# All but glibc, which belongs to the machine.
for program in "$out"/bin/*; do
  ldd "$program" | sed -n 's/.* => \(\/[^ ]*\).*/\1/p'
done | sort -u | while read -r library; do
  case $(basename "$library") in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.*) ;;
    *) cp -L "$library" "$out/lib/" && strip --strip-unneeded "$out/lib/$(basename "$library")" ;;
  esac
done

cp "$root/tests/conformance/field_cases.json" "$out/"
{
  git -C "$root" rev-parse HEAD
  if [ -n "$(git -C "$root" status --porcelain --untracked-files=no)" ]; then echo dirty; fi
} >"$out/bin/COMMIT"

# Wrappers: the bundle's libraries, and the NVRTC of an installed Python package.
for program in "$out"/bin/convoy "$out"/bin/convoy_device_test; do
  name=$(basename "$program")
  cat >"$out/$name" <<'WRAPPER'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${CONVOY_NVRTC:-}" ]; then
  found=$(python3 -c 'import nvidia, os
for p in nvidia.__path__:
    if os.path.isdir(p + "/cu13/lib"): print(p + "/cu13/lib"); break' 2>/dev/null || true)
  if [ -n "$found" ]; then export CONVOY_NVRTC="$found"; fi
fi
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export CONVOY_FIELD_CASES_FILE="$here/field_cases.json"
WRAPPER
  printf 'exec "$here/bin/%s" "$@"\n' "$name" >>"$out/$name"
  chmod +x "$out/$name"
done

cat >"$out/run_all" <<'RUN'
#!/bin/sh
# usage: run_all FOLDER [SUITE...]: runs every step that has not succeeded in this folder before and
# prints a line for each; FOLDER/results.tgz holds their documents, also after a step was cut short.
here=$(cd "$(dirname "$0")" && pwd)
to=$1
shift
work=${CONVOY_RUN_FOLDER:-/tmp/convoy-run}
mkdir -p "$to" "$work"
export CONVOY_CACHE_DIR="${CONVOY_CACHE_DIR:-/tmp/convoy-cache}"
step() { # name, seconds, command: stdout goes to name.json unless the command writes that itself
  name=$1 limit=$2
  shift 2
  if grep -qs "^$name 0 " "$work/steps.txt"; then return; fi
  start=$(date +%s)
  timeout "$limit" "$@" >"$work/$name.out" 2>"$work/$name.err"
  code=$?
  echo "$name $code $(($(date +%s) - start)) s" | tee -a "$work/steps.txt"
  case $(head -c 1 "$work/$name.out") in
    '{') mv "$work/$name.out" "$work/$name.json" ;;
    *) head -n 30 "$work/$name.out" | cut -c1-600 ;;
  esac
  tail -n 3 "$work/$name.err" | cut -c1-600
  tar -C "$work" -czf "$to/results.tgz" .
}
t="$here/convoy_device_test"
step devices 30 "$here/convoy" devices --calibrate --json
step selftest 120 "$here/convoy" selftest --device cuda --json
step sweep 150 "$t" --sweep --seconds 90 --json "$work/sweep.json"
step field 100 "$t" --field-cases --seconds 60 --json "$work/field.json"
step rest 150 "$t" --big-offsets --capture --streams --host-path --two-processes --seconds 25 \
  --json "$work/rest.json"
for suite in ${*:-smoke}; do
  step "bench-$suite" 200 "$here/convoy" bench --device cuda --suite "$suite" --allow-noisy --json
done
RUN
chmod +x "$out/run_all"

megabytes=$(du -sm "$out" | cut -f1)
echo "$out: $megabytes MB, $(ls "$out/lib" | wc -l) libraries"
if [ "$megabytes" -gt "$most_megabytes" ]; then
  echo "more than $most_megabytes MB: too large to carry" >&2
  exit 1
fi
