"""Tests of the pass tied_weights."""

from __future__ import annotations

from absl.testing import absltest

from export.graph_passes.tests.pass_test_case import (
    PassTestCase,
    model_file,
)

_CHANGE = "a weight multiplied from the left instead of transposed"
# More than 16 KiB, so that the pass constants does not store the transposed weight, too.
_EMBEDDING = "self.words = torch.nn.Embedding(640, 8)"
_WITH_BIAS = f"{_EMBEDDING}; self.bias = torch.nn.Parameter(torch.rand(640))"
_PASSES = ["constants", "tied_weights"]
_TOKENS = "torch.randint(0, 640, (1, 4))"


class TiedWeightsTest(PassTestCase):
    def test_acts(self) -> None:
        for forward, init in (
            ("return torch.nn.functional.linear(self.words(x), self.words.weight)", _EMBEDDING),
            ("return torch.nn.functional.linear(self.words(x), self.words.weight, self.bias)", _WITH_BIAS),
            ("return torch.addmm(self.bias, self.words(x[0]), self.words.weight.t(), beta=2, alpha=3)", _WITH_BIAS),
            ("y = self.words(x[0])\nreturn y @ self.words.weight.t()", _EMBEDDING),
        ):
            for tokens in (_TOKENS, "torch.randint(0, 640, (1, 1))"):
                exported = self.export(model_file(forward, tokens, init=init), _PASSES)
                self.assertEqual(self.changes(exported, "tied_weights"), [_CHANGE])
                self.check_values(exported)

    def test_one_weight_of_two_layers(self) -> None:
        forward = """
        y = self.words(x)
        return [torch.nn.functional.linear(z, self.words.weight) for z in (y, y * 2.0)]
        """
        exported = self.export(model_file(forward, _TOKENS, init=_EMBEDDING), _PASSES)
        self.assertEqual(self.changes(exported, "tied_weights"), [_CHANGE] * 2)
        self.check_values(exported)

    def test_acts_on_shapes_that_vary(self) -> None:
        for most, changes in ((7, [_CHANGE]), (8, [])):
            source = model_file(
                "return torch.nn.functional.linear(self.words(x), self.words.weight)",
                "torch.randint(0, 640, (1, 4))",
                takes="x",
                init=_EMBEDDING,
                after=f"""
                def get_dynamic_shapes():
                    return {{"x": {{1: torch.export.Dim("n", min=2, max={most})}}}}

                def get_sample_inputs():
                    return [(torch.randint(0, 640, (1, n)),) for n in (2, {most}, 5)]
                """,
            )
            exported = self.export(source, _PASSES)
            self.assertEqual(self.changes(exported, "tied_weights"), changes)
            self.check_values(exported)

    def test_leaves(self) -> None:
        for forward, tokens, init in (
            # The weight has fewer elements than the input and the result.
            (
                "return torch.nn.functional.linear(self.words(x), self.words.weight)",
                "torch.randint(0, 640, (1, 8))",
                _EMBEDDING,
            ),
            # The weight is folded.
            ("return self.layer(self.words(x))", _TOKENS, f"{_EMBEDDING}; self.layer = torch.nn.Linear(8, 640)"),
            # Another call needs the transposed weight.
            ("w = self.words.weight.t()\nreturn self.words(x[0]) @ w, w * 2.0", _TOKENS, _EMBEDDING),
            # A bias for each element of the result.
            (
                "return torch.addmm(others[0], self.words(x[0]), self.words.weight.t())",
                f"{_TOKENS}, torch.rand(4, 640)",
                _EMBEDDING,
            ),
        ):
            exported = self.export(model_file(forward, tokens, init=init), _PASSES)
            self.assertEqual(self.changes(exported, "tied_weights"), [])
            self.check_values(exported)

    def test_layers_that_are_packed(self) -> None:
        for forward, changes in (
            ("return torch.nn.functional.linear(self.words(x), self.words.weight)", []),
            ("return self.words(x[0]) @ self.words.weight.t()", [_CHANGE]),
        ):
            exported = self.export(model_file(forward, _TOKENS, init=_EMBEDDING), ["all"])
            self.assertEqual(self.changes(exported, "tied_weights"), changes)


if __name__ == "__main__":
    absltest.main()
