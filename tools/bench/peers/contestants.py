"""The contestants, which run a model in each column: a C++ runner for each turn, or a waiting Python process.

Each contestant has one number of threads, and its processes are pinned to as many processors from their start. If a
contestant cannot run a model, its error has the reason in one line.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, Protocol

from tools.bench import elf
from tools.bench.peers.results import Cost

_TIMES = re.compile(r"^time load ([\d.]+) ms, first run ([\d.]+) ms(?:.* times all (\d+): .*median ([\d.]+) ms)?", re.M)
# The packages and files that peers need, besides PyTorch and the module.
_NEEDS = {
    "llama_cpp": ("llama_cpp", "model.gguf"),
    "onnxruntime": ("onnxruntime", "model.onnx"),
    "openvino": ("openvino", "model.onnx"),
}
# The largest number of runs of all samples in a runner's turn.
_MOST_RUNS = 1000


class UnavailableError(Exception):
    """A contestant does not run a model. The message has the reason."""


@dataclass(frozen=True)
class Started:
    """The result of start().

    Attributes:
        cost: the cost up to the end of the first inference.
        seconds: the seconds of an inference.
    """

    cost: Cost
    seconds: float


class Contestant(Protocol):
    """A contestant: one column for one model and one number of threads."""

    def start(self) -> Started:
        """Loads the model, runs the first inference, and compares the outputs with PyTorch's.

        Raises:
            UnavailableError: the model does not run, or the outputs differ.
        """

    def turn(self, seconds: float) -> float:
        """Runs the model for about `seconds`. Returns the median seconds of an inference."""

    def stop(self) -> None:
        """Ends the process that start() began."""


@functools.cache
def _loaded_bytes(file: str) -> int:
    return elf.loaded_bytes(Path(file))


def _is_own(file: str) -> bool:
    """Returns whether a library belongs to a peer, and not to the system or to Python."""
    system = ("/lib/", "/lib64/", "/usr/", os.path.join(sys.base_prefix, "lib", "libpython"))
    return not file.startswith(system) and "lib-dynload" not in file


def _code_bytes(files: Sequence[str]) -> int:
    return sum(_loaded_bytes(file) for file in {os.path.realpath(file) for file in files if _is_own(file)})


def libraries(program: Path) -> list[str]:
    """Returns the paths of a program's shared libraries."""
    listed = subprocess.run(["ldd", str(program)], check=True, capture_output=True, text=True).stdout
    return re.findall(r"=> (/\S+)", listed)


def own_libraries(program: Path) -> list[Path]:
    """Returns the paths of a program's shared libraries that belong to a peer."""
    return [Path(file) for file in libraries(program) if _is_own(file)]


def _peak_bytes(pid: int) -> int:
    """Returns the peak memory of a process so far, in bytes; 0 if the process has ended."""
    with contextlib.suppress(OSError):
        peak = re.search(r"^VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.M)
        return int(peak[1]) * 1024 if peak else 0
    return 0


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


class Runner:
    """A runner of this repository, with our kernels, XNNPACK or AOTInductor."""

    def __init__(
        self,
        binary: Path,
        flags: Sequence[str],
        model: Mapping[str, Any],
        cpus: Sequence[int],
        environment: Mapping[str, str],
    ) -> None:
        """Prepares a runner.

        Args:
            binary: the runner.
            flags: flags with the program and the samples, unless the binary has its own.
            model: the row of models.json.
            cpus: the processors for the runner, one for each of its threads.
            environment: environment variables, in addition to those of this process.
        """
        self._binary = binary
        pinned = ["taskset", "-c", ",".join(map(str, cpus))]
        self._command = [*pinned, str(binary), *flags, "--print=0", f"--threads={len(cpus)}"]
        self._judge = [f"--atol={model['tolerance']}", f"--rtol={model['tolerance']}"]
        if model["min_snr"]:
            self._judge = [f"--min_snr={model['min_snr']}"]
        self._environment = os.environ | environment
        self._seconds = 0.0

    def _run(self, *flags: str, watch: bool = False) -> tuple[re.Match[str], int]:
        """Returns the times that the runner prints and, if `watch`, the runner's peak memory."""
        command = [*self._command, *flags]
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=self._environment)
            # wait4() is no use: its peak includes the memory of this process, from which the runner was forked.
            peak = 0
            while watch and process.poll() is None:
                peak = _peak_bytes(process.pid) or peak
                time.sleep(0.001)
            process.wait()
            output.seek(0)
            printed = output.read()
        times = _TIMES.search(printed)
        if process.returncode != 0 or not times:
            wrong = [line for line in printed.splitlines() if "DIFFERS" in line or "error:" in line]
            reason = (wrong or [_last_line(printed)])[0].strip()
            # If ExecuTorch gives up, only its log has the reason.
            _, has_log, log = printed.partition("ExecuTorch's log:")
            raise UnavailableError(f"{reason} {_last_line(log)}" if has_log else reason)
        return times, peak

    def start(self) -> Started:
        if not self._binary.exists():
            raise UnavailableError("not built")
        times, peak = self._run("--check", *self._judge, watch=True)
        files = [str(self._binary), *libraries(self._binary)]
        self._seconds = float(times[2]) / 1e3
        return Started(Cost((float(times[1]) + float(times[2])) / 1e3, peak, _code_bytes(files)), self._seconds)

    def turn(self, seconds: float) -> float:
        runs = max(1, min(_MOST_RUNS, round(seconds / self._seconds)))
        times, _ = self._run("--nocheck", "--warmup=0", f"--iterations={runs}")
        self._seconds = float(times[4]) / 1e3 / int(times[3])
        return self._seconds

    def stop(self) -> None:
        pass


