"""Patch: torchao folds no batch norms of training.

**What**: `_fold_conv_bn_qat` in `torchao.quantization.pt2e.quantize_pt2e` returns the module.

**Why**: for a module with a batch norm, the function exports a hundred patterns. No graph here has a batch norm for
training, since `prepare_pt2e` is not for training. A batch norm that follows no convolution stays in the graph.

**Effect**: without the patch, a quantized export of a convolution after a batch norm takes 15.5 s of CPU time, not
1.8.

**Report**, to torchao: `convert_pt2e` should call `_fold_conv_bn_qat` only for a module of `prepare_qat_pt2e`.
"""

from __future__ import annotations

import contextlib

from torchao.quantization.pt2e import quantize_pt2e

from export.patches.patch import Patch

PATCH = Patch(
    "training_patterns",
    known={
        "torchao.quantization.pt2e.qat_utils:_fold_conv_bn_qat": {"0.18": "8bbf6993d0fb"},
        "torchao.quantization.pt2e.quantize_pt2e:convert_pt2e": {"0.18": "1a3f4aa6197a"},
    },
    without="the quantization is slower",
)


def skipped() -> contextlib.AbstractContextManager[None]:
    """Folds no batch norms of training during the block."""
    return PATCH.applied(quantize_pt2e, _fold_conv_bn_qat=lambda module: module)
