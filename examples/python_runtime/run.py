"""Runs the program by ExecuTorch's runtime for Python, and compares the outputs with PyTorch's."""

from pathlib import Path

import torch
from executorch.runtime import Runtime

from examples.python_runtime.model import get_model


def main() -> None:
    program = Runtime.get().load_program(Path(__file__).with_name("program.pte"))
    print("methods:", *sorted(program.method_names))
    method = program.load_method("forward")
    print(method.metadata.input_tensor_meta(0))

    model, (x,) = get_model()
    (output,) = method.execute([x])
    print("classes:", output.argmax(dim=-1).tolist())
    torch.testing.assert_close(output, model(x))
    print("equal to PyTorch's")


if __name__ == "__main__":
    main()
