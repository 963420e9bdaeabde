"""Methods that add two tensors of one dtype and dim order each."""

import torch


class Add(torch.nn.Module):
    """Two tensors of one shape, dtype and dim order -> their sum."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


def get_model() -> dict[str, tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]]:
    """The entry point of executorch_program."""
    examples = {
        "float_2d": torch.ones(2, 3),
        "half_2d": torch.ones(2, 3, dtype=torch.half),
        "bfloat16_2d": torch.ones(2, 3, dtype=torch.bfloat16),
        "int_2d": torch.ones(2, 3, dtype=torch.int32),
        "float_0d": torch.ones(()),
        "float_1d": torch.ones(3),
        "float_contiguous": torch.ones(1, 2, 3, 4),
        "float_channels_last": torch.ones(1, 2, 3, 4).to(memory_format=torch.channels_last),
        "double_2d": torch.ones(2, 3, dtype=torch.double),
        "half_channels_last": torch.ones(1, 2, 3, 4, dtype=torch.half).to(memory_format=torch.channels_last),
    }
    return {name: (Add(), (x, x.clone())) for name, x in examples.items()}
