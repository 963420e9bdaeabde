"""The sizes of inputs in programs."""

from __future__ import annotations

from absl.testing import absltest

from codegen.inputs import program_content_reader
from codegen.model.execution_plan import InputDim
from export.exporter import export
from export.tests.model_files import Files

_MODEL = """
import torch
from torch.export import Dim
class Model(torch.nn.Module):
    def forward(self, {arguments}):
        return {result}
def get_model():
    return Model(), ({inputs},)
def get_dynamic_shapes():
    {shapes}
"""


class SizeRecordTest(Files):
    def sizes(self, *, arguments: str, result: str, inputs: str, shapes: str) -> list[list[InputDim]] | None:
        """Returns the dimensions of each input of a model; None if the program has none."""
        self.write("model.py", _MODEL.format(arguments=arguments, result=result, inputs=inputs, shapes=shapes))
        path = self.directory / "model.pte"
        path.write_bytes(export(self.directory / "model.py").pte)
        sizes = program_content_reader.read(str(path), "model").input_sizes
        return [list(dims) for dims in sizes["forward"]] if sizes else None

    def test_fixed_sizes_need_no_record(self) -> None:
        self.assertIsNone(self.sizes(arguments="x", result="x + 1", inputs="torch.ones(2, 3)", shapes="return ({},)"))

    def test_bounds(self) -> None:
        for bounds, least in (("min=4, max=9", 4), ("min=1, max=9", 1), ("max=9", 0)):
            with self.subTest(bounds):
                found = self.sizes(
                    arguments="x",
                    result="x * 2",
                    inputs="torch.ones(5, 3)",
                    shapes=f'return ({{0: Dim("n", {bounds})}},)',
                )
                self.assertEqual(found, [[InputDim(least, 9, 0, 1, 0), InputDim(3, 3, -1, 1, 0)]])

    def test_hints(self) -> None:
        found = self.sizes(
            arguments="x",
            result="x[:, :5] * 2",
            inputs="torch.ones(7, 6)",
            shapes="return ({0: Dim.AUTO(max=9), 1: Dim.AUTO(min=5, max=8)},)",
        )
        self.assertEqual(found, [[InputDim(0, 9, 0, 1, 0), InputDim(5, 8, 1, 1, 0)]])

    def test_a_line_of_the_model_needs_a_larger_size_than_asked_for(self) -> None:
        """torch.export narrows sizes of hints. For a smaller size, the module raises."""
        found = self.sizes(
            arguments="x",
            result="x[:5].reshape(5) * x.sum()",
            inputs="torch.ones(7)",
            shapes="return ({0: Dim.AUTO(min=1, max=9)},)",
        )
        self.assertEqual(found, [[InputDim(5, 9, 0, 1, 0)]])

    def test_the_same_size_in_two_inputs(self) -> None:
        found = self.sizes(
            arguments="x, scale, y",
            result="torch.cat([x, x]) * scale + y",
            inputs="torch.ones(3, 2), 2, torch.ones(6, 2)",
            shapes='n = Dim("n", min=2, max=4); return ({0: n}, None, {0: 2 * n})',
        )
        fixed = InputDim(2, 2, -1, 1, 0)
        self.assertEqual(found, [[InputDim(2, 4, 0, 1, 0), fixed], [], [InputDim(4, 8, 0, 2, 0), fixed]])


if __name__ == "__main__":
    absltest.main()
