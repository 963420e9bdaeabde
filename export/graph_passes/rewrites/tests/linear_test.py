"""Tests of the pass linear."""

from __future__ import annotations

from typing import Any

from absl.testing import absltest

from export.graph_passes.tests import rewriting
from export.graph_passes.tests.pass_test_case import (
    PassTestCase,
    model_file,
)


class LinearTest(PassTestCase):
    def test_acts(self) -> None:
        source = model_file(
            "return self.layers(x)",
            "torch.rand(2, 3, 4)",
            init="self.layers = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Linear(6, 5, bias=False))",
        )
        self.check("linear", source, changes=["a linear layer kept whole"] * 2, calls=["aten::linear.out"])

    def test_leaves(self) -> None:
        self.check("linear", model_file("return x @ x", "torch.rand(3, 3)"), changes=[], calls=["aten::mm.out"])

    def test_leaves_out_what_partitioners_see(self) -> None:
        source = model_file("return self.layer(x)", "torch.rand(2, 4)", init="self.layer = torch.nn.Linear(4, 6)")
        exported = self.export(source, ["all"], backends=["xnnpack"])
        self.assertEqual(dict(exported.delegations["forward"].delegates[0].operators), {"aten::linear": 1})
        left_out = {one.name for one in exported.graph_passes["forward"] if one.left_out}
        self.assertEqual(left_out, {"attention", "instance_norm", "linear", "padding_modes", "recurrent"})

    def test_weights_of_one_dimension(self) -> None:
        """PyTorch's linear takes them, and gives no features: a batch norm after it has those of the rows."""
        init = """
        self.weight, self.bias = (torch.nn.Parameter(torch.rand(sizes)) for sizes in ((6,), ()))
        self.norm = torch.nn.BatchNorm1d(6)
        """
        for forward in (
            "return torch.nn.functional.linear(x, self.weight)",
            "return torch.nn.functional.linear(x, self.weight, self.bias)",
            "return self.norm(torch.nn.functional.linear(x, self.weight))",
        ):
            source: dict[str, Any] = {}
            exec(model_file(forward, "torch.rand(3, 6, 6)", init=init), source)
            module, inputs = source["get_model"]()
            rewriting.compare(module.eval(), rewriting.rewrite(module.eval(), inputs), inputs)


if __name__ == "__main__":
    absltest.main()
