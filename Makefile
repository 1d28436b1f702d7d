# `make demo` and `make test` work alone on a fresh Debian 12: each installs what is missing, builds, and runs.
# CI=true makes warnings errors. Other systems: install the packages below by hand, the rest is the same.

BUILD := build
VENV := $(BUILD)/venv
PYTHON := $(VENV)/bin/python
JOBS ?= $(shell nproc)
WERROR := $(if $(filter true,$(CI)),ON,OFF)

# clang-22 brings the C++ library; LLVMConfig.cmake asks for the libraries in the third line.
PACKAGES := clang-22 lld-22 libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools \
	cmake ninja-build ccache libgtest-dev nlohmann-json3-dev python3-dev python3-venv \
	libzstd-dev libcurl4-openssl-dev libedit-dev zlib1g-dev libxml2-dev libffi-dev

# The tools of the virtual environment come first, so that a ptxas of a pip package in it is found.
ENVIRONMENT := VIRTUAL_ENV=$(abspath $(VENV)) PATH=$(abspath $(VENV))/bin:$$PATH

# What is there to use; `make test` builds the tests as well.
PROGRAMS := headrace-compile headrace-opt headrace-lsp-server headrace-sim _native

.PHONY: all demo test lint packages configure build
all: build

demo: build
	$(ENVIRONMENT) $(PYTHON) python/examples/demo_gemm.py --tools $(BUILD)/bin --out $(BUILD)/demo

test: configure
	ninja -C $(BUILD) -j$(JOBS)
	@$(ENVIRONMENT) $(PYTHON) test/summarize.py --build $(BUILD)

lint: $(VENV)/done
	$(VENV)/bin/ruff check python test

build: configure
	ninja -C $(BUILD) -j$(JOBS) $(PROGRAMS)

configure: $(VENV)/done
	cmake -S . -B $(BUILD) -G Ninja -DCMAKE_CXX_COMPILER=clang++-22 -DCMAKE_C_COMPILER=clang-22 \
		-DHEADRACE_WERROR=$(WERROR) -DHEADRACE_PYTHON=ON -DPython_EXECUTABLE=$(abspath $(PYTHON))

# The package where it lies, with its `test` extra: its module comes from the build below. ptxas only where the compiler
# would find none.
$(VENV)/done: pyproject.toml | packages
	python3 -m venv --system-site-packages $(VENV)
	$(PYTHON) -m pip install --quiet --config-settings=wheel.cmake=false --editable '.[test]'
	[ -n "$$HEADRACE_PTXAS" ] || [ -x "$$CUDA_HOME/bin/ptxas" ] || command -v ptxas >/dev/null \
		|| $(PYTHON) -m pip install --quiet nvidia-cuda-nvcc
	touch $@

packages:
	@missing=; for package in $(PACKAGES); do \
	  dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; \
	done; \
	[ -z "$$missing" ] && exit 0; \
	echo "missing packages:$$missing"; \
	[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo "install them as root, then run make again"; exit 1; }; \
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing
