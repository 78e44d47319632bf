# Two commands on a fresh Debian machine: `make demo` and `make test`. Both install what they need.
SHELL := /bin/bash
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
JOBS ?= $(shell nproc)

BUILD_PACKAGES := clang-19 cmake ninja-build g++ ccache git libtbb-dev libcli11-dev libfmt-dev nlohmann-json3-dev \
  libyaml-cpp-dev libonnx-dev libprotobuf-dev protobuf-compiler libxxhash-dev
DEMO_PACKAGES := python3 python3-venv python3-pip
TEST_PACKAGES := libgtest-dev libgmock-dev libboost-context-dev libonnx-testdata python3

.PHONY: demo test build dependencies test-dependencies lint clean

demo: dependencies
	cmake --preset release -DCONVOY_TESTS=OFF
	cmake --build --preset release -j $(JOBS)
	tools/demo.sh build/release/cli/convoy

test: build
	@tools/install_nvrtc.sh build/nvrtc
	CONVOY_NVRTC=$(CURDIR)/build/nvrtc/nvidia/cu13/lib ctest --preset release -j $(JOBS)

build: test-dependencies
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

dependencies:
	@tools/install_packages.sh $(BUILD_PACKAGES) $(DEMO_PACKAGES)

test-dependencies: dependencies
	@tools/install_packages.sh $(TEST_PACKAGES)

lint: build
	tools/lint.sh all

clean:
	rm -rf build
