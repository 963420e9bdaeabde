"""Compares models with the fastest other runtimes; writes docs/benchmarks.md and a plot.

    tools/bazel run //tools/bench:peers_bench -- --prepare        # writes the peers' files: minutes, and 8 GB
    tools/bazel run //tools/bench:peers_bench                     # measures all rows, and writes the document
    tools/bazel run //tools/bench:peers_bench -- --models=^bert$  # measures one row
    tools/bazel run //tools/bench:peers_bench -- --set=avx2       # as on a processor without AVX-512

The document has a section for each instruction set. With a set that is not the processor's widest, our kernels and the
peers are limited to the set, and peers that cannot be limited are left out. torch.compile and llama.cpp need another
--prepare for the set.

For each model, all columns load the program, run it once and compare with PyTorch's outputs, on one thread and on two.
Then the columns take turns for --minutes. A peer with a Python API has a process for each number of threads, which
sleeps during the turns of others. All processes of a model need up to 6 GB. The time of a column is the median of its
turns, and the time of a turn is the median of its runs.

All columns of a row are measured in one run. The file docs/peers_SET.json has the rows, each with its commit, day and
machine. The document is written from that file, once the file has all rows. --resume leaves out the rows of the
current commit.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from absl import app, flags

from tools.bench import report
from tools.bench.peers import goals, instruction_set, llama_cpp_package, results, tables
from tools.bench.peers.contestants import (
    Contestant,
    Runner,
    Started,
    UnavailableError,
    Worker,
    own_libraries,
    python_environment,
)
from tools.bench.peers.instruction_set import InstructionSet
from tools.bench.peers.masked import masked
from tools.bench.peers.one_run import OtherRunError, one_run
from tools.bench.peers.results import Cell, Peak, Results, Row, Run
from tools.bench.peers.worker import SESSIONS

_MODELS = flags.DEFINE_string("models", "", "A regular expression: which rows to measure. The document needs all.")
_COLUMNS = flags.DEFINE_string(
    "columns", "", "A regular expression: which columns. Not all: nothing is stored or written."
)
_SET = flags.DEFINE_string(
    "set", "", "The instruction set, e.g. avx2. Default: the widest that the processor has and the kernels are for."
)
_MINUTES = flags.DEFINE_float(
    "minutes", 1, "How long the turns of a model take. Those of an operator take a sixth of this.", lower_bound=0
)
_TURN = flags.DEFINE_float("turn", 0.25, "How many seconds a turn takes, at least one run.", lower_bound=0)
_CPUS = flags.DEFINE_list(
    "cpus",
    [str(cpu) for cpu in sorted(os.sched_getaffinity(0))[:2]],
    "The processors: the first for one thread, both for two.",
)
_PREPARE = flags.DEFINE_bool("prepare", False, "Only makes what the peers read, and fills torch.compile's cache.")
_RESUME = flags.DEFINE_bool("resume", False, "Leaves out the rows that were measured at the current commit.")
_CHECK = flags.DEFINE_bool("check", False, "Whether a goal that is missed is an error.")
_STATE = flags.DEFINE_string(
    "state",
    os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "rules_executorch", "peers_bench"),
    "The folder for what is kept: the peers' models.",
)

HERE = Path(__file__).parent
# The column with the goals, and the column of the same runner with a mapped program, which has no turns.
_OURS = "ours"
_MAPPED = "ours_mapped"
_PEERS = {
    "eager": "PyTorch eager",
    "compile": "`torch.compile`",
    "aoti": "AOTInductor",
    "xnnpack": "XNNPACK",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "llama_cpp": "llama.cpp",
}
_ONE_ROW = "products of one row have one thread"
_READS_WEIGHTS = "most of the time reads 0.5 GB of weights from memory, whose speed one thread nearly reaches"
# Why two threads are hardly faster than one, by column and model; "" stands for all models.
_MARKED = {
    ("eager", "llama_token"): _ONE_ROW,
    ("compile", "llama_token"): _ONE_ROW,
    (_OURS, "llama_token"): _READS_WEIGHTS,
    ("xnnpack", "llama_token"): _READS_WEIGHTS,
    ("onnxruntime", "bert_int8"): "three quarters of the time are `DequantizeLinear` of weights, which has one thread",
}
# If an inference takes longer than this, in seconds, there are no turns, and the single inference counts.
_SLOW = 2.0
# The number of new processes that load a model. The fastest one counts: a virtual machine can take seconds to give a
# process memory that no process has used for a while. If a process takes longer than _LONG_START, in seconds, this
# process alone counts.
_STARTS = 3
_LONG_START = 5.0
# The time of an operator's turns, relative to a model's.
_OPERATOR_PART = 1 / 6


class Bench:
    """All rows and columns, and the places of their files."""

    def __init__(self, folder: Path, state: Path, docs: Path, chosen: InstructionSet) -> None:
        """Reads models.json.

        Args:
            folder: the folder of the built runners.
            state: the folder for files that are kept between runs.
            docs: the folder of the document.
            chosen: the instruction set.
        """
        self.folder, self.state, self.docs, self.instruction_set = folder, state, docs, chosen
        self.models: dict[str, dict[str, Any]] = json.loads((folder / "models.json").read_text())
        self.peers = {name: title for name, title in _PEERS.items() if name not in chosen.left_out}
        self.columns = {_OURS: _OURS} | self.peers
        self.starting = {_OURS: _OURS, _MAPPED: "ours, `--load=mmap`"} | self.peers
        self.cpus = [int(cpu) for cpu in _CPUS.value]
        state.mkdir(parents=True, exist_ok=True)

    def is_operator(self, name: str) -> bool:
        return "work" in self.models[name]

    def rows(self, pattern: str) -> list[str]:
        """Returns the rows with names that match the pattern."""
        return [name for name in self.models if re.search(pattern, name)]

    def prepared(self, name: str) -> Path:
        """Returns the folder with the peers' files of a model. Makes the folder if it does not exist."""
        model = self.models[name]
        # The samples have PyTorch's outputs, which change with the model.
        key = hashlib.sha256((self.folder / f"{name}.ptd").read_bytes() + model["quantize"].encode()).hexdigest()[:16]
        folder = self.state / f"{name}-{key}"
        if not (folder / "ready").exists():
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / "prepare.log").open("w") as log:
                process = subprocess.run(
                    [sys.executable, "-m", "tools.bench.peers.prepare", json.dumps(model), str(folder)],
                    check=False,
                    stdout=log,
                    stderr=log,
                    env=self.environment,
                )
            if process.returncode != 0:
                print(f"{name}: the peers have nothing to read; see {folder / 'prepare.log'}", flush=True)
        return folder

    @property
    def caches(self) -> Path:
        """The folder of torch.compile's cache for the set. The cache's keys lack some variables of the set."""
        return self.state / f"inductor_{self.instruction_set.name}"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of Python processes."""
        limit = self.instruction_set.limit
        return python_environment(self.caches, llama_cpp_package.installed(self.state, limit))

    @functools.cached_property
    def masked_copies(self) -> Path:
        """The folder of the peers' masked copies, which is made if it does not exist."""
        specs = [PathFinder.find_spec(name) for name in ("onnxruntime", "openvino")]
        packages = [Path(spec.origin).parent for spec in specs if spec and spec.origin]
        runners = [file for name in self.models if (file := self.folder / f"xnnpack_{name}").exists()]
        return masked.copies(packages, own_libraries(runners[0]) if runners else [], self.state)

    @property
    def rows_file(self) -> Path:
        """The file with the measured rows."""
        return self.docs / f"peers_{self.instruction_set.name}.json"

    def contestant(self, column: str, name: str, prepared: Path, threads: int) -> Contestant:
        """Returns the contestant for a model in a column."""
        model, environment = self.models[name], dict(self.instruction_set.environment)
        cpus = self.cpus[:threads]
        if column in SESSIONS:
            environment = {**self.environment, **environment}
        if column in self.instruction_set.masked:
            environment = masked.environment(self.masked_copies, environment)
        if column in SESSIONS:
            return Worker(column, prepared, model, cpus, environment)
        if column == "aoti":
            flags_of = [f"--program={self.folder / name}_aoti.pt2", f"--samples={self.folder / name}_aoti.ptd"]
            return Runner(self.folder / "aoti_runner", flags_of, model, cpus, environment)
        if column == _MAPPED:
            return Runner(self.folder / f"{_OURS}_{name}", ["--load=mmap"], model, cpus, environment)
        return Runner(self.folder / f"{column}_{name}", [], model, cpus, environment)

    def threads_of(self, name: str) -> Sequence[int]:
        """Returns the numbers of threads of a row."""
        return (1,) if self.is_operator(name) else range(1, len(self.cpus) + 1)

    def columns_of(self, name: str) -> list[str]:
        """Returns the columns of a row, with those that only start.

        Operators are compared with PyTorch only, and llama.cpp runs one model.
        """
        left_out = set() if self.models[name]["has_gguf"] else {"llama_cpp"}
        if self.is_operator(name):
            left_out |= self.starting.keys() - {_OURS, "eager"}
        return [column for column in self.starting if column not in left_out and re.search(_COLUMNS.value, column)]