class Worker:
    """A process of worker.py, which sleeps during the turns of others."""

    def __init__(
        self, column: str, folder: Path, model: Mapping[str, Any], cpus: Sequence[int], environment: Mapping[str, str]
    ) -> None:
        """Prepares a process.

        Args:
            column: the name of the process's session.
            folder: the folder that prepare.py wrote.
            model: the row of models.json.
            cpus: the processors for the process, one for each of its threads.
            environment: the environment variables.
        """
        self._column, self._folder, self._model, self._cpus = column, folder, model, cpus
        self._environment = {**environment, "OMP_NUM_THREADS": str(len(cpus))}
        self._log = folder / f"{column}_{len(cpus)}.log"
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> Started:
        package, needs = _NEEDS.get(self._column, ("torch", "module.pt"))
        if PathFinder.find_spec(package, self._environment["PYTHONPATH"].split(os.pathsep)) is None:
            raise UnavailableError(f"{package} is not installed")
        if self._column == "compile" and self._model["quantize"]:
            needs = "module_int8.pt2"
        if not (self._folder / needs).exists():
            error = self._folder / f"{needs}.error"
            raise UnavailableError(error.read_text() if error.exists() else f"there is no {needs}")
        command = ["taskset", "-c", ",".join(map(str, self._cpus)), sys.executable, "-m", "tools.bench.peers.worker"]
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [*command, self._column, str(self._folder), json.dumps(self._model), str(len(self._cpus))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self._environment,
            )
        first = self._answer()
        peak = _peak_bytes(self._process.pid)
        maps = Path(f"/proc/{self._process.pid}/maps").read_text()
        files = sorted(set(re.findall(r"^\S+ \S\Sx\S .* (/\S+)$", maps, re.M)) - {os.path.realpath(sys.executable)})
        cost = Cost(first["start"], peak, _code_bytes(files))
        second = self._ask({})
        if second["different"]:
            raise UnavailableError(second["different"])
        self._process.send_signal(signal.SIGSTOP)
        return Started(cost, second["seconds"])

    def _answer(self) -> dict[str, Any]:
        assert self._process and self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            raise UnavailableError(_last_line(self._log.read_text()))
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _ask(self, order: Mapping[str, object]) -> dict[str, Any]:
        assert self._process and self._process.stdin
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def turn(self, seconds: float) -> float:
        assert self._process
        self._process.send_signal(signal.SIGCONT)
        taken = float(self._ask({"seconds": seconds})["seconds"])
        self._process.send_signal(signal.SIGSTOP)
        return taken

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self._process = None


def python_environment(caches: Path, packages: Path) -> dict[str, str]:
    """Returns the environment of a Python process with the packages of this process, and those in a folder."""
    path = os.pathsep.join([*sys.path, str(packages)])
    return os.environ | {"PYTHONPATH": path, "TORCHINDUCTOR_CACHE_DIR": str(caches)}
