"""x + 2 x, by an ATen operator and one of our own."""

import scale_op  # noqa: F401  (registers app::scale)
import torch


class Model(torch.nn.Module):
    """float32 [3] -> float32 [3]."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ops.app.scale(x, 2.0)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_program."""
    return Model(), (torch.tensor([1.0, -2.0, 0.5]),)
