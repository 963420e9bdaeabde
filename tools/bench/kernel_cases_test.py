"""Every portable operator has its cases in kernels_bench."""

import pathlib

import torch
from absl.testing import absltest

from tools.bench import kernel_cases

_FUNCTIONS = pathlib.Path(__file__).parents[2] / "kernels" / "portable" / "functions.yaml"


class KernelCasesTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.operators = kernel_cases.operators(_FUNCTIONS)
        self.timed = [operator for operator in self.operators if operator not in kernel_cases.NOT_TIMED]

    def test_every_operator_has_cases(self) -> None:
        for operator in self.timed:
            with self.subTest(operator):
                cases = dict(kernel_cases.operator_cases(operator))
                self.assertContainsSubset([kernel_cases.CONTIGUOUS], cases)
                self.assertContainsSubset(cases, kernel_cases.LIMITS)
                # The arguments fit the schema, whose arguments without default are all there.
                for case in cases.values():
                    case.tester().eager.bind(case.arguments, dict(case.keywords))

    def test_two_operands_broadcast(self) -> None:
        for operator in ("add.out", "bitwise_and.Tensor_out", "where.self_out", "logical_or.out", "atan2.out"):
            self.assertContainsSubset([kernel_cases.BROADCAST], dict(kernel_cases.operator_cases(operator)))

    def test_complex_numbers(self) -> None:
        for operator in ("add.out", "bmm.out", "cat.out"):
            case = dict(kernel_cases.operator_cases(operator))[kernel_cases.COMPLEX]
            tensors = case.inputs()[0] if operator == "cat.out" else case.inputs()
            self.assertTrue(all(tensor.is_complex() for tensor in tensors if isinstance(tensor, torch.Tensor)))

    def test_exceptions_have_cases(self) -> None:
        cases = {(operator, layout) for operator in self.timed for layout, _ in kernel_cases.operator_cases(operator)}
        self.assertContainsSubset(kernel_cases.EXCEPTIONS, cases)

    def test_operators_that_are_not_timed(self) -> None:
        self.assertContainsSubset(kernel_cases.NOT_TIMED, self.operators)


if __name__ == "__main__":
    absltest.main()
