#pragma once

#include <cstdint>

#include "kernels/convolution/packed/geometry.h"

namespace rules_executorch::kernels::packed {

/// The number of inputs that are summed before a tile is stored. Their weights in the tile's panels stay in the L1
/// cache.
inline constexpr int64_t kDepth = 256;

/// A position in the work. The order is: blocks, the strips of all groups of a block, the tiles of a strip.
struct WorkPosition {
  int64_t block;
  int64_t strip;  // numbered across all groups
  int64_t tile;
};

/// Pixels that are computed together: `count` pixels from `first` on, numbered across the batch.
struct Block {
  int64_t first;
  int64_t count;
};

/// The memory that the indirection buffer of a block points to.
enum class InputMode {
  kInPlace,    // the input
  kCopied,     // a copy of the block's inputs with zero padding
  kConverted,  // such a copy in floats; the weights are converted, too
};

/// The scratch memory of a thread.
struct Scratch {
  Block* filled;         // the block of the indirection buffer; of no pixels before the first one
  const float** pixels;  // the indirection buffer
  float* zeros;
  float* copied;   // inputs of a block
  float* weights;  // converted to floats
  float* sums;     // that are not stored in the result
};

/// The offsets of the scratch memory of a thread, in bytes from its start, and its size.
struct ScratchLayout {
  int64_t filled;
  int64_t pixels;
  int64_t zeros;
  int64_t copied;
  int64_t weights;
  int64_t sums;
  int64_t size;

  /// The scratch memory of a thread that starts at `memory`.
  Scratch at(char* memory) const;
};

/// The plan of a convolution: the order in which the input is read and the division of the work. Inputs are counted in
/// words: a word is a float, or a pair of 16-bit elements that are multiplied together.
struct Plan {
  Geometry geometry;
  InputMode input;
  bool has_pairs;      // weights are in pairs: inputs 2 * k and 2 * k + 1 of each output channel are adjacent
  bool counts_pairs;   // words are pairs
  bool is_merged;      // the pixels of a kernel row are one tap
  int64_t channels;    // words of a pixel
  int64_t taps;        // kernel positions, for each pixel
  int64_t depth;       // contiguous words at each tap
  int64_t panel_rows;  // words of each column of a panel
  int64_t first_row;   // of a panel
  int64_t block_pixels;
  bool has_rows;       // a block is several rows of a slice, or a part of a row
  int64_t row_blocks;  // for each row
  int64_t blocks;
  int64_t tap_stride;  // of the indirection buffer
  int64_t filled_channels;
  int64_t strips;  // of a group
  int64_t tile_pixels;
  int64_t tiles;  // of a block
  ScratchLayout scratch;
  int64_t parts;    // of the work
  int64_t threads;  // that compute the parts

  bool is_copied() const { return input != InputMode::kInPlace; }
  bool converts() const { return input == InputMode::kConverted; }
  /// The number of bytes of memory for all threads.
  int64_t scratch_size() const { return threads * scratch.size; }
  /// All units of work take about the same time: a unit is a tile for the channels of one panel.
  int64_t block_units() const;
  /// The strips of all groups of a block.
  int64_t block_strips() const { return (geometry.is_depthwise ? 1 : geometry.groups) * strips; }
  WorkPosition position_at(int64_t unit) const;
  Block block_at(int64_t index) const;

 private:
  int64_t group_units() const;
};

Plan make_plan(const Geometry& geometry);

}  // namespace rules_executorch::kernels::packed