def _files_of(bench: Bench, name: str, prepared: Path) -> list[Path]:
    """Returns the files that the columns of a row read: runners, programs, samples, the peers' files and libraries."""
    own = re.compile(rf"({'|'.join(bench.columns)})_{name}|{name}(_(xnnpack|aoti))?\.(pte|ptd|pt2)")
    files = [file for file in bench.folder.iterdir() if own.fullmatch(file.name)]
    specs = [PathFinder.find_spec(package) for package in ("torch", "onnxruntime", "openvino")]
    packages = [Path(spec.origin).parent for spec in specs if spec and spec.origin]
    return [*files, *prepared.iterdir(), *(file for package in packages for file in package.rglob("*.so*"))]


def _read(files: Sequence[Path]) -> None:
    """Reads files, so that their pages are in memory. Otherwise, the first column of a row waits for the disk."""
    for path in files:
        with path.open("rb") as file:
            while file.read(1 << 24):
                pass


def _start(contestant: Contestant) -> Started:
    """Starts a contestant. The cost is that of the fastest of several starts.

    Raises:
        UnavailableError: the contestant does not run the model.
    """
    started = contestant.start()
    costs = [started.cost]
    while len(costs) < _STARTS and started.cost.start < _LONG_START:
        contestant.stop()
        costs.append(contestant.start().cost)
    return dataclasses.replace(started, cost=min(costs, key=lambda cost: cost.start))


