"""Patch: the runs of a module compile nothing, although parts of it are in `torch.compile`.

**What**: replaces `__call__` of `torch._TorchCompileInductorWrapper`, the backend of `torch.compile` that compiles
graphs to C++ or CUDA.

**Why**: samples are those of eager PyTorch. The code would run a few times only, and needs a C++ compiler on the
machine of the export. `torch.export` ignores `torch.compile`.

**Effect**: without the patch, the export of such a model takes a minute more.

**Report**: none. `torch.compiler.set_stance("force_eager")` also changes how eager PyTorch runs `torch.cond`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch

from export.patches.patch import Patch

PATCH = Patch(
    "compiled_parts",
    known={"torch:_TorchCompileInductorWrapper.__call__": {"2.13": "e1afacadf665"}},
    without="parts of models in torch.compile are compiled to C++, which takes time",
)


def eager() -> contextlib.AbstractContextManager[None]:
    """Makes the default backend of torch.compile run the graphs as they are, during the block."""
    return PATCH.applied(torch._TorchCompileInductorWrapper, __call__=_run)


def _run(_: Any, module: torch.fx.GraphModule, inputs: Any, **options: Any) -> Callable[..., Any]:
    return module.forward
