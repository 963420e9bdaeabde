#pragma once

#include <cstdint>

#include "kernels/convolution/epilogue.h"
#include "kernels/convolution/image_geometry.h"
#include "kernels/gemm/product_loops.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The sizes of a convolution of channels-last images by a kernel of 3 by 3, in tiles of outputs. The inputs of a tile
/// are transformed, so that each of them is multiplied by one weight of an input and an output channel; the sums over
/// the input channels are matrix products, one for each place in a tile. They are transformed to the outputs.
struct WinogradGeometry {
  int64_t batch;
  int64_t channels;
  int64_t out_channels;
  ImageAxis y;
  ImageAxis x;
  int64_t tile_outputs;  // of a row or column of a tile: 2 or 4
};

/// How a convolution is computed: the tiles are divided among threads, and those of each into blocks.
struct WinogradPlan : WinogradGeometry {
  int64_t places;
  int64_t filled_channels;  // with those that fill up the last vector
  int64_t filled_out_channels;
  int64_t tiles_of_row;
  int64_t tiles_of_column;
  int64_t tiles;
  int64_t parts;
  int64_t block_tiles;
  int64_t place_stride;  // floats between the tiles of one place and those of the next
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

/// Reads the sizes; those of the weights say how large tiles are. False where there is no such convolution.
bool read_winograd_geometry(const Tensor& in, const Tensor& weight, int64_t out_channels, ArrayRef<int64_t> padding,
                            ArrayRef<int64_t> end_padding, WinogradGeometry& geometry);

WinogradPlan plan_winograd_convolution(const WinogradGeometry& geometry);

/// Computes the convolution, with the loops of floats. `scratch` is memory for all parts.
void convolve(const ProductLoops& loops, const WinogradPlan& plan, const WinogradOperands& operands, float* scratch);

}  // namespace rules_executorch::kernels
