"""Runs one program with its arguments: on headrace-sim, or on a GPU through Headrace's runtime."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
sys.path[:0] = [str(REPOSITORY / "python"), str(REPOSITORY / "test" / "EndToEnd")]


@dataclass(frozen=True)
class Job:
    """A program to run. `record` and `ptx` (or `cubin`) are its code; arrays are (dtype, numpy array)."""

    name: str
    record: dict
    arguments: dict[str, tuple[str, np.ndarray] | int]
    outputs: tuple[str, ...]
    ptx: bytes | None = None
    cubin: bytes | None = None


@dataclass
class Outcome:
    """`status`: ok, finding (sim), error, hang, crash. `detail` is one message or what the simulator said."""

    status: str
    detail: str = ""
    outputs: dict[str, np.ndarray] = field(default_factory=dict)


def job_of(probe) -> Job:
    arguments = {k: v if isinstance(v, int) else (v.dtype, v.data) for k, v in probe.arguments.items()}
    return Job(probe.name, probe.record, arguments, probe.outputs, ptx=probe.ptx.encode())


def run_on_sim(job: Job, tool: Path, seconds: float) -> Outcome:
    """Runs `job` on headrace-sim. What it finds does not keep the outputs from being used."""
    if job.ptx is None:
        return Outcome("error", f"'{job.name}': expected its PTX beside the record")
    with tempfile.TemporaryDirectory(prefix="headrace-probe-") as directory:
        folder = Path(directory)
        (folder / "probe.ptx").write_bytes(job.ptx)
        (folder / "probe.json").write_text(json.dumps({**job.record, "ptx": "probe.ptx"}))
        command = [str(tool), str(folder / "probe.json"), "--jobs=1", f"--time-limit={max(int(seconds) - 1, 1)}"]
        for name, value in job.arguments.items():
            if isinstance(value, int):
                command += ["--arg", f"{name}={value}"]
            else:
                np.save(folder / f"{name}.npy", value[1])
                command += ["--arg", f"{name}={folder / name}.npy"]
        for name in job.outputs:
            command += ["--out", f"{name}={folder / name}.out.npy"]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 2, check=False)
        except subprocess.TimeoutExpired:
            return Outcome("hang", f"no answer in {seconds + 2:g} s")
        paths = {name: folder / f"{name}.out.npy" for name in job.outputs}
        outputs = {name: np.load(path) for name, path in paths.items() if path.exists()}
        text = run.stderr.replace(str(folder) + "/", "").strip()
        if run.returncode not in (0, 1):
            return Outcome("crash", f"exit code {run.returncode}\n{text}", outputs)
        if len(outputs) < len(paths):
            return Outcome("error", text, outputs)
        return Outcome("finding" if run.returncode else "ok", text, outputs)


def serve_gpu(connection) -> None:
    """The child's side of a watchdog: answers each Job with an Outcome. Imports nothing but cuda-bindings and numpy."""
    from headrace.errors import LaunchError
    from headrace.runtime import context, driver

    connection.send("ready")
    while True:
        job = connection.recv()
        try:
            context.current_context(None)
            outcome = _run_on_device(job, driver)
        except LaunchError as error:
            outcome = Outcome("error", str(error))
        except Exception as error:  # the next probe should still get its turn
            outcome = Outcome("error", f"{type(error).__name__}: {error}")
        connection.send(outcome)


def _run_on_device(job: Job, driver) -> Outcome:
    from headrace.runtime.arrays import DeviceArray
    from headrace.runtime.launch import Kernel

    passed, buffers = [], {}
    try:
        for name, value in job.arguments.items():
            if isinstance(value, int):
                passed.append(value)
                continue
            dtype, data = value
            data = np.ascontiguousarray(data)
            buffers[name] = int(driver.call("cuMemAlloc", max(data.nbytes, 16)))
            driver.call("cuMemcpyHtoD", buffers[name], data.ctypes.data, data.nbytes)
            passed.append(DeviceArray(buffers[name], data.shape, None, dtype))
        Kernel(job.record, cubin=job.cubin, ptx=job.ptx)(*passed)
        driver.call("cuCtxSynchronize", context=f"running '{job.name}'")
        outputs = {}
        for name in job.outputs:
            outputs[name] = np.empty_like(np.ascontiguousarray(job.arguments[name][1]))
            driver.call("cuMemcpyDtoH", outputs[name].ctypes.data, buffers[name], outputs[name].nbytes)
        return Outcome("ok", outputs=outputs)
    finally:
        for pointer in buffers.values():
            driver.bindings().cuMemFree(pointer)  # fails if the context is lost: no matter


class Gpu:
    """Runs jobs in a child process, a new one after each that hung, crashed or lost its context."""

    def __init__(self, seconds: float):
        from watchdog import Watchdog

        self._watchdog, self._seconds = Watchdog(serve_gpu), seconds

    def run(self, job: Job) -> Outcome:
        try:
            answer = self._watchdog.ask(job, self._seconds)
        except RuntimeError as error:
            return Outcome("error", str(error))
        if answer.status != "answered":
            return Outcome(answer.status, f"no answer in {self._seconds:g} s" if answer.status == "hang" else "")
        if answer.value.status == "error":
            self.stop()  # most CUDA errors lose the context
        return answer.value

    def stop(self) -> None:
        self._watchdog.stop()


def runner(where: str, tool: Path, seconds: float):
    """A function from Job to Outcome, and a function to call in the end."""
    if where == "sim":
        return (lambda job: run_on_sim(job, tool, seconds)), lambda: None
    gpu = Gpu(seconds)
    return gpu.run, gpu.stop
