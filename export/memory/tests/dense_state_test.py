"""Exports of tensors that are not laid out as the runtime's are: as inputs, outputs, state and constants."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import torch
from absl.testing import absltest
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
from torch.utils import _pytree as pytree

from export.exporter import export
from export.user import dense_tensors

# Tensors by what is odd about them.
_ODD = {
    "expanded": "torch.arange(3.).reshape(3, 1).expand(3, 4)",
    "expanded from a 0-dim tensor": "torch.tensor(1.5).expand(2)",
    "expanded to no elements": "torch.zeros(1, 3).expand(0, 3)",
    "overlapping": "torch.arange(9.).as_strided((2, 3), (1, 1))",
    "overlapping, in the order of its dimensions": "torch.arange(6.).unfold(0, 3, 1)",
    "transposed": "torch.arange(12.).reshape(3, 4).t()",
    "permuted": "torch.arange(24.).reshape(2, 3, 4).permute(2, 0, 1)",
    "sliced": "torch.arange(24.).reshape(4, 6)[::2, 1::2]",
    "with gaps": "torch.arange(20.).as_strided((2, 3), (7, 2))",
    "channels last": "torch.arange(48.).reshape(2, 3, 2, 4).to(memory_format=torch.channels_last)",
    "size 1 with a stride of 0": "torch.arange(8.).as_strided((1, 4), (0, 1))",
    "size 1 with a large stride": "torch.arange(8.).as_strided((1, 4), (7, 1))",
    "size 1 last, with a large stride": "torch.arange(8.).as_strided((4, 1), (1, 7))",
    "no elements": "torch.zeros(0, 3)",
    "no elements, permuted": "torch.zeros(4, 0, 3).permute(2, 0, 1)",
    "0-dim": "torch.arange(3.)[1]",
    "imaginary part": "torch.tensor([1 + 2j, 3 - 4j]).imag",
    "imaginary part of a conjugate": "torch.tensor([1 + 2j, 3 - 4j]).conj().imag",
    "negative view": "torch._neg_view(torch.arange(4.))",
}
# PyTorch refuses to write to these.
_READ_ONLY = ("expanded", "expanded from a 0-dim tensor", "expanded to no elements")

_EVERYWHERE = """
import torch

def odd():
    return {odd}

GLOBAL = odd()

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(odd())
        self.register_buffer("table", odd())
        self.register_buffer("state", odd() * 1 if {read_only} else odd())
        self.constant = odd()

    def forward(self, x, *, y):
        self.state.copy_(self.state.clone() + 1)
        return x, y + y, self.table, self.weight * self.table, self.state - self.constant, GLOBAL * 2, y.clone()

def get_model():
    return {model}

def get_sample_inputs():
    return [{{"x": odd(), "y": odd() + 1}}, {{"x": odd() + 1, "y": odd()}}]
"""

# What a method may return of x, of 2 by 4.
_RETURNED = (
    "x.expand(3, 2, 4)",
    "(x + 1).expand(3, 2, 4)",
    "x.sum().expand(4)",
    "x[:1].expand(0, 4)",
    "x.unsqueeze(0).expand(1, 2, 4)",
    "x.expand(3, 2, 4).permute(1, 2, 0)",
    "torch.broadcast_tensors(x, torch.zeros(3, 2, 4))",
    "torch.meshgrid(x[0], x[1], indexing='ij')",
    "torch.ones(()).expand(3)",
    "x.t()",
    "x[:1].t()",
    "x[::2, 1::2]",
    "x[:0]",
    "x.unfold(1, 2, 1)",
    "torch.diagonal(x)",
    "(x * 2).reshape(1, 2, 2, 2).to(memory_format=torch.channels_last)",
)


_WRITES = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.arange(48.).reshape(2, 3, 2, 4))

    def forward(self, x):
        {made}.index_copy_(0, torch.tensor([3, 0]), x)
        return self.state + 1, self.state.clone()

def get_model():
    return Model(){orders}, (torch.tensor([-1., -2.]),)
"""


