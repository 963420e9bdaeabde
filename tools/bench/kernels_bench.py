"""Compares the times of kernels with PyTorch eager, on one thread, and writes docs/benchmarks.md.

    tools/bazel run //tools/bench:kernels_bench [-- --check]

The benchmark times //kernels/optimized, compiled for the processor's instruction set as PyTorch's kernels are, and the
same kernels of //kernels/portable, compiled for every processor. `--check` fails for an optimized kernel above its
limit, unless the kernel is an exception, and writes nothing.

With `--before` and `--before_commit`, the same run also times the kernels of another source tree, by its
//kernels/testing:optimized_op_caller. Each library runs in a process of its own, because ExecuTorch's runtime registers
an operator once for each process. The processes take turns in short rounds, so that other load of the machine affects
all of them.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from absl import app, flags, logging

from kernels.testing import op_tester
from tools.bench import kernel_cases, report
from tools.bench.kernel_cases import Case

_PORTABLE = flags.DEFINE_string("portable", None, "The library of the op_caller and portable kernels.", required=True)
_OPTIMIZED = flags.DEFINE_string("optimized", None, "The same of optimized kernels.", required=True)
_BEFORE = flags.DEFINE_string("before", None, "Such a library of another tree.")
_BEFORE_COMMIT = flags.DEFINE_string("before_commit", None, "The commit of that tree.")
_CASES = flags.DEFINE_string("cases", "", "A regular expression: which cases to run. Not all: no document is written.")
_FUNCTIONS = flags.DEFINE_string("functions", None, "The functions.yaml of these kernels.", required=True)
_CHECK = flags.DEFINE_bool("check", False, "Whether an operator above its limit is an error.")
_ROUNDS = flags.DEFINE_integer("rounds", 15, "How often the processes take turns in each case.", lower_bound=1)

_ROUND_SECONDS = 0.02
_EAGER, _PLAIN, _FAST, _THEN = "eager", "portable", "optimized", "before"


def _convolution(
    title: str, x: tuple[int, ...], weight: tuple[int, ...], *, stride: int = 1, padding: int = 0, groups: int = 1,
    transposed: bool = False,
) -> Case:  # fmt: skip
    bias = (weight[1] * groups if transposed else weight[0],)
    arguments = (x, weight, bias, [stride], [padding], [1], transposed, [0], groups)
    # PyTorch's out variant of a convolution copies the result of the functional variant.
    return Case(title, "aten::convolution.out", arguments, has_out=False)


_LAYER = (128, 3072)

_LAYER_CASES = (
    Case("mm 512x512x512", "aten::mm.out", ((512, 512), (512, 512))),
    Case("mm 512x512x512, half", "aten::mm.out", ((512, 512), (512, 512)), dtype=torch.float16),
    Case("mm 1x768x3072", "aten::mm.out", ((1, 768), (768, 3072))),
    Case("addmm 32x384x1536", "aten::addmm.out", ((1536,), (32, 384), (384, 1536))),
    Case("bmm 12x128x64x128", "aten::bmm.out", ((12, 128, 64), (12, 64, 128))),
    _convolution("convolution 3x3, 64x56x56 to 64", (1, 64, 56, 56), (64, 64, 3, 3), padding=1),
    _convolution("convolution 3x3, 64x56x56 to 128, stride 2", (1, 64, 56, 56), (128, 64, 3, 3), stride=2, padding=1),
    _convolution("convolution 1x1, 96x28x28 to 192", (1, 96, 28, 28), (192, 96, 1, 1)),
    _convolution("convolution 3x3, depthwise, 144x56x56", (1, 144, 56, 56), (144, 1, 3, 3), padding=1, groups=144),
    _convolution("convolution 3, 80x1500 to 384", (1, 80, 1500), (384, 80, 3), padding=1),
    _convolution(
        "convolution 4x4, transposed, 64x28x28 to 32, stride 2", (1, 64, 28, 28), (64, 32, 4, 4),
        stride=2, padding=1, transposed=True,
    ),
    Case("gelu 128x3072", "aten::gelu.out", (_LAYER,)),
    Case("tanh 128x3072", "aten::tanh.out", (_LAYER,)),
    Case("exp 128x3072", "aten::exp.out", (_LAYER,)),
    Case("sigmoid 128x3072", "aten::sigmoid.out", (_LAYER,)),
    Case("sin 128x3072", "aten::sin.out", (_LAYER,)),
    Case("pow 128x3072 to 2.5", "aten::pow.Tensor_Scalar_out", (_LAYER, 2.5)),
    Case("softmax 12x128x128", "aten::_softmax.out", ((12, 128, 128), -1, False)),
    Case("add 128x3072, half", "aten::add.out", (_LAYER, _LAYER), dtype=torch.float16),
    *(
        Case(f"Fourier transform of 3000 {kind} lines of {length}", f"aten::_fft_{name}.out", arguments, dtype=dtype)
        for length in (400, 512, 1024, 1000, 997)
        for kind, name, arguments, dtype in (
            ("real", "r2c", ((3000, length), [1], 0, True), torch.float32),
            ("complex", "c2c", ((3000, length), [1], 0, True), torch.complex64),
        )
    ),
    Case("transposed copy 1024x1024", "aten::permute_copy.out", ((1024, 1024), [1, 0])),
)  # fmt: skip


@contextlib.contextmanager
def _call(case: Case, library: str | None) -> Iterator[Callable[[], object]]:
    """Prepares the timed call of the kernel in `library`, or of PyTorch. Compares a kernel's results with PyTorch's."""
    tensors, keywords = case.inputs(), case.keywords
    tester = case.tester()
    overload, functional = tester.eager.overload, tester.eager.functional
    is_in_place = not tester.eager.out_names
    # Out tensors are contiguous, unless PyTorch gives the operator's out tensors another layout.
    outs = [] if is_in_place else [out.contiguous() for out in tester.expect(*tensors, **keywords)]
    values = [outs] if tester.eager.out_is_list else outs
    out_arguments = dict(zip(tester.eager.out_names, values, strict=True))
    if overload is not None:
        overload(*tensors, **keywords, **out_arguments)
    order = op_tester.dim_order_of(outs[0]) if len({out.dim() for out in outs}) == 1 else None
    if library is not None:
        if not is_in_place and case.is_defined:
            # The tolerance is loose, since the check only finds kernels that compute something else.
            tester.check(*tensors, **keywords, rtol=1e-2, atol=1e-2)
        with tester.prepare(*tensors, **keywords, outs=outs, out_dim_order=order, static=True) as call:
            yield call.run
    elif overload is None:
        yield lambda: tester.expect(*tensors, **keywords)
    elif not case.has_out:
        assert functional is not None
        yield lambda: functional(*tensors, **keywords)
    else:
        yield lambda: overload(*tensors, **keywords, **out_arguments)


def _serve(library: str | None, connection: Connection) -> None:
    """Times cases in a child process. A received case prepares the call. A received number runs so many calls.

    The answer to a number is the CPU seconds of the calls.

    Args:
        library: the library of the kernels; None for PyTorch eager.
        connection: the connection to the main process. A received None ends the process.
    """
    torch.set_num_threads(1)
    if library is not None:
        os.environ["OP_CALLER_LIBRARY"] = library
    with torch.inference_mode():
        while (case := connection.recv()) is not None:
            with _call(case, library) as call:
                connection.send(None)
                while (count := connection.recv()) > 0:
                    start = time.process_time()
                    for _ in range(count):
                        call()
                    connection.send(time.process_time() - start)


def _ask(connection: Connection, message: Any) -> Any:
    connection.send(message)
    return connection.recv()


def _measure(connections: Mapping[str, Connection], case: Case) -> dict[str, float]:
    """Returns the median seconds of one call, for each process."""
    counts: dict[str, int] = {}
    for name, connection in connections.items():
        _ask(connection, case)
        _ask(connection, 1)  # Fills caches.
        counts[name] = max(1, int(_ROUND_SECONDS / _ask(connection, 1)))
    seconds: dict[str, list[float]] = {name: [] for name in connections}
    for _ in range(_ROUNDS.value):
        for name, connection in connections.items():
            seconds[name].append(_ask(connection, counts[name]) / counts[name])
    for connection in connections.values():
        connection.send(0)
    return {name: statistics.median(values) for name, values in seconds.items()}


def _layers_section(measured: Mapping[str, Mapping[str, float]]) -> str:
    columns = [name for name in (_EAGER, _THEN, _PLAIN, _FAST) if all(name in seconds for seconds in measured.values())]
    header = ["kernel", *(f"{name}, us" for name in columns), *(f"{name} / eager" for name in columns[1:])]
    rows = [
        [
            title,
            *(f"{seconds[name] * 1e6:,.0f}" for name in columns),
            *(f"{seconds[name] / seconds[_EAGER]:.1f}" for name in columns[1:]),
        ]
        for title, seconds in measured.items()
    ]
    text = [
        "## Kernels compared with PyTorch eager",
        f"{_how_made()} The dtype is float32 unless the row names another one. Convolutions have a bias.",
        report.table(header, rows),
    ]
    if _BEFORE.value is not None:
        text.insert(
            2,
            f"*Before* is commit {_BEFORE_COMMIT.value}: `--before` is that commit's "
            "`//kernels/testing:optimized_op_caller`, and `--before_commit` its name.",
        )
    return "\n\n".join(text)


def _operators_section(measured: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    rows = []
    for operator, layouts in sorted(measured.items()):
        ratios = [
            f"{_ratio(layouts[layout], kernels):.1f}" if layout in layouts else ""
            for kernels in (_FAST, _PLAIN)
            for layout in kernel_cases.LIMITS
        ]
        contiguous = layouts[kernel_cases.CONTIGUOUS]
        rows.append([f"`{operator}`", *(f"{contiguous[name] * 1e6:,.0f}" for name in (_EAGER, _FAST)), *ratios])
    exceptions = [
        f"- `{operator}`, {layout}: {kernel_cases.EXCEPTIONS.get((operator, layout), 'not investigated')}"
        for operator, layouts in sorted(measured.items())
        for layout in _above_limit(layouts)
    ]
    limits = ", ".join(f"{limit:g} for {layout} tensors" for layout, limit in kernel_cases.LIMITS.items())
    text = [
        "## Speed of the kernels",
        f"{_how_made()} Inputs have 1 MB of float32, or of int32 if the operator takes integers only. The ratio is "
        f"the time of the kernel divided by the time of eager PyTorch. The limit for optimized kernels is {limits}. "
        "Strided inputs are channels-last or have their dimensions in reverse order; the outputs are contiguous. "
        "Complex inputs have the same number of elements, of complex64. `--check` fails if a ratio exceeds its limit.",
        report.table(
            [
                "operator",
                "eager, us",
                "optimized, us",
                *kernel_cases.LIMITS,
                *(f"portable, {layout}" for layout in kernel_cases.LIMITS),
            ],
            rows,
        ),
    ]
    if exceptions:
        text += ["These operators exceed their limit:", "\n".join(exceptions)]
    return "\n\n".join(text)


def _how_made() -> str:
    return (
        "Made by `tools/bazel run //tools/bench:kernels_bench`. A time is the median CPU time of a call on one "
        f"thread, of {_ROUNDS.value} rounds in which the columns run in turn ({_cpu()}). The kernels are compiled "
        "with `-c opt`: portable kernels for every processor of the architecture, optimized kernels for the "
        "instruction set of this processor."
    )


def _ratio(seconds: Mapping[str, float], kernels: str = _FAST) -> float:
    return seconds[kernels] / seconds[_EAGER]


def _above_limit(layouts: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Returns the layouts for which an operator exceeds its limit."""
    return [layout for layout, seconds in layouts.items() if _ratio(seconds) > kernel_cases.LIMITS[layout]]


