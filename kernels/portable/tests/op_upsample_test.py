"""Tests of upsample_nearest2d.vec_out and upsample_bilinear2d.vec_out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester

SIZES = (
    ([7, 9], None), ([4, 5], None), ([2, 3], None), ([1, 1], None), (None, [2.0, 2.0]), (None, [1.5, 0.7]),
    (None, [2.3, 3.1]), ([0, 2], None), ([2], None), (None, [2.0]), (None, [-1.0, 2.0]), (None, None),
)  # fmt: skip


def schema(name: str) -> str:
    packet, overload = name.removeprefix("aten::").split(".")
    return str(getattr(getattr(torch.ops.aten, packet), overload)._schema)


class OpUpsampleTest(op_tester.OpTest):
    def test_nearest(self) -> None:
        name = "aten::upsample_nearest2d.vec_out"
        nearest = self.op(name, schema=schema(name), reference=torch.ops.aten.upsample_nearest2d.vec)
        for size, scales in SIZES:
            for dtype in (*op_tester.FLOAT_DTYPES, torch.uint8):
                nearest.judge(op_tester.make_tensor((2, 3, 4, 5), dtype), size, scales, exact=True)
            for order in op_tester.dim_orders(4):
                nearest.judge(op_tester.make_tensor((2, 3, 4, 5), torch.float32, dim_order=order), size, scales)
        for shape in ((0, 3, 4, 5), (2, 0, 4, 5), (2, 3, 0, 5), (3, 4, 5), (2, 3, 4, 5, 6)):
            nearest.judge(torch.ones(shape), [7, 9], None)

    def test_bilinear(self) -> None:
        name = "aten::upsample_bilinear2d.vec_out"
        bilinear = self.op(name, schema=schema(name), reference=torch.ops.aten.upsample_bilinear2d.vec)
        for align in (False, True):
            for size, scales in SIZES:
                for dtype in op_tester.FLOAT_DTYPES:
                    x = op_tester.make_tensor((2, 3, 4, 5), dtype)
                    bilinear.judge(x, size, align, scales, rtol=1e-2, atol=1e-2 if dtype.itemsize == 2 else 1e-5)
                for order in op_tester.dim_orders(4):
                    x = op_tester.make_tensor((2, 3, 4, 5), torch.float32, dim_order=order)
                    bilinear.judge(x, size, align, scales, out_dim_order=order, rtol=1e-5, atol=1e-5)
        for shape in ((0, 3, 4, 5), (2, 0, 4, 5), (2, 3, 0, 5), (3, 4, 5), (2, 3, 4, 5, 6)):
            bilinear.judge(torch.ones(shape), [7, 9], False, None)
        bilinear.check_rejected(
            torch.ones((1, 1, 2, 2)).int(), [4, 4], False, None, outs=[torch.ones(1, 1, 4, 4).int()]
        )


if __name__ == "__main__":
    absltest.main()
