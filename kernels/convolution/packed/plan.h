#pragma once

#include <cstdint>

#include "kernels/convolution/packed/geometry.h"

namespace rules_executorch::kernels::packed {

/// Inputs that are summed up before a tile is written: their weights in the tile's panels stay in the first cache.
inline constexpr int64_t kDepth = 256;

/// A place in the work, in its order: of each block, each strip of each group, of each strip, the tiles.
struct Place {
  int64_t block;
  int64_t strip;  // counted through the groups
  int64_t tile;
};

/// Pixels that are computed together: from `first` on, counted through the batch.
struct Block {
  int64_t first;
  int64_t count;
};

/// How a convolution is computed: in which order the input is read, and how the work is divided. Where pairs of inputs
/// are counted, channels and strides are numbers of pairs, as if these were floats.
struct Plan : Geometry {
  bool has_pairs;     // in the weights: inputs 2 * k and 2 * k + 1 of each output channel are neighbors
  bool counts_pairs;  // of input channels
  bool converts;      // whether a block's inputs and weights become floats in copies
  bool is_copied;     // whether a block's inputs are
  bool is_merged;     // whether pixels of a row of the kernel are one place
  int64_t places;     // of inputs, for each pixel
  int64_t depth;      // inputs that are neighbors at each place
  int64_t block_pixels;
  int64_t row_blocks;  // of a row
  int64_t blocks;
  int64_t place_stride;  // of the indirection
  int64_t filled_channels;
  int64_t strips;  // of a group
  int64_t tile_pixels;
  int64_t tiles;         // of a block
  int64_t copy_size;     // floats of a block's copied inputs
  int64_t weights_size;  // of those that become floats
  int64_t sums_size;     // of those that are no results
  int64_t scratch_size;  // bytes of memory for a part of the work
  int64_t parts;         // of the work, of a thread each

  /// Units are what takes the same time: a tile for some channels.
  int64_t block_units() const;
  Place place_at(int64_t unit) const;
  Block block_at(int64_t index) const;

 private:
  int64_t group_units() const;
};

Plan make_plan(const Geometry& geometry);

}  // namespace rules_executorch::kernels::packed
