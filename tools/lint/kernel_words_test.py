from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from tools.lint import kernel_words


class KernelWordsTest(absltest.TestCase):
    def test_words(self) -> None:
        for file, text, found in (
            ("kernels/simd/a.h", "load_halves(x); HALVES; repeat_group(4)", ["load_halves", "HALVES", "repeat_group"]),
            ("kernels/gemm/integer_tile.h", "kGroup kGroupBytes", ["kGroup", "kGroupBytes"]),
            ("kernels/convolution/packed/a.cpp", "place_stride, a place", ["place_stride", "place"]),
            ("kernels/math/a.h", "struct TableLine", ["TableLine"]),
        ):
            self.assertEqual([word for _, word, _ in kernel_words.words(file, text)], found, text)

    def test_others(self) -> None:
        for file, text in (
            ("kernels/convolution/packed/a.cpp", "groups of channels, in place, replaces, fill_in_place"),
            ("kernels/copy/a.cpp", "the place of an element, two halves, kHalfPi, Half, a line of elements"),
            ("kernels/gemm/dynamic_product.cpp", "a scale for each group"),
            ("codegen/a.py", "halves"),
        ):
            self.assertEqual(list(kernel_words.words(file, text)), [], text)

    def test_places(self) -> None:
        tree = Path(self.create_tempdir().full_path)
        for file in ("kernels/simd/a.h", "kernels/simd/tests/a.h", "docs/a.md"):
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            (tree / file).write_text("\nhalves\n")
        self.assertEqual(
            list(kernel_words.check(tree, ["kernels/simd/a.h", "kernels/simd/tests/a.h", "docs/a.md"])),
            ["kernels/simd/a.h:2: halves: use nibbles (4 bits) or shorts (16 bits) (docs/glossary.md)"],
        )


if __name__ == "__main__":
    absltest.main()
