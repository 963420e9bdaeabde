"""Tests that an export does not compile the parts of a model that are in torch.compile."""

from __future__ import annotations

from unittest import mock

import torch
from absl.testing import absltest
from torch._inductor import compile_fx

from export.tests.model_files import Files, model_file


class CompiledPartsTest(Files):
    def test_nothing_is_compiled(self) -> None:
        source = model_file(
            """
            def __init__(self):
                super().__init__()
                self.layer = torch.compile(torch.nn.Linear(2, 2), mode="max-autotune", dynamic=True)
                self.register_buffer("calls", torch.zeros(1))
            @torch.compile
            def step(self, x):
                self.calls += 1
                return x * self.calls
            def forward(self, x):
                return self.step(self.layer(x) * 0 + x)
            """,
            "(torch.ones(2),)",
            after="def get_sample_inputs(): return [(torch.ones(2),)] * 2",
        )
        with mock.patch.object(compile_fx, "compile_fx", side_effect=AssertionError):
            _, samples = self.export(source)
        torch.testing.assert_close(samples["forward/1/output/0"], torch.tensor([2.0, 2.0]))


if __name__ == "__main__":
    absltest.main()
