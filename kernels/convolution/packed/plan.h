#pragma once

#include <cstdint>

#include "kernels/convolution/packed/geometry.h"

namespace rules_executorch::kernels::packed {

/// The number of inputs that are summed before a tile is stored. Their weights in the tile's panels stay in the L1
/// cache.
inline constexpr int64_t kDepth = 256;

/// A position in the work. The order is: blocks, the strips of all groups of a block, the tiles of a strip.
struct Place {
  int64_t block;
  int64_t strip;  // numbered across all groups
  int64_t tile;
};

/// Pixels that are computed together: `count` pixels from `first` on, numbered across the batch.
struct Block {
  int64_t first;
  int64_t count;
};

/// The bytes of the first scratch memory of a thread, a Block. The rest stays aligned to cache lines.
inline constexpr int64_t kFilledSize = 64;
static_assert(sizeof(Block) <= kFilledSize);

/// The plan of a convolution: the order in which the input is read and the division of the work. If counts_pairs,
/// channels and strides are in pairs, and each pair is treated as a float.
struct Plan : Geometry {
  bool has_pairs;     // weights are in pairs: inputs 2 * k and 2 * k + 1 of each output channel are adjacent
  bool counts_pairs;  // channels and strides are in pairs
  bool converts;      // a block's inputs and weights are converted to floats in copies
  bool is_copied;     // a block's inputs are copied
  bool is_merged;     // the pixels of a kernel row are one place
  int64_t places;     // kernel positions, for each pixel
  int64_t depth;      // contiguous inputs at each place
  int64_t panel_rows;
  int64_t first_row;  // of a panel
  int64_t block_pixels;
  int64_t row_blocks;  // for each row
  int64_t blocks;
  int64_t place_stride;  // of the indirection buffer
  int64_t filled_channels;
  int64_t strips;  // of a group
  int64_t tile_pixels;
  int64_t tiles;           // of a block
  int64_t copy_size;       // floats of a block's copied inputs
  int64_t weights_size;    // floats of the converted weights
  int64_t sums_size;       // floats of the sums that are not stored in the result
  int64_t thread_scratch;  // bytes of memory for a thread
  int64_t parts;           // of the work
  int64_t threads;         // that compute the parts

  /// The number of bytes of memory for all threads.
  int64_t scratch_size() const { return threads * thread_scratch; }
  /// All units of work take about the same time: a unit is a tile for the channels of one panel.
  int64_t block_units() const;
  Place place_at(int64_t unit) const;
  Block block_at(int64_t index) const;

 private:
  int64_t group_units() const;
};

Plan make_plan(const Geometry& geometry);

}  // namespace rules_executorch::kernels::packed
