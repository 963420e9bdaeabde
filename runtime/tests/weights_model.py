"""Two programs of one model, for inputs of other sizes."""

import torch


class Embed(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table = torch.nn.Embedding(300, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.table(x)
        return found


def get_short() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Embed(), (torch.tensor([0, 299]),)


def get_long() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Embed(), (torch.arange(300),)
