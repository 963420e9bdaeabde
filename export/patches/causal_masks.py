"""Patch: a trace does not ask whether the mask of a transformer is causal.

**What**: replaces `_detect_is_causal_mask` of `torch.nn.modules.transformer`, which compares masks with the causal one.

**Why**: the answer is a hint for faster kernels, and depends on the values of the mask, which a trace does not know.

**Effect**: without the patch, `nn.TransformerEncoder` and `nn.TransformerDecoder` with a mask are refused, as
data-dependent.

**Report**, to PyTorch: `_detect_is_causal_mask` should return False in a trace.
"""

from __future__ import annotations

import contextlib

import torch
from torch.nn.modules import transformer

from export.patches.patch import Patch

PATCH = Patch(
    "causal_masks",
    known={"torch.nn.modules.transformer:_detect_is_causal_mask": {"2.13": "a0ee26dd2964"}},
    without="transformers of torch.nn with masks cannot be exported",
)


def unasked() -> contextlib.AbstractContextManager[None]:
    """Takes masks as they are, unless the model says that one is causal, during the block."""
    return PATCH.applied(transformer, _detect_is_causal_mask=_is_said_causal)


def _is_said_causal(mask: torch.Tensor | None, is_causal: bool | None = None, size: int | None = None) -> bool:
    return is_causal is True
