#include <optional>

#include "kernels/images/antialiasing.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& _upsample_bilinear2d_aa_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> output_size,
                                    bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w,
                                    Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_upsample_bilinear2d_aa.out");
  return antialiased_out<op_name, TriangleFilter>(ctx, in, output_size, align_corners, scales_h, scales_w, out);
}

}  // namespace torch::executor::native
