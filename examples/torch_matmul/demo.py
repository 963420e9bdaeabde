"""Multiplies two matrices by both libraries' operators and by PyTorch's own."""

import sys

import examples.torch_matmul.matmul_ops
import torch

import examples.torch_matmul.other_matmul  # noqa: F401 (loads the other library)

_ROWS, _INNER, _COLUMNS = 30, 40, 50
_TOLERANCE = 1e-4


def main() -> int:
    torch.manual_seed(0)
    a, b = torch.randn(_ROWS, _INNER), torch.randn(_INNER, _COLUMNS)
    expected = torch.matmul(a, b)
    largest = 0.0
    for name, matmul in (
        ("custom_ops::matmul", torch.ops.custom_ops.matmul),
        ("other_custom_ops::matmul", torch.ops.other_custom_ops.matmul),
    ):
        result = matmul(a, b)
        difference = (result - expected).abs().max().item()
        largest = max(largest, difference)
        print(f"{name}: {list(result.shape)}, largest difference from torch.matmul {difference:.2e}")
    return 0 if largest < _TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