def measure(bench: Bench, name: str, seconds: float, turn: float) -> dict[str, Cell]:
    """Measures a row.

    Args:
        bench: the rows and columns.
        name: the name of the model.
        seconds: the time for the turns of all columns. Each column has at least one turn.
        turn: the seconds of a turn.
    """
    prepared = bench.prepared(name)
    _read(_files_of(bench, name, prepared))
    row: dict[str, Cell] = {}
    taking_part: dict[tuple[str, int], Contestant] = {}
    try:
        for column in bench.columns_of(name):
            if reason := bench.models[name]["without"].get(column):
                row[column] = Cell(missing=reason)
                continue
            for threads in bench.threads_of(name):
                contestant = bench.contestant(column, name, prepared, threads)
                try:
                    # The cost of a model is that on one thread.
                    started = _start(contestant) if threads == 1 else contestant.start()
                except UnavailableError as error:
                    contestant.stop()
                    row[column] = dataclasses.replace(row.get(column, Cell()), missing=str(error))
                    break
                row.setdefault(column, Cell(started.cost))
                if column == _MAPPED:
                    contestant.stop()
                    break
                if started.seconds > _SLOW:
                    contestant.stop()
                    row[column] = row[column].with_turn(threads, started.seconds)
                    break
                taking_part[column, threads] = contestant
        end = time.monotonic() + seconds
        while taking_part:
            for (column, threads), contestant in taking_part.items():
                row[column] = row[column].with_turn(threads, contestant.turn(turn))
            if time.monotonic() > end:
                break
    finally:
        for contestant in taking_part.values():
            contestant.stop()
    return row


