"""A layer that imports a package of our own."""

import einops
import torch


class FlattenAndDouble(torch.nn.Module):
    """[n, k] -> [n k]: every element twice as large."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        flat = einops.rearrange(x, "n k -> (n k)")
        return flat + flat
