#include "kernels/convolution/packed/geometry.h"

#include <algorithm>
#include <numeric>

#include "kernels/gemm/float_panels.h"
#include "kernels/math/divide_up.h"
#include "kernels/views/memory_format.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels::packed {
namespace {

/// The input channels of a sum, padded to a multiple of two if weights are packed in pairs.
int64_t packed_channels(ScalarType type, int64_t channels, int64_t groups) {
  const int64_t of_group = channels / groups;
  return type == ScalarType::BFloat16 && groups == 1 ? (of_group + 1) / 2 * 2 : of_group;
}

/// Whether each phase has kernel positions, and the same distance between the inputs of neighboring positions.
bool has_phases(const ImageAxis& axis) {
  return axis.kernel_size >= axis.stride && std::gcd(axis.stride, axis.dilation) == 1;
}

/// The first kernel position of a phase. Input i and position k contribute to output i * stride + k * dilation -
/// padding.
int64_t first_of_phase(const ImageAxis& axis, int64_t phase) {
  int64_t first = 0;
  while ((first * axis.dilation - axis.padding - phase) % axis.stride != 0) {
    ++first;
  }
  return first;
}

int64_t positions_of_phase(const ImageAxis& axis, int64_t phase) {
  return divide_up(axis.kernel_size - first_of_phase(axis, phase), axis.stride);
}

int64_t positions_before_phase(const ImageAxis& axis, int64_t phase) {
  int64_t count = 0;
  for (int64_t before = 0; before < phase; ++before) {
    count += positions_of_phase(axis, before);
  }
  return count;
}

/// The packed positions of a phase are in the order of their inputs: from the last position to the first.
ImageAxis axis_of_phase(const ImageAxis& axis, int64_t phase) {
  ImageAxis result = axis;
  result.kernel_size = positions_of_phase(axis, phase);
  result.out_size = divide_up(std::max<int64_t>(axis.out_size - phase, 0), axis.stride);
  const int64_t last = first_of_phase(axis, phase) + (result.kernel_size - 1) * axis.stride;
  result.padding = (last * axis.dilation - axis.padding - phase) / axis.stride;
  result.end_padding = 0;
  result.stride = 1;
  return result;
}

/// Sets the strides of dense rows and slices of results.
void set_out_strides(Geometry& geometry) {
  geometry.out_row_stride = geometry.x.out_size * geometry.out_pixel_stride;
  geometry.out_slice_stride = geometry.y.out_size * geometry.out_row_stride;
}

}  // namespace

Geometry phase_of(const Geometry& geometry, int64_t phase) {
  if (!geometry.is_transposed) {
    return geometry;
  }
  const int64_t row = phase / geometry.x.stride;
  const int64_t column = phase % geometry.x.stride;
  Geometry result = geometry;
  result.y = axis_of_phase(geometry.y, row);
  result.x = axis_of_phase(geometry.x, column);
  result.first_position = positions_before_phase(geometry.y, row) * geometry.x.kernel_size +
                          result.y.kernel_size * positions_before_phase(geometry.x, column);
  result.out_first = row * geometry.out_row_stride + column * geometry.out_pixel_stride;
  result.out_row_stride *= geometry.y.stride;
  result.out_pixel_stride *= geometry.x.stride;
  return result;
}

Geometry merged(const Geometry& geometry) {
  Geometry result = geometry;
  const bool has_dense_slices = geometry.batch == 1 || geometry.z.in_size == 1 ||
                                geometry.in_batch_stride == geometry.z.in_size * geometry.in_slice_stride;
  const bool has_dense_rows = geometry.y.in_size == 1 || geometry.x.in_size == 1 ||
                              geometry.in_row_stride == geometry.x.in_size * geometry.in_pixel_stride;
  if (geometry.z.is_pointwise() && has_dense_slices) {
    result.batch = geometry.out_slices();
    result.in_batch_stride = geometry.z.in_size > 1 ? geometry.in_slice_stride : geometry.in_batch_stride;
    result.z = {};
  } else if (geometry.y.is_pointwise() && geometry.x.is_pointwise() && has_dense_rows) {
    result.in_pixel_stride = geometry.x.in_size > 1 ? geometry.in_pixel_stride : geometry.in_row_stride;
    result.in_row_stride = geometry.in_slice_stride;
    result.x.in_size = result.x.out_size = geometry.slice_pixels();
    result.y = geometry.z;
    result.z = {};
    set_out_strides(result);
  }
  return result;
}

bool read_geometry(const Tensor& in, const Tensor& weight, const ImageArguments& arguments, int64_t out_channels,
                   int64_t groups, Geometry& geometry) {
  ET_LOG_AND_RETURN_IF_FALSE(read_axes(in, arguments, geometry));
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
  geometry.positions = geometry.kernel_positions();
  geometry.is_transposed = arguments.transposed;
  ET_CHECK_OR_RETURN_FALSE(
      !geometry.is_transposed ||
          (in.dim() == 4 && !geometry.is_depthwise && has_phases(geometry.y) && has_phases(geometry.x)),
      "expected a transposed convolution of images that is not depthwise, with a kernel of at least the stride, and "
      "with a dilation that has no factor of the stride");
  const int64_t of_group = out_channels / groups;
  const bool has_pairs = in.scalar_type() == ScalarType::BFloat16 && packed % 2 == 0;
  const bool is_packed =
      geometry.is_depthwise
          ? weight.dim() == 2 && weight.size(0) == geometry.positions && weight.size(1) == groups
          : has_panels(weight, 1, of_group, geometry.positions * packed, has_pairs) && weight.size(0) == groups;
  ET_CHECK_OR_RETURN_FALSE(is_packed,
                           "weights are not packed for this convolution: the program was exported by another version "
                           "of rules_executorch; export the program again");
  const ConstStridedView view(in);
  const int64_t columns = in.dim() - 1, rows = in.dim() - 2;
  geometry.in_batch_stride = view.strides[0];
  if (is_channels_last(in)) {
    geometry.in_channel_stride = 1;
    geometry.in_pixel_stride = in.size(1);
    geometry.in_row_stride = in.size(columns) * geometry.in_pixel_stride;
    geometry.in_slice_stride = in.size(rows) * geometry.in_row_stride;
  } else {
    geometry.in_channel_stride = view.strides[1];
    geometry.in_pixel_stride = view.strides[columns];
    geometry.in_row_stride = view.strides[rows];
    geometry.in_slice_stride = view.strides[2];
  }
  geometry.first_position = 0;
  geometry.out_first = 0;
  geometry.out_pixel_stride = out_channels;
  set_out_strides(geometry);
  return true;
}

}  // namespace rules_executorch::kernels::packed
