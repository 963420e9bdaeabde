"""A network with a branch and a loop, whose profile says which of their lines took how long."""

from typing import Any

import torch
from torch._higher_order_ops import map as control_flow

for_each: Any = control_flow  # The types of PyTorch's own ask for a tuple that the function does not take.


class Branches(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        def doubled(values: torch.Tensor) -> torch.Tensor:
            larger = values + values
            return torch.relu(larger)

        def turned(values: torch.Tensor) -> torch.Tensor:
            return values.sin()

        def row(values: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
            both = values * other
            return both.cos()

        chosen = torch.cond(x.sum() > 0, doubled, turned, (x,))
        rows: torch.Tensor = for_each(row, chosen, y)
        return rows.tanh()


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    return Branches(), (torch.ones(4, 3), torch.ones(3))
