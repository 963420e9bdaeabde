"""Avoids repeated work of PyTorch and ExecuTorch during a lowering. The resulting programs are the same."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from executorch import exir
from executorch.exir import EdgeCompileConfig, EdgeProgramManager
from torch.export import ExportedProgram

from export.patches import (
    composite_kernels,
    idle_passes,
    known_composites,
    late_code,
    node_sources,
    one_decomposition,
)


@contextlib.contextmanager
def avoided() -> Iterator[None]:
    """Avoids repeated work of any export."""
    with node_sources.shared(), composite_kernels.overridden_at_once(), late_code.generated_when_read():
        yield


def to_edge(
    programs: Mapping[str, ExportedProgram], config: EdgeCompileConfig, *, generate_etrecord: bool = False
) -> EdgeProgramManager:
    """Lowers methods without backends as ExecuTorch's `to_edge_transform_and_lower` does, in less time.

    Args:
        programs: the methods.
        config: the config of the edge dialect, with the validity check off. The two functions check differently.
        generate_etrecord: whether the result has the data of an ETRecord.
    """
    lower = exir.to_edge if one_decomposition.is_enough(programs) else exir.to_edge_transform_and_lower
    with known_composites.collected_once(), idle_passes.skipped():
        return lower(dict(programs), compile_config=config, generate_etrecord=generate_etrecord)