def _print(name: str, row: Mapping[str, Cell]) -> None:
    cells = []
    for column, cell in row.items():
        medians = [cell.median(threads) for threads in (1, 2)]
        text = " / ".join(f"{1e3 * median:.3g}" for median in medians if median is not None)
        cells.append(f"{column} {text or '-'}")
    turns = max((len(cell.seconds.get(1, ())) for cell in row.values()), default=0)
    print(f"{name}, {turns} turns, ms: " + ", ".join(cells), flush=True)


def measure_all(bench: Bench, names: Sequence[str], run: Run, peak: Peak) -> dict[str, Row]:
    """Measures rows. Stores each row that has all columns, if all columns are chosen.

    Args:
        bench: the rows and columns.
        names: the names of the rows.
        run: the current run.
        peak: the machine's peak.
    Returns:
        The rows of the file that are still rows of the table, with the measured rows.
    """
    rows = {name: row for name, row in results.load(bench.rows_file).items() if name in bench.models}
    for name in names:
        if _RESUME.value and name in rows and rows[name].run.commit == run.commit:
            continue
        seconds = 60 * _MINUTES.value * (_OPERATOR_PART if bench.is_operator(name) else 1)
        rows[name] = Row(run, peak, measure(bench, name, seconds, _TURN.value))
        if not _COLUMNS.value:
            results.save(rows, bench.rows_file)
        _print(name, rows[name].cells)
    return rows


def prepare(bench: Bench, names: Sequence[str]) -> None:
    """Installs llama.cpp, makes the peers' files and copies, and compiles all models once with torch.compile."""
    if any(column in bench.columns_of(name) for name in names for column in bench.instruction_set.masked):
        print(f"copies for {bench.instruction_set.name}: {bench.masked_copies}", flush=True)
    if any("llama_cpp" in bench.columns_of(name) for name in names):
        print("llama.cpp: compiling", flush=True)
        if error := llama_cpp_package.install(bench.state, bench.instruction_set.limit):
            print(f"llama.cpp: the package cannot be installed, and its column stays empty:\n{error}", flush=True)
    for name in names:
        start = time.monotonic()
        folder = bench.prepared(name)
        if "compile" in bench.columns_of(name):
            for threads in bench.threads_of(name):
                contestant = bench.contestant("compile", name, folder, threads)
                try:
                    contestant.start()
                except UnavailableError as error:
                    print(f"{name}: torch.compile: {error}")
                finally:
                    contestant.stop()
        print(f"{name}: prepared, {time.monotonic() - start:.0f} s", flush=True)


def measured_peak(bench: Bench) -> Peak:
    """Measures the peak of the first processor."""
    command = ["taskset", "-c", str(bench.cpus[0]), str(bench.folder.parent / "machine_peak")]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return tables.read_peak(printed, bench.instruction_set.name)


def current_run(workspace: Path) -> Run:
    """Describes this run. A workspace without git has the commit "unknown"."""

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["git", "-C", str(workspace), *arguments]
        return subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    commit = "unknown"
    if shutil.which("git") and not (head := git("rev-parse", "--short=12", "HEAD")).returncode:
        # The rows and the document change during a run.
        changed = git("diff", "--quiet", "HEAD", "--", ":!docs").returncode
        commit = head.stdout.strip() + ("-dirty" if changed else "")
    day = datetime.date.today().isoformat()
    return Run(commit, day, report.processor(), os.cpu_count() or 1, _built())


