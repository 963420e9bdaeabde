#include "kernels/reduce/reduction.h"

#include <algorithm>
#include <cstdlib>

#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/views/loop_nest.h"

namespace rules_executorch::kernels {
namespace {

/// The number of bytes of accumulators of a block of results.
constexpr int64_t kAccumulatorBytes = 16 * kBlockSize;

/// The number of values of a row that are added in lanes before the lanes are merged. It is a constant, so that results
/// do not depend on block_size and conversions of dtypes.
constexpr int64_t kLaneRun = 1024;

/// The largest number of parts of one result. Few results of many values are computed in parts. The number of parts
/// does not depend on the number of threads.
constexpr int64_t kMaxParts = 16;

/// A reduction as two loop nests. The operands of `kept` are the input and the output. The operands of `reduced` are
/// the input and the index of a value.
struct Reduction {
  const ReductionFunction& f;
  const ConstStridedView& in;
  const StridedView& out;
  LoopNest kept;
  LoopNest reduced;

  /// Whether the values of a result are contiguous and have the argument dtype of `f`.
  bool is_direct() const { return in.dtype == f.argument_type && reduced.row_stride(0) == in.element_size(); }

  /// Adds the values `begin` to `end` (exclusive, numbers of `reduced`) of the result whose first value is at `source`.
  void add_values(const char* source, int64_t begin, int64_t end, char* accumulator) const;

  /// Adds one run of values that are not contiguous or have another dtype than the arguments of `f`.
  void add_converted_run(const char* source, int64_t n, int64_t index, char* accumulator) const;

  /// Computes the results `begin` to `end` (exclusive, numbers of `kept`) one after the other.
  void compute_each(int64_t begin, int64_t end) const;

  /// Computes the results `begin` to `end` (exclusive) one block at a time. This order is faster if, in the input, the
  /// stride from result to result is smaller than the stride of the values of a result.
  void compute_blocks(int64_t begin, int64_t end) const;

  /// Computes each result in parts. The number of parts depends only on the shape. Each part is computed by one thread.
  void compute_parts(int64_t parts) const;
};

void Reduction::add_values(const char* source, int64_t begin, int64_t end, char* accumulator) const {
  const int64_t in_stride = reduced.row_stride(0);
  const int64_t index_step = reduced.row_stride(1);
  const bool direct = is_direct();
  reduced.for_each_row(begin, end, [&](const int64_t* offsets, int64_t row_part) {
    for (int64_t run = 0; run < row_part; run += kLaneRun) {
      const int64_t n = std::min(kLaneRun, row_part - run);
      const char* const first = source + offsets[0] + run * in_stride;
      const int64_t index = offsets[1] + run * index_step;
      if (direct) {
        f.add_run(f.function, accumulator, first, n, index, index_step);
      } else {
        add_converted_run(first, n, index, accumulator);
      }
    }
  });
}

void Reduction::add_converted_run(const char* source, int64_t n, int64_t index, char* accumulator) const {
  alignas(16) char lanes[kReductionLanes * kMaxAccumulatorSize];
  Block values;
  const int64_t step = block_length(elementSize(f.argument_type));
  const bool has_lanes = f.lanes > 1 && n >= kMinLaneRun;
  char* const totals = has_lanes ? lanes : accumulator;
  const int64_t lane_count = has_lanes ? kReductionLanes : 1;
  if (has_lanes) {
    f.start(f.function, lanes, kReductionLanes);
  }
  for (int64_t start = 0; start < n; start += step) {
    const int64_t part = std::min(step, n - start);
    load_block(in.dtype, source + start * reduced.row_stride(0), reduced.row_stride(0), f.argument_type, values.data,
               part);
    f.add_row(f.function, totals, lane_count, values.data, part, index + start * reduced.row_stride(1),
              reduced.row_stride(1));
  }
  if (has_lanes) {
    f.merge(f.function, accumulator, lanes, kReductionLanes);
  }
}

void Reduction::compute_each(int64_t begin, int64_t end) const {
  constexpr int64_t kTogether = 16;
  alignas(16) char accumulators[kTogether * kMaxAccumulatorSize];
  alignas(16) char results[kTogether * 2 * sizeof(int64_t)];
  const int64_t in_stride = kept.row_stride(0);
  const int64_t out_stride = kept.row_stride(1);
  const bool is_one_run = is_direct() && reduced.rank() == 1 && reduced.numel() <= kLaneRun;
  kept.for_each_row(begin, end, [&](const int64_t* offsets, int64_t row_part) {
    for (int64_t start = 0; start < row_part; start += kTogether) {
      const int64_t n = std::min(kTogether, row_part - start);
      f.start(f.function, accumulators, n);
      for (int64_t i = 0; i < n; ++i) {
        const char* const source = in.data + offsets[0] + (start + i) * in_stride;
        char* const accumulator = accumulators + i * f.accumulator_size;
        if (is_one_run) {
          f.add_run(f.function, accumulator, source, reduced.numel(), 0, reduced.row_stride(1));
        } else {
          add_values(source, 0, reduced.numel(), accumulator);
        }
      }
      f.finish(f.function, accumulators, results, n);
      store_block(f.result_type, results, out.dtype, out.data + offsets[1] + start * out_stride, out_stride, n);
    }
  });
}

void Reduction::compute_blocks(int64_t begin, int64_t end) const {
  alignas(16) char accumulators[kAccumulatorBytes];
  Block block;  // values, later results
  const int64_t in_stride = kept.row_stride(0);
  const int64_t out_stride = kept.row_stride(1);
  const int64_t element_size = static_cast<int64_t>(std::max(elementSize(f.argument_type), elementSize(f.result_type)));
  const int64_t step = std::min(block_length(element_size), kAccumulatorBytes / f.accumulator_size);
  const bool direct = in.dtype == f.argument_type && in_stride == in.element_size();
  kept.for_each_row(begin, end, [&](const int64_t* offsets, int64_t row_part) {
    for (int64_t start = 0; start < row_part; start += step) {
      const int64_t n = std::min(step, row_part - start);
      const char* const source = in.data + offsets[0] + start * in_stride;
      f.start(f.function, accumulators, n);
      reduced.for_each_row(0, reduced.numel(), [&](const int64_t* values, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          const char* const first = source + values[0] + i * reduced.row_stride(0);
          const int64_t index = values[1] + i * reduced.row_stride(1);
          if (direct) {
            f.add_each(f.function, accumulators, first, n, index);
          } else {
            load_block(in.dtype, first, in_stride, f.argument_type, block.data, n);
            f.add_each(f.function, accumulators, block.data, n, index);
          }
        }
      });
      f.finish(f.function, accumulators, block.data, n);
      store_block(f.result_type, block.data, out.dtype, out.data + offsets[1] + start * out_stride, out_stride, n);
    }
  });
}

void Reduction::compute_parts(int64_t parts) const {
  alignas(16) char accumulators[(kMaxParts + 1) * kMaxAccumulatorSize];
  alignas(16) char result[2 * sizeof(int64_t)];
  char* const partial = accumulators + f.accumulator_size;
  const int64_t part_size = (reduced.numel() + parts - 1) / parts;
  kept.for_each_row(0, kept.numel(), [&](const int64_t* offsets, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const char* const source = in.data + offsets[0] + i * kept.row_stride(0);
      f.start(f.function, accumulators, parts + 1);
      parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
        for (int64_t part = first; part < last; ++part) {
          add_values(source, part * part_size, std::min((part + 1) * part_size, reduced.numel()),
                     partial + part * f.accumulator_size);
        }
      });
      f.merge(f.function, accumulators, partial, parts);
      f.finish(f.function, accumulators, result, 1);
      store_block(f.result_type, result, out.dtype, out.data + offsets[1] + i * kept.row_stride(1), out.element_size(),
                  1);
    }
  });
}

