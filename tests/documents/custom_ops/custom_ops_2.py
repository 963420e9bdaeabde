"""Exports a model that calls my_ops::mul4, which a shared library brings into PyTorch."""

import argparse
from pathlib import Path

import torch
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower


class Model(torch.nn.Module):
    def forward(self, a: torch.Tensor) -> torch.Tensor:
        return torch.ops.my_ops.mul4.default(a)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--so_library", required=True)
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()
    torch.ops.load_library(arguments.so_library)
    exported = torch.export.export(Model(), (torch.randn(2, 3),))
    edge = to_edge_transform_and_lower(exported, compile_config=EdgeCompileConfig(_check_ir_validity=False))
    Path(arguments.output).write_bytes(edge.to_executorch().buffer)
    print("in PyTorch:", *(name for name in ("mul3", "mul4") if hasattr(torch.ops.my_ops, name)))


if __name__ == "__main__":
    main()