class DenseTensorsTest(absltest.TestCase):
    def check(self, source: str, passes: tuple[str, ...] = ()) -> None:
        """Exports, and compares the program and its samples with what PyTorch itself gives."""
        model = Path(self.create_tempdir().full_path) / "model.py"
        model.write_text(source)
        pte = export(model, graph_passes=passes).pte  # The program does not keep it.
        program = _load_for_executorch_from_buffer(pte)
        content: dict[str, Any] = {}
        exec(source, content)
        module, example = content["get_model"]() if "Exported" not in source else content["eager"]()
        samples = content["get_sample_inputs"]() if "get_sample_inputs" in content else [example]
        for sample in samples:
            args, kwargs = ((), sample) if isinstance(sample, dict) else (sample, {})
            inputs = [dense_tensors.dense(leaf).clone() for leaf in pytree.tree_leaves(sample)]
            with torch.no_grad():
                expected = [leaf.clone() for leaf in pytree.tree_leaves(module(*args, **kwargs))]
            torch.testing.assert_close(program.run_method("forward", tuple(inputs)), expected)

    def test_everywhere(self) -> None:
        for name, odd in _ODD.items():
            with self.subTest(name):
                model = 'Model(), {"x": odd(), "y": odd()}'
                self.check(_EVERYWHERE.format(odd=odd, read_only=name in _READ_ONLY, model=model), ("default",))

    def test_program_that_the_model_file_exports(self) -> None:
        for name in ("expanded", "transposed", "negative view"):
            with self.subTest(name):
                source = _EVERYWHERE.format(
                    odd=_ODD[name],
                    read_only=name in _READ_ONLY,
                    model='torch.export.export(Model(), (), {"x": odd(), "y": odd()})  # Exported',
                )
                self.check(source + "\ndef eager():\n    return Model(), ()\n")

    def test_outputs(self) -> None:
        for returned in _RETURNED:
            source = f"""
            import torch

            class Model(torch.nn.Module):
                def forward(self, x):
                    return {returned}

            def get_model():
                return Model(), (torch.arange(8.).reshape(2, 4),)
            """
            for passes in ((), ("all",)):
                with self.subTest(returned, passes=passes):
                    self.check(textwrap.dedent(source), passes)

    def test_dynamic_shapes(self) -> None:
        self.check(
            """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x.expand(3, -1, -1), x[:1].expand(2, 4), x * 2

def get_model():
    return Model(), (torch.arange(4.).expand(3, 4),)

def get_dynamic_shapes():
    return ({0: torch.export.Dim("n", max=9)},)

def get_sample_inputs():
    return [(torch.arange(4.).expand(n, 4),) for n in (1, 9)]
"""
        )

    def test_writes_to_views_and_copies(self) -> None:
        """Whether reshape() and flatten() give a view or a copy depends on the strides that PyTorch has."""
        for made in (
            "self.state.flatten()",
            "self.state.reshape(2, -1)[0]",
            "self.state.permute(0, 2, 3, 1).reshape(-1)",
            "self.state.contiguous().view(-1)",
        ):
            for orders in ("", ".to(memory_format=torch.channels_last)"):
                with self.subTest(made, orders=orders):
                    self.check(_WRITES.format(made=made, orders=orders), ("default",))

    def test_views_of_state(self) -> None:
        """A view of a channels-last buffer is no view of the contiguous buffer."""
        source = _WRITES.replace("{made}.index_copy_(0, torch.tensor([3, 0]), x)", "y = {made}")
        source = source.replace("self.state.clone()", "y * x[0]")
        made = "self.state.permute(0, 2, 3, 1).view(-1)"
        self.check(source.format(made=made, orders=".to(memory_format=torch.channels_last)"), ("default",))

    def test_dim_order(self) -> None:
        x = torch.zeros(2, 3, 4, 5)
        self.assertEqual(dense_tensors.dim_order(x), [0, 1, 2, 3])
        self.assertEqual(dense_tensors.dim_order(x.to(memory_format=torch.channels_last)), [0, 2, 3, 1])
        self.assertEqual(dense_tensors.dim_order(torch.tensor(1)), [])
        for not_dense in (x[:, ::2], x.mT, x[0, 0, :1].expand(2, 5)):
            self.assertIsNone(dense_tensors.dim_order(not_dense))

    def test_dimensions_of_size_1(self) -> None:
        """Dimensions of size 1 have no place in memory. A program has their usual strides."""
        for sizes, strides, usual in (
            ((4, 1), (1, 7), (1, 1)),
            ((1, 3, 4, 5), (120, 20, 5, 1), (60, 20, 5, 1)),
            ((1, 1, 9, 9), (81, 1, 9, 1), (81, 81, 9, 1)),
            ((2, 8, 1, 1), (8, 1, 8, 8), (8, 1, 1, 1)),
        ):
            x = torch.arange(200.0).as_strided(sizes, strides)
            self.assertEqual(dense_tensors.dim_order(x), [*range(len(sizes))])
            self.assertEqual(dense_tensors.dense(x).stride(), usual)
            self.assertTrue(torch.equal(dense_tensors.dense(x), x))
        image = torch.arange(200.0).as_strided((1, 8, 3, 5), (7, 1, 40, 8))
        self.assertEqual(dense_tensors.dim_order(image), [0, 2, 3, 1])
        self.assertEqual(dense_tensors.dense(image).stride(), (120, 1, 40, 8))


if __name__ == "__main__":
    absltest.main()