void append(StridedShape& shape, int64_t size, int64_t stride) {
  shape.sizes[shape.rank] = size;
  shape.strides[shape.rank] = stride;
  ++shape.rank;
}

}  // namespace

bool resize_to_reduction(Tensor& out, const Tensor& in, const DimSet& dims, bool keepdim) {
  Tensor::SizesType sizes[kTensorDimensionLimit];
  size_t rank = 0;
  for (int64_t d = 0; d < in.dim(); ++d) {
    if (!dims.contains(d)) {
      sizes[rank++] = in.sizes()[d];
    } else if (keepdim) {
      sizes[rank++] = 1;
    }
  }
  return resize_tensor(out, {sizes, rank}) == Error::Ok;
}

int64_t reduced_numel(const Tensor& in, const DimSet& dims) {
  int64_t count = 1;
  for (int64_t d = 0; d < in.dim(); ++d) {
    count *= dims.contains(d) ? in.sizes()[d] : 1;
  }
  return count;
}

void apply_reduction(const ReductionFunction& f, const ConstStridedView& in, const DimSet& dims,
                     const StridedView& out) {
  // Shapes of the kept dimensions and of the reduced dimensions, and of the index of a value: its row-major position
  // among the reduced values. If the function takes no index, the index has the strides of the input, so that more
  // dimensions merge.
  StridedShape kept_in;
  StridedShape kept_out;
  StridedShape reduced_in;
  StridedShape index;
  kept_in.dtype = reduced_in.dtype = in.dtype;
  kept_out.dtype = out.dtype;
  index.dtype = ScalarType::Byte;
  const bool out_keeps_dims = out.rank == in.rank;
  int64_t reduced_count = 1;
  int64_t index_stride[kTensorDimensionLimit];
  for (int64_t d = in.rank - 1; d >= 0; --d) {
    index_stride[d] = reduced_count;
    reduced_count *= dims.contains(d) ? in.sizes[d] : 1;
  }
  for (int64_t d = 0, out_d = 0; d < in.rank; ++d) {
    if (dims.contains(d)) {
      append(reduced_in, in.sizes[d], in.strides[d]);
      append(index, in.sizes[d], f.takes_index ? index_stride[d] : in.strides[d]);
      out_d += out_keeps_dims;
    } else {
      append(kept_in, in.sizes[d], in.strides[d]);
      append(kept_out, in.sizes[d], out.strides[out_d]);
      ++out_d;
    }
  }
  const Reduction reduction{f, in, out, LoopNest::over(kept_in, kept_out), LoopNest::over(reduced_in, index)};

  const int64_t results = reduction.kept.numel();
  const int64_t parts = results < kMaxParts ? std::min(reduced_count / kGrain, kMaxParts) : 1;
  const bool is_denser_in_results =
      reduction.kept.row_size() > 1 &&
      (reduced_count == 1 || std::abs(reduction.kept.row_stride(0)) < std::abs(reduction.reduced.row_stride(0)));
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, reduced_count));
  if (is_denser_in_results) {
    parallel_for(0, results, grain, [&](int64_t begin, int64_t end) { reduction.compute_blocks(begin, end); });
  } else if (parts > 1) {
    reduction.compute_parts(parts);
  } else {
    parallel_for(0, results, grain, [&](int64_t begin, int64_t end) { reduction.compute_each(begin, end); });
  }
}

}  // namespace rules_executorch::kernels
