#!/usr/bin/env bash
# Installs NVIDIA's run-time compiler as a Python package into FOLDER, for tests without CUDA.
set -euo pipefail
folder=${1:?usage: tools/install_nvrtc.sh FOLDER}
[ -e "$folder/nvidia/cu13/lib/libnvrtc.so.13" ] && exit 0
echo "installing nvidia-cuda-nvrtc into $folder"
python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --upgrade --target "$folder" 'nvidia-cuda-nvrtc==13.0.*'
