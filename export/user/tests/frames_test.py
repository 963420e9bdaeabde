"""Tests of what errors show of exceptions and of stack traces."""

from __future__ import annotations

import os
from pathlib import Path

import torch
from absl.testing import absltest

from export.user import frames, messages
from export.user.frames import Code

_BUG = "If you suspect this is a bug in PyTorch, report it."


class FramesTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = Path(self.create_tempdir().full_path)
        self.code = Code(self.folder / "model.py", (self.folder,))

    def test_files_of_the_user(self) -> None:
        installed = self.folder / "site-packages" / "layers.py"
        for path, is_users in (
            (self.code.path, True),
            (self.folder / "parts" / "layers.py", True),
            (installed, False),
            (Path(frames.__file__), False),
            (Path(torch.__file__ or ""), False),
            (self.folder.parent / "other.py", False),
            ("<string>", False),
        ):
            with self.subTest(str(path)):
                self.assertEqual(self.code.is_users(str(path)), is_users)

    def test_stack_trace(self) -> None:
        self.code.path.write_text("def forward(x):\n    return layer(x)\n")
        trace = (
            f'  File "{self.code.path}", line 2, in forward\n    return layer(x)\n'
            '  File "/lib/site-packages/timm/layer.py", line 7, in layer\n'
            '  File "/lib/site-packages/torch/nn.py", line 9, in call\n'
        )
        at, shown = self.code.frames_of_text(trace)
        place = frames.path_shown(str(self.code.path))
        self.assertEqual(str(at), f"{place}:2:1")
        self.assertEqual(shown, (f"{place}:2, in forward", "    return layer(x)", "timm/layer.py:7, in layer"))
        self.assertEqual(self.code.frames_of_text(""), (None, ()))

    def test_many_frames(self) -> None:
        _, shown = self.code.frames_of_text(f'File "{self.code.path}", line 1, in f\n' * 25)
        self.assertEqual(shown[0], "... 5 calls before")
        self.assertLen(shown, 21)

    def test_paths(self) -> None:
        for path, expected in (
            ("/lib/python3/site-packages/timm/layer.py", "timm/layer.py"),
            (os.path.abspath("parts/layer.py"), "parts/layer.py"),
            (f"{Path.cwd().parent}/layer.py", f"{Path.cwd().parent}/layer.py"),
        ):
            self.assertEqual(frames.path_shown(path), expected)


class MessagesTest(absltest.TestCase):
    def test_text(self) -> None:
        class OddError(Exception):
            def __str__(self) -> str:
                raise ValueError

        self.assertEqual(messages.text_of(KeyError("a")), "'a'")
        self.assertEqual(messages.text_of(SyntaxError("bad", ("model.py", 3, 1, ""))), "bad")
        self.assertIn("ValueError", messages.text_of(OddError()))

    def test_condensed(self) -> None:
        message = f"\nsizes differ (with implementation in torch/a.py)\n\n  n = 2. {_BUG}\nUser code:\n  x + y"
        self.assertEqual(messages.condense(message), "sizes differ\n      n = 2.")
        self.assertLen(messages.condense("a\n" * 100).splitlines(), 12)

    def test_causes(self) -> None:
        first, second, third = ValueError(1), ValueError(2), ValueError(3)
        third.__cause__, second.__context__ = second, first
        self.assertEqual([*messages.causes(third)], [third, second])
        self.assertEqual([*messages.causes(third, with_contexts=True)], [third, second, first])
        second.__cause__ = third
        self.assertEqual([*messages.causes(third)], [third, second])


if __name__ == "__main__":
    absltest.main()
