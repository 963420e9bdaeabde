#pragma once

#include <cstdint>

#include "kernels/convolution/epilogue.h"
#include "kernels/convolution/image_geometry.h"
#include "kernels/gemm/product_loops.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The sizes of a convolution of channels-last images, or of slices of volumes, with a 3 x 3 kernel, in tiles of
/// outputs. The inputs of a tile and the kernels are transformed. At each place of a tile, the sums over the input
/// channels are a matrix product. The sums are transformed to the outputs.
struct WinogradGeometry : ImageAxes {
  int64_t images;
  int64_t channels;
  int64_t out_channels;
  int64_t tile_outputs;  // outputs of a row or column of a tile: 2 or 4
};

/// The plan of a convolution. Threads share the tiles, and each thread processes its tiles in blocks.
struct WinogradPlan {
  WinogradGeometry geometry;
  int64_t places;
  int64_t filled_channels;  // padded to whole vectors
  int64_t filled_out_channels;
  int64_t tiles_of_row;
  int64_t tiles_of_column;
  int64_t tiles;
  int64_t parts;
  int64_t block_tiles;
  int64_t block_channels;  // input channels of the kernels that are transformed together
  int64_t place_stride;    // floats from the tiles of one place to those of the next
  int64_t weights_stride;
  int64_t sums_stride;
  int64_t scratch_size;  // floats of memory for a part of the work
};

struct WinogradOperands {
  const float* in;
  const float* weight;
  const float* bias;      // null for none
  const float* residual;  // null for none
  float* out;
  Epilogue epilogue;
};

/// Reads the sizes. Returns false if the arguments are invalid.
bool read_winograd_geometry(const Tensor& in, const Tensor& weight, int64_t out_channels, int64_t tile,
                            ArrayRef<int64_t> padding, ArrayRef<int64_t> end_padding, WinogradGeometry& geometry);

WinogradPlan plan_winograd_convolution(const WinogradGeometry& geometry);

/// Computes the convolution with the loops of floats. `scratch` is memory for all parts.
void convolve(const ProductLoops& loops, const WinogradPlan& plan, const WinogradOperands& operands, float* scratch);

}  // namespace rules_executorch::kernels