def _cpu() -> str:
    """Returns the processor's name and PyTorch's instruction set, on which ratios to eager depend."""
    return f"{report.processor()}, PyTorch with {torch.backends.cpu.get_cpu_capability()}"


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument: {argv[1]}")
    if (_BEFORE.value is None) != (_BEFORE_COMMIT.value is None):
        raise app.UsageError("--before and --before_commit come together.")
    context = multiprocessing.get_context("spawn")
    libraries = {
        _EAGER: None,
        _PLAIN: os.path.abspath(_PORTABLE.value),
        _FAST: os.path.abspath(_OPTIMIZED.value),
    }
    if _BEFORE.value is not None:
        libraries[_THEN] = os.path.abspath(_BEFORE.value)
    connections: dict[str, Connection] = {}
    for name, library in libraries.items():
        connections[name], theirs = context.Pipe()
        context.Process(target=_serve, args=(library, theirs), daemon=True).start()
    operators: dict[str, dict[str, dict[str, float]]] = {}
    for operator in kernel_cases.operators(Path(_FUNCTIONS.value)):
        for layout, case in [] if operator in kernel_cases.NOT_TIMED else kernel_cases.operator_cases(operator):
            if re.search(_CASES.value, case.title):
                seconds = operators.setdefault(operator, {})[layout] = _measure(connections, case)
                logging.info("%s: %.0f us, %.1f of eager's", case.title, seconds[_FAST] * 1e6, _ratio(seconds))
    slow = [
        f"{operator}, {layout}: {_ratio(layouts[layout]):.1f}"
        for operator, layouts in operators.items()
        for layout in _above_limit(layouts)
        if (operator, layout) not in kernel_cases.EXCEPTIONS
    ]
    if _CHECK.value:
        for finding in slow:
            logging.error("%s of eager's time, which is above the limit", finding)
        sys.exit(1 if slow else 0)
    layers = {case.title: _measure(connections, case) for case in _LAYER_CASES if re.search(_CASES.value, case.title)}
    for connection in connections.values():
        connection.send(None)
    sections = {"kernels": _layers_section(layers), "speed": _operators_section(operators)}
    print("\n\n".join(sections.values()))
    root = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if root is not None and not _CASES.value:
        for name, section in sections.items():
            report.replace_section(Path(root, "docs", "benchmarks.md"), name, section)


if __name__ == "__main__":
    app.run(main)
