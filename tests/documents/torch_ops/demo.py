"""Multiplies two matrices with the operators of two packages, each of which loads a library of its own."""

import torch

from tests.documents.torch_ops import custom_ops, other_custom_ops  # noqa: F401  (register the operators)

print("Both custom matmul extensions loaded successfully")
a, b = torch.randn(3, 4), torch.randn(4, 5)
expected = torch.matmul(a, b)
result1 = torch.ops.custom_ops.matmul(a, b)
result2 = torch.ops.other_custom_ops.matmul(a, b)
print(f"Result 1 shape: {result1.shape}")
print(f"Result 2 shape: {result2.shape}")
print(f"Max difference (result1): {(result1 - expected).abs().max().item()}")
print(f"Max difference (result2): {(result2 - expected).abs().max().item()}")
torch.testing.assert_close(result1, expected)
torch.testing.assert_close(result2, expected)
