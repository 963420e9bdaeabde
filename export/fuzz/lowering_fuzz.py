"""Lowers random modules with `repeated_work.to_edge` and with ExecuTorch. Both programs must be the same.

Both lowerings have the decompositions that an export adds.

    tools/bazel run //export/fuzz:lowering_fuzz -- --count=400 --seed=1
"""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import torch
from absl import app, flags
from executorch.exir import EdgeCompileConfig, EdgeProgramManager, to_edge_transform_and_lower
from hypothesis import Phase
from torch.export import ExportedProgram

from export.fuzz import specs
from export.fuzz.check import quiet
from export.fuzz.draft import draft
from export.fuzz.programs import Programs
from export.fuzz.spec import Spec
from export.lower import repeated_work
from export.lower.decompositions import DECOMPOSITIONS
from export.patches import more_decompositions

_COUNT = flags.DEFINE_integer("count", 20, "How many modules.")
_SEED = flags.DEFINE_integer("seed", 1, "The same seed makes the same modules.")

_CONFIG = EdgeCompileConfig(_check_ir_validity=False)


def _executorch(exported: ExportedProgram) -> EdgeProgramManager:
    edge: EdgeProgramManager = to_edge_transform_and_lower({"forward": exported}, compile_config=_CONFIG)
    return edge


def _ours(exported: ExportedProgram) -> EdgeProgramManager:
    with repeated_work.avoided():
        return repeated_work.to_edge({"forward": exported}, _CONFIG)


def _results(lower: Callable[[ExportedProgram], EdgeProgramManager], exported: ExportedProgram) -> Iterator[object]:
    """Yields the code of the graph and the bytes of the program. Ends with the type of an exception if there is one."""
    try:
        edge = lower(exported)
        yield edge.exported_program().graph_module.code
        yield edge.to_executorch().buffer
    except Exception as error:  # ExecuTorch raises many types of exceptions.
        yield type(error)


class _Comparison:
    """Compares the two lowerings of modules, and counts modules and seconds."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "model.py"
        self.counts: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()

    def __call__(self, spec: Spec) -> None:
        self.counts["modules"] += 1
        with quiet():
            self._path.write_text(draft(spec).source())
            try:
                # A lowering changes fake tensors that copies of a program share. So each lowering has its own program.
                programs = [Programs(self._path).exported for _ in range(2)]
            except Exception:  # PyTorch refuses some modules, with exceptions of many types.
                self.counts["refused"] += 1
                return
            results = []
            for lower, exported in zip((_executorch, _ours), programs, strict=True):
                start = perf_counter()
                results.append([*_results(lower, exported)])
                self.seconds[lower.__name__] += perf_counter() - start  # type: ignore[assignment]  # It takes floats.
        assert results[0] == results[1], f"the programs differ:\n{self._path.read_text()}"


def main(_: list[str]) -> None:
    torch.set_num_threads(1)
    logging.disable(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder, more_decompositions.added(DECOMPOSITIONS):
        comparison = _Comparison(Path(folder))
        # Without reducing the module of a failure, which takes minutes.
        specs.run(comparison.__call__, _COUNT.value, _SEED.value, phases=[Phase.generate])
    print(dict(comparison.counts), {name: round(seconds, 1) for name, seconds in comparison.seconds.items()})


if __name__ == "__main__":
    app.run(main)
