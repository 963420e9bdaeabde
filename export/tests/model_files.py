"""Model files of tests, and what they become."""

from __future__ import annotations

import contextlib
import linecache
import os
import textwrap

import torch
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

from diagnostics.errors import InputError
from diagnostics.golden import case
from export.exporter import export

DTYPES = {
    0: torch.uint8,
    1: torch.int8,
    2: torch.int16,
    3: torch.int32,
    4: torch.int64,
    5: torch.half,
    6: torch.float,
    7: torch.double,
    11: torch.bool,
    15: torch.bfloat16,
}

LINEAR = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)
    def forward(self, x):
        return self.linear(x)
def get_model():
    return Model(), (torch.ones(2, 4),)
"""


def model_file(forward: str, inputs: str, before: str = "", after: str = "") -> str:
    """A model file with one module whose forward() has the given lines."""
    body = textwrap.indent(textwrap.dedent(forward).strip(), "    ")
    return (
        f"import torch\n{textwrap.dedent(before)}\nclass Model(torch.nn.Module):\n{body}\n"
        f"def get_model():\n    return Model(), {inputs}\n{textwrap.dedent(after)}"
    )


def read(ptd: bytes) -> dict[str, torch.Tensor]:
    """Returns the tensors of a .ptd file by their keys."""
    payload = FlatTensorSerializer().deserialize(ptd)
    tensors = {}
    for key, entry in payload.named_data.items():
        layout = entry.tensor_layout
        data = bytearray(payload.buffers[entry.buffer_index])
        dtype = DTYPES[int(layout.scalar_type)]
        in_memory = [layout.sizes[dim] for dim in layout.dim_order]
        flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
        inverse = [layout.dim_order.index(dim) for dim in range(len(in_memory))]
        tensors[key] = flat.reshape(in_memory).permute(inverse)
    return tensors


class Files(case.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = self.directory
        self.model = self.folder / "model.py"

    def export(self, source: str, entry_point: str = "get_model") -> tuple[bytes, dict[str, torch.Tensor]]:
        self.model.write_text(source)
        with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            exported = export(self.model, entry_point)
        return exported.pte, read(exported.ptd)


class ErrorCase(Files):
    """Each error is one finding that names the file, and the line where there is one."""

    def assert_error(self, source: str, expected: str, entry_point: str = "get_model") -> None:
        # Several model files of one test have the same path.
        linecache.clearcache()
        self.assert_refused(lambda: self.export(source, entry_point), expected)

    def assert_raised(self, source: str, line: int, *expected: str) -> None:
        """A message with words of Python and PyTorch; Python 3.10 knows no columns."""
        with self.assertRaises(InputError) as caught:
            self.export(source)
        message = str(caught.exception)
        where = f"{self.model}:{line}:" if line else f"{self.model}: "
        self.assertEqual(message[: len(where)], where)
        for text in (*expected, "Likely cause: ", "Fix: ", "See: docs/errors.md#"):
            self.assertIn(text, message)
        self.assertNotIn("site-packages", message)
        self.assertNotIn("Traceback", message)
