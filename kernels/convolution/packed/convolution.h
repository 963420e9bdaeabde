#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/convolution/packed/depthwise.h"
#include "kernels/convolution/packed/indirection.h"
#include "kernels/convolution/packed/operands.h"
#include "kernels/convolution/packed/plan.h"
#include "kernels/convolution/packed/strip.h"
#include "kernels/gemm/reduced_rows.h"
#include "kernels/parallel/parallel_for.h"

namespace rules_executorch::kernels::packed {

/// Computes a convolution of elements of type E by its plan. For 16-bit types, pairs are multiplied if the instruction
/// set has products of pairs, and depthwise convolutions read the input in place. Otherwise, a block's inputs and
/// weights are converted to floats in copies.
template <typename E>
class PackedConvolution {
 public:
  PackedConvolution(const Plan& plan, const Operands<E>& operands) : plan_(plan), operands_(operands) {}

  /// `scratch` is the plan's scratch_size() bytes of memory.
  void compute(char* scratch) const {
    for (int64_t i = 0; i < plan_.threads; ++i) {
      *scratch_of(scratch, i).filled = Block{0, 0};
    }
    const int64_t units = plan_.blocks * plan_.block_units();
    parallel_for_with_thread(0, plan_.parts, 1, [&](int64_t thread, int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        compute_part(plan_.position_at(part * units / plan_.parts), plan_.position_at((part + 1) * units / plan_.parts),
                     scratch_of(scratch, thread));
      }
    });
  }

 private:
  static constexpr bool kIsFloat = Operands<E>::kIsFloat;

  Scratch scratch_of(char* memory, int64_t thread) const {
    return plan_.scratch.at(memory + thread * plan_.scratch.size);
  }

  /// Fills the memory that all parts of a thread read.
  void fill_constants(const Scratch& scratch) const {
    const Geometry& geometry = plan_.geometry;
    std::fill_n(scratch.zeros, geometry.channels, 0.0f);
    if constexpr (!kIsFloat) {
      if (geometry.is_depthwise) {
        float* const biases = scratch.weights + plan_.taps * geometry.out_channels;
        load_row(operands_.weight, scratch.weights, plan_.taps * geometry.out_channels);
        std::fill_n(biases, geometry.out_channels, 0.0f);
        if (operands_.bias != nullptr) {
          load_row(operands_.bias, biases, geometry.out_channels);
        }
      }
    }
  }

  void compute_part(const WorkPosition& first, const WorkPosition& last, const Scratch& scratch) const {
    if (scratch.filled->count == 0) {
      fill_constants(scratch);
    }
    for (int64_t index = first.block; index <= last.block && index < plan_.blocks; ++index) {
      compute_block(plan_.block_at(index), index == first.block ? first : WorkPosition{index, 0, 0},
                    index == last.block ? last : WorkPosition{index, plan_.block_strips(), 0}, scratch);
    }
  }

  /// Computes the part of a block from the position `begin` to the position `end` (exclusive).
  void compute_block(Block block, const WorkPosition& begin, const WorkPosition& end, const Scratch& scratch) const {
    // The pixels from the first tile of the first strip to the last tile of the last strip.
    int64_t from = begin.tile * plan_.tile_pixels;
    int64_t to = end.tile > 0 ? std::min(end.tile * plan_.tile_pixels, block.count) : block.count;
    const int64_t end_strip = end.strip + (end.tile > 0 ? 1 : 0);
    const bool is_one = begin.strip + 1 == end_strip;
    if (begin.strip >= end_strip || (is_one && from >= to)) {
      return;
    }
    if (is_one && !plan_.is_copied()) {
      // With one strip, the indirection buffer only needs these pixels.
      block = {block.first + from, to - from};
      from = 0;
      to = block.count;
    }
    // The previous part of this thread may be a part of the same block.
    if (scratch.filled->first != block.first || scratch.filled->count != block.count) {
      Indirection<E>(plan_, operands_.in).fill_indirection(block, scratch);
      *scratch.filled = block;
    }
    if (plan_.geometry.is_depthwise) {
      DepthwiseLoops<E>(plan_, operands_).compute(block, from, to, scratch);
      return;
    }
    for (int64_t strip = begin.strip; strip < end_strip; ++strip) {
      StripLoops<E>(plan_, operands_, scratch, strip)
          .compute(block, strip == begin.strip ? from : 0, strip + 1 == end_strip ? to : block.count);
    }
  }

  const Plan& plan_;
  const Operands<E>& operands_;
};

}  // namespace rules_executorch::kernels::packed
