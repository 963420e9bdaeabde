"""other_custom_ops::matmul with its fake kernel, which PyTorch's stable ABI leaves to Python: sizes may be symbolic."""

import examples.torch_matmul.other_matmul_ops  # noqa: F401 (loads the library)
import torch


def _matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.new_empty(a.shape[0], b.shape[1])


torch.library.register_fake("other_custom_ops::matmul", _matmul)
