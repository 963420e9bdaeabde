"""A recurrent filter: a matrix product by an operator in C++, and the mean of what went before, which is kept."""

import examples.torch_matmul.matmul_ops  # noqa: F401  (loads custom_ops::matmul)
import torch


class Filter(torch.nn.Module):
    """float32 [N, 8] -> float32 [N, 4], N up to 16."""

    mean: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(8, 4))
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.nn.functional.gelu(torch.ops.custom_ops.matmul(x, self.weight))
        self.mean.mul_(0.9).add_(0.1 * y.mean(0))
        return y - self.mean


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of torch_aoti_package: the module and its example inputs."""
    return Filter(), (torch.randn(2, 8),)


def get_dynamic_shapes() -> tuple[dict[int, torch.export.Dim]]:
    """The number of rows is free."""
    return ({0: torch.export.Dim("rows", min=1, max=16)},)


def get_sample_inputs() -> list[tuple[torch.Tensor]]:
    """Calls one after another, each with the state that the ones before it left."""
    return [(torch.randn(rows, 8),) for rows in (2, 5, 16)]