def section(bench: Bench, rows: Mapping[str, Row]) -> tuple[str, list[goals.Goal]]:
    """Returns the text for docs/benchmarks.md, and the goals in the text."""
    chosen = bench.instruction_set
    found: Results = {name: row.cells for name, row in rows.items()}
    titles = {name: model["title"] for name, model in bench.models.items()}
    models = {name: title for name, title in titles.items() if not bench.is_operator(name)}
    operators = {name: title for name, title in titles.items() if bench.is_operator(name)}
    of_models = {name: found[name] for name in models if name in found}
    work = {name: bench.models[name]["work"] for name in operators}
    shares: dict[str, float | None] = {}
    for name in operators:
        time_of = found[name][_OURS].median(1) if name in found and _OURS in found[name] else None
        shares[name] = tables.share(work[name], time_of, rows[name].peak) if time_of else None
    judged = goals.of_models(of_models, _OURS, list(bench.peers), chosen.name)
    judged += goals.of_starts(of_models, _MAPPED, list(bench.peers))
    judged += goals.of_operators(shares, {name: work[name]["goal"] for name in operators}, operators)
    columns_of_operators = {name: bench.columns[name] for name in (_OURS, "eager") if name in bench.columns}
    shown = tables.shows(found, models, bench.columns, _OURS, list(bench.peers))
    parts = [
        f"## Comparison with peers, {chosen.name}",
        f"Made by `tools/bazel run //tools/bench:peers_bench -- --set={chosen.name}`, and with `--models=^bert$`"
        f" for one row. The kernels are those of the instruction set `{chosen.name}`.{_held(chosen)} The dtype"
        " is float32 unless the row says int8. *Ours* is an `executorch_binary` with the kernels of its model's"
        " operators, compiled for the model's dtypes (`dtype_selective_build`), and runs the program of all graph"
        " passes. The peers run the same weights on the same inputs. Before the measurement, the outputs are compared"
        " with PyTorch's.",
        "Each row is measured in one run, and the list has the run of each row:",
        tables.runs(rows, titles),
        "The columns run in turn, with one thread on one processor, and with two on two. Each process has its number of"
        " threads and its processors from its start. A time is the median of the turns, and the time"
        " of a turn is the median of its runs. Copies of inputs before a run and of outputs after a run are not timed."
        f" If an inference takes more than {_SLOW:g} seconds, one inference is timed. *Load and first inference* is"
        " measured in a new process, from the start of its main function, with Python's imports. All files have been"
        f" read before; `torch.compile` has a full cache. The fastest of {_STARTS} processes counts, or the first if it"
        f" takes more than {_LONG_START:g} seconds. (Rows without a figure for `--load=mmap` are older, and had one"
        " process.) *Peak memory* is the peak up to the same point; for C++"
        " runners, up to the end of the process. *Code* is the loaded bytes of the runner and its libraries, without"
        " the libraries of the system and of Python.",
        tables.spread(found),
        "For int8, ours and XNNPACK use the recipe `xnnpack_int8`, `torch.compile` uses torchao's quantizer for x86,"
        " and ONNX Runtime and OpenVINO use ONNX Runtime's static quantization. PyTorch eager runs the model in"
        " float32. With 4-bit weights, ours and XNNPACK quantize activations to 8 bits, as torchao does; llama.cpp has"
        " the same weights as Q4_0, activations of 8 bits, and a cache of float16. In all columns, one token of Llama"
        " follows the same prompt of 128 tokens in the cache. llama.cpp's first inference includes the prompt. The"
        " profile of a model, such as"
        " `tools/bazel run //tools/bench/peers:ours_whisper_tiny.profile`,"
        " shows the time of each operator ([profiles](profiles.md)).",
        report.image(_plot(chosen), shown),
        tables.models(of_models, models, bench.columns, _OURS, list(bench.peers)),
        tables.costs(of_models, models, bench.starting),
        tables.marks(of_models, models, bench.columns, _MARKED),
        tables.notes(found, titles, bench.columns),
        _left_out(chosen),
        "### Operators",
        "Programs of one operator, on one thread.",
        "The share of a convolution is computed from the operations of its definition. Winograd's algorithm, which ours"
        " uses, needs fewer operations, so the share can exceed 100%. Operators that move bytes are compared with a"
        " copy of the same number of bytes, with the same share of bytes in the caches"
        " (`//tools/bench:machine_peak`).",
        tables.operators(rows, operators, columns_of_operators, work),
        "### Goals",
        tables.goals(judged),
    ]
    return "\n\n".join(filter(None, parts)), judged


