"""Tests of the order of equal elements."""

from __future__ import annotations

import linecache
from collections.abc import Sequence

import numpy as np
import torch
from absl.testing import absltest

from diagnostics.errors import Finding
from diagnostics.golden import case
from export.exporter import export
from export.user import equal_elements

_KEYS = torch.arange(300) * 7 % 5
_LINE = 4
_FILE = """\
import torch
class Model(torch.nn.Module):
    def forward(self, x, y):
        return {}
def get_model(): return Model(), (torch.arange(300) * 7 % 5, torch.arange(300.0))
"""


class KeptTest(absltest.TestCase):
    def test_order_is_stable(self) -> None:
        expected = np.argsort(_KEYS.numpy(), kind="stable")
        descending = np.argsort(-_KEYS.numpy(), kind="stable")
        with equal_elements.kept():
            for dtype in (torch.int64, torch.uint8, torch.float32, torch.bfloat16):
                keys = _KEYS.to(dtype)
                for values, indices in (
                    torch.sort(keys),
                    (keys[expected], torch.argsort(keys)),
                    torch.sort(torch.stack([keys, keys], 1).T, -1),
                    torch.topk(keys, 50, largest=False),
                ):
                    count = indices.shape[-1]
                    np.testing.assert_array_equal(indices.reshape(-1, count)[0], expected[:count])
                    self.assertTrue(values.reshape(-1, count)[0].equal(keys[expected[:count]]))
                values, indices = torch.topk(keys.expand(2, 300).T, 70, dim=0, sorted=False)
                np.testing.assert_array_equal(indices[:, 1], descending[:70])
                self.assertTrue(values[:, 1].equal(keys[descending[:70]]))
                self.assertTrue(values.is_contiguous())
            for scalar in (torch.topk(torch.tensor(3.0), 1), torch.mode(torch.tensor(3.0))):
                self.assertEqual([one.item() for one in scalar], [3, 0])
            self.assertEqual([one.item() for one in torch.kthvalue(torch.tensor(3.0), 1)], [3, 0])

    def test_selected_elements(self) -> None:
        keys = torch.stack([_KEYS.float(), torch.where(_KEYS == 2, torch.nan, 1)])
        expected = np.argsort(keys.numpy(), 1, kind="stable")
        with equal_elements.kept():
            for keepdim in (False, True):
                values, indices = torch.kthvalue(keys, 130, 1, keepdim)
                np.testing.assert_array_equal(indices.flatten(), expected[:, 129])
                torch.testing.assert_close(values.flatten(), keys.gather(1, indices.reshape(2, 1))[:, 0])
                self.assertEqual(values.shape, (2, 1) if keepdim else (2,))
                values, indices = torch.mode(keys.T, 0, keepdim)
                self.assertEqual(values.flatten().tolist(), [0, 1])
                last = [int((one == of).nonzero().max()) for one, of in zip(keys, (0, 1), strict=True)]
                self.assertEqual(indices.flatten().tolist(), last)

    def test_ends(self) -> None:
        own = torch.topk(_KEYS, 50)[1]
        with equal_elements.kept() as stacks:
            ours = torch.topk(_KEYS, 50)[1]
        self.assertFalse(own.equal(ours))
        self.assertLen(stacks, 1)
        self.assertIn("equal_elements_test.py", stacks[0])
        self.assertTrue(torch.topk(_KEYS, 50)[1].equal(own))
        self.assertLen(stacks, 1)


class FindTest(case.TestCase):
    def warnings(self, forward: str) -> Sequence[Finding]:
        linecache.clearcache()
        model = self.directory / "model.py"
        model.write_text(_FILE.format(forward))
        return export(model).warnings

    def test_results_that_depend(self) -> None:
        for forward in (
            "y[torch.topk(x, 50)[1]]",
            "torch.topk(y, 50, sorted=False)[0]",
            "torch.kthvalue(x, 130)[1]",
            "torch.mode(x)[1]",
        ):
            self.assert_findings(self.warnings(forward), f"equal-elements model.py:{_LINE}:1")

    def test_results_that_do_not_depend(self) -> None:
        for forward in (
            "torch.topk(x, 50)[0], torch.sort(x)[0], torch.argsort(y)",
            "y[torch.sort(x, stable=True)[1]]",
            "y[torch.topk(x, 50)[1]].sum() * 0",
        ):
            self.assertEmpty(self.warnings(forward))

    def test_random_numbers(self) -> None:
        # Only the other reason for other outputs is told.
        found = self.warnings("torch.rand_like(y) + torch.topk(x, 50)[0].sum()")
        self.assertEqual([one.id for one in found], ["wrong-program"])


if __name__ == "__main__":
    absltest.main()
