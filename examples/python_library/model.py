"""A classifier of eight numbers: three classes, any batch up to 64."""

import torch


class Classifier(torch.nn.Module):
    """float32 [batch, 8] -> float32 [batch, 3]."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.layers(x), dim=-1)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_program."""
    torch.manual_seed(0)
    return Classifier(), (torch.randn(2, 8),)


def get_dynamic_shapes() -> tuple[dict[int, torch.export.Dim]]:
    """The sizes that may differ."""
    return ({0: torch.export.Dim("batch", max=64)},)
