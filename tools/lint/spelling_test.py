from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from tools.lint import spelling


class SpellingTest(absltest.TestCase):
    def test_british(self) -> None:
        for text, words in (
            ("kernels that are Specialised by optimisations", ["Specialised", "optimisations"]),
            ("NormalisedBehaviour", ["Normalised", "Behaviour"]),
            ("_normalise(x)  # initialises, analysed", ["normalise", "initialises", "analysed"]),
            ("grey neighbours with a licence", ["grey", "neighbour", "licence"]),
            ("cancelled, labelled, modelling", ["cancelled", "labelled", "modelling"]),
        ):
            self.assertEqual(spelling.british(text), words, text)

    def test_american(self) -> None:
        for text in (
            "specialized optimizations, behavior of a neighbor; a license; canceled, labeled",
            "a precise promise is raised otherwise; elementwise; characteristic, optimistic, realism",
            "several analyses, an exercise; programmer, programmed; parameter, diameter; deliterals",
        ):
            self.assertEqual(spelling.british(text), [], text)

    def test_places(self) -> None:
        tree = Path(self.create_tempdir().full_path)
        for name in ("colour.txt", "LICENSE", "binary"):
            (tree / name).write_bytes(b"\xff" if name == "binary" else b"A\nlicence\n")
        self.assertEqual(
            list(spelling.check(tree, ["LICENSE", "binary", "colour.txt"])),
            ["colour.txt: colour, in the file's name", "colour.txt:2: licence"],
        )


if __name__ == "__main__":
    absltest.main()
