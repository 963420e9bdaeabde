#include "kernels/convolution/packed/geometry.h"

#include "kernels/gemm/float_panels.h"
#include "kernels/views/memory_format.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels::packed {
namespace {

/// The input channels of a sum, padded to a multiple of two if weights are packed in pairs.
int64_t packed_channels(ScalarType type, int64_t channels, int64_t groups) {
  const int64_t of_group = channels / groups;
  return type == ScalarType::BFloat16 && groups == 1 ? (of_group + 1) / 2 * 2 : of_group;
}

}  // namespace

bool read_geometry(const Tensor& in, const Tensor& weight, const ImageArguments& arguments, int64_t out_channels,
                   int64_t groups, Geometry& geometry) {
  ET_LOG_AND_RETURN_IF_FALSE(read_image_axes(in, arguments, geometry.y, geometry.x));
  geometry.type = in.scalar_type();
  geometry.batch = in.size(0);
  geometry.in_channels = in.size(1);
  geometry.out_channels = out_channels;
  geometry.groups = groups;
  geometry.is_depthwise = groups > 1 && groups == in.size(1) && groups == out_channels;
  ET_CHECK_OR_RETURN_FALSE(groups > 0 && in.size(1) % groups == 0 && out_channels > 0 && out_channels % groups == 0,
                           "%d groups do not divide the channels", int(groups));
  const int64_t packed = packed_channels(in.scalar_type(), in.size(1), groups);
  geometry.channels = packed * groups;
  const int64_t positions = geometry.y.kernel_size * geometry.x.kernel_size;
  const int64_t of_group = out_channels / groups;
  const bool has_pairs = in.scalar_type() == ScalarType::BFloat16 && packed % 2 == 0;
  const bool is_packed =
      geometry.is_depthwise
          ? weight.dim() == 2 && weight.size(0) == positions && weight.size(1) == groups &&
                ::executorch::runtime::is_contiguous_dim_order(weight.dim_order().data(), 2)
          : has_panels(weight, 1, of_group, positions * packed, has_pairs) && weight.size(0) == groups;
  ET_CHECK_OR_RETURN_FALSE(is_packed,
                           "weights are not packed for this convolution: the program was exported by another version "
                           "of rules_executorch; export the program again");
  const ConstStridedView view(in);
  const bool is_last = is_channels_last(in);
  geometry.in_batch_stride = view.strides[0];
  geometry.in_channel_stride = is_last ? 1 : view.strides[1];
  geometry.in_row_stride = is_last ? in.size(3) * in.size(1) : view.strides[2];
  geometry.in_pixel_stride = is_last ? in.size(1) : view.strides[3];
  return true;
}

}  // namespace rules_executorch::kernels::packed
