# Tests that are .mlir or .test files with RUN lines.
#
#     lit-22 build/test                                        all of them
#     lit-22 build/test/Conversion/PipeToNVVM/wgmma.mlir -v    one, with its output
#
# Feature `ptxas`: an assembler is there, so cubins can be made.
#
# ruff: noqa: F821 (lit defines `config`)
import os
import subprocess
import tempfile

import lit.formats

config.name = "Headrace"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Unit", "Python", "EndToEnd", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.headrace_build, "test")

tools = os.path.join(config.headrace_build, "bin")
path = [tools, config.llvm_tools, config.environment["PATH"]]
config.environment["PATH"] = os.pathsep.join(path)
for name in ("HEADRACE_PTXAS", "CUDA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Longest first: a substitution replaces every match of its pattern.
for tool in ("headrace-compile", "headrace-opt", "headrace-sim"):
    config.substitutions.append((rf"(?<![\w/.-]){tool}(?![\w.-])", os.path.join(tools, tool)))
config.substitutions.append(("%examples", os.path.join(config.headrace_source, "examples")))


def compiles_to_cubin():
    """Whether headrace-compile finds a ptxas that takes its PTX."""
    empty = "tile.kernel @k() {\n  tile.return\n}\n"
    environment = {**os.environ, "PATH": config.environment["PATH"]}
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "k.cubin")
        command = [os.path.join(tools, "headrace-compile"), "-", "--target=sm_80", "-o", output]
        return subprocess.run(command, input=empty.encode(), capture_output=True, env=environment).returncode == 0


if compiles_to_cubin():
    config.available_features.add("ptxas")