def write(bench: Bench, rows: Mapping[str, Row], text: str) -> None:
    """Writes the section of the instruction set, and its plot, if all rows are there. Otherwise, the document stays."""
    if missing := [name for name in bench.models if name not in rows]:
        print(f"{bench.docs / 'benchmarks.md'} is not written: {bench.rows_file.name} lacks {', '.join(missing)}")
        return
    report.replace_section(bench.docs / "benchmarks.md", f"peers_{bench.instruction_set.name}", text)
    titles = {name: model["title"] for name, model in bench.models.items() if not bench.is_operator(name)}
    found = {name: row.cells for name, row in rows.items()}
    plot = tables.plot(found, titles, bench.columns, _OURS, list(bench.peers))
    (bench.docs / _plot(bench.instruction_set)).write_text(plot)


def _built() -> str:
    """Returns the instruction sets of the compiled kernels."""
    return (HERE.parents[2] / "kernels/testing/instruction_sets").read_text()


def _held(chosen: InstructionSet) -> str:
    """Returns the sentences about how columns are limited to an instruction set; empty for the widest set."""
    if not chosen.limit:
        return ""
    variables = ", ".join(f"`{name}={value}`" for name, value in chosen.environment.items())
    text = f" The environment limits the columns to this set: {variables}."
    if chosen.masked:
        *titles, last = (_PEERS[column] for column in chosen.masked)
        text += (
            f" {', '.join(titles)} and {last} have no such variable, and run as copies whose `cpuid` instructions do"
            " not show wider sets (`tools/bench/peers/masked`)."
        )
    if chosen.masked and chosen.limit == "avx2":
        text += (
            " XNNPACK's convolutions take about twice as long as with AVX-512, on real processors with AVX2, too: their"
            " kernel (`f32-igemm` 5x16 with FMA3), as compiled in ExecuTorch's wheel, keeps one of ten sums in memory."
        )
    if "llama_cpp" not in chosen.left_out:
        text += " llama.cpp is compiled for the set."
    return text


def _left_out(chosen: InstructionSet) -> str:
    """Returns the list of peers that cannot be limited to the instruction set."""
    lines = [f"- {_PEERS[column]}: {reason}" for column, reason in chosen.left_out.items()]
    reason = f"These columns are left out, because they cannot be limited to `{chosen.name}`:"
    return "\n".join([reason, "", *lines]) if lines else ""


def _plot(chosen: InstructionSet) -> str:
    """Returns the file name of the plot."""
    return f"peers_{chosen.name}.svg"


def run(bench: Bench, workspace: Path) -> None:
    """Prepares or measures the rows that the flags choose.

    Args:
        bench: the rows and columns.
        workspace: the folder of the repository.
    """
    names = bench.rows(_MODELS.value)
    if _PREPARE.value:
        prepare(bench, names)
        return
    rows = measure_all(bench, names, current_run(workspace), measured_peak(bench))
    text, judged = section(bench, rows)
    print(text)
    if not _COLUMNS.value:
        write(bench, rows, text)
    if _CHECK.value and not all(goal.met for goal in judged):
        raise SystemExit(1)


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument: {argv[1]}")
    try:
        chosen = instruction_set.choose(_SET.value, _built())
    except ValueError as error:
        raise app.UsageError(f"--set: {error}") from error
    workspace = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    bench = Bench(HERE, Path(_STATE.value), workspace / "docs", chosen)
    try:
        with one_run(bench.state):
            run(bench, workspace)
    except OtherRunError as error:
        raise SystemExit(f"error: {error}") from error


if __name__ == "__main__":
    app.run(main)
