#!/bin/sh
# Audits three trained OCR networks from a PyPI package: tools/demo.sh [path of convoy]
set -eu
cd "$(dirname "$0")/.."
convoy=${1:-build/release/cli/convoy}
package=rapidocr-onnxruntime==1.4.4
folder=build/demo
models=$folder/rapidocr_onnxruntime/models

[ -x "$convoy" ] || { echo "demo: $convoy is missing; build it with make" >&2; exit 1; }
if [ ! -d "$models" ]; then
  [ -x .venv/bin/pip ] || python3 -m venv .venv
  .venv/bin/pip install --quiet --no-deps --target "$folder" "$package"
fi

# Rows name their problem; a group count marks depthwise and grouped ones.
grouped=0
audit() {
  echo "== $*"
  "$convoy" audit "$@" > "$folder/audit.txt" || { cat "$folder/audit.txt"; exit 1; }
  cat "$folder/audit.txt"
  grouped=$((grouped + $(grep -c ' conv2d fprop .* g[0-9]' "$folder/audit.txt")))
}

# Text detection on a 320x320 image, recognition of a 48x320 line, orientation of a 48x192 line.
audit "$models/ch_PP-OCRv4_det_infer.onnx" --batch 1 \
  --dim p2o.DynamicDimension.1=320 --dim p2o.DynamicDimension.2=320
audit "$models/ch_PP-OCRv4_rec_infer.onnx" --batch 1 --dim x.2=48 --dim p2o.DynamicDimension.1=320
audit "$models/ch_ppocr_mobile_v2.0_cls_infer.onnx" --batch 1 --dim x.2=48 --dim x.3=192

echo "$grouped depthwise or grouped Conv nodes audited and checked"
[ "$grouped" -ge 20 ] || { echo "demo: expected at least 20 of them" >&2; exit 4; }
