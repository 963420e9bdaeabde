"""Tests of modules that specs describe."""

from __future__ import annotations

from absl.testing import absltest

from export.fuzz import spec
from export.fuzz.draft import KINDS, draft
from export.fuzz.spec import Pick, Spec, Step


class DraftTest(absltest.TestCase):
    def test_spec_as_text(self) -> None:
        one = Spec((1, 2), (Step("convolution", (3,)), Step("activation")), (4,))
        self.assertEqual(spec.parse(str(one)), one)

    def test_choices(self) -> None:
        pick = Pick((1, 5))
        self.assertEqual([pick("a", "b"), pick("a", "b", "c"), pick("a", "b")], ["b", "c", "a"])

    def test_plainest_choices(self) -> None:
        made = draft(Spec(steps=(Step("convolution"), Step("activation"))))
        (layer,) = made.init
        self.assertStartsWith(layer, "self.layer0 = nn.Conv2d(8, 8, 3, stride=1, padding=0")
        self.assertEqual(made.forward, ("y0 = self.layer0(x0)", "y1 = torch.relu(y0)"))
        self.assertEqual(made.gives, ("y1",))

    def test_all_lines_are_needed(self) -> None:
        made = draft(Spec(steps=(Step("activation"), Step("embedding"), Step("activation"))))
        self.assertEqual(made.gives, ("y2", "y0"))

    def test_every_kind_fits_somewhere(self) -> None:
        for kind in KINDS.keys() - {"earlier"}:
            before = (Step("embedding" if kind == "tied_linear" else "linear"),)
            # Images, and tokens.
            added = [
                len(draft(Spec((0, sizes), (*before, Step(kind)))).forward)
                - len(draft(Spec((0, sizes), before)).forward)
                for sizes in (0, 1)
            ]
            self.assertNotEqual(added, [0, 0], f"{kind} adds nothing to any module")

    def test_steps_that_do_not_fit_leave_nothing(self) -> None:
        step = Step("attention")
        self.assertEqual(draft(Spec(steps=(step,))).init, ())
        self.assertEqual(draft(Spec(steps=(step,))).inputs, draft(Spec()).inputs)

    def test_unshuffles_no_empty_tensor(self) -> None:
        empty = (0, 14)
        self.assertEqual(draft(Spec(empty)).inputs[0].sizes, (0, 8, 6, 6))
        self.assertEqual(draft(Spec(empty, (Step("shuffle", (0,)),))).forward, ("y0 = F.pixel_shuffle(x0, 2)",))
        self.assertEqual(draft(Spec(empty, (Step("shuffle", (1,)),))).forward, ())

    def test_model_files_are_python(self) -> None:
        for number in range(5):
            steps = tuple(Step(kind, tuple(range(number, number + 9))) for kind in KINDS)
            made = draft(Spec((number, number + 3), steps, (number,) * 9))
            module = compile(made.source(), "model.py", "exec")
            self.assertContainsSubset(["Model", "get_model"], module.co_names)


if __name__ == "__main__":
    absltest.main()
