#include "kernels/common/reduction.h"

#include <algorithm>
#include <cstdlib>

#include "kernels/common/convert.h"

namespace rules_executorch::kernels {
namespace {

/// Bytes of accumulators that are kept side by side.
constexpr int64_t kAccumulatorBytes = 4096;

/// Some of the input's dimensions, with its strides and the output's, in bytes; the last one is the innermost.
struct Axes {
  int64_t dim = 0;
  int64_t sizes[kTensorDimensionLimit];
  int64_t in_strides[kTensorDimensionLimit];
  int64_t out_strides[kTensorDimensionLimit];  // for reduced axes: what one step adds to the index

  void append(int64_t size, int64_t in_stride, int64_t out_stride) {
    if (size == 1) {
      return;
    }
    if (dim > 0 && in_strides[dim - 1] == in_stride * size && out_strides[dim - 1] == out_stride * size) {
      sizes[dim - 1] *= size;
    } else {
      sizes[dim++] = size;
    }
    in_strides[dim - 1] = in_stride;
    out_strides[dim - 1] = out_stride;
  }

  /// Moves the axis with the smallest stride in the input to the end, so that rows are read in memory's order.
  void put_densest_last() {
    int64_t densest = dim - 1;
    for (int64_t d = 0; d < dim; ++d) {
      if (std::abs(in_strides[d]) < std::abs(in_strides[densest])) {
        densest = d;
      }
    }
    if (dim > 0) {
      std::rotate(sizes + densest, sizes + densest + 1, sizes + dim);
      std::rotate(in_strides + densest, in_strides + densest + 1, in_strides + dim);
      std::rotate(out_strides + densest, out_strides + densest + 1, out_strides + dim);
    }
  }

  /// Calls `visit(in_offset, out_offset)` for each position in the first `count` dimensions.
  template <typename Visit>
  void for_each(int64_t count, const Visit& visit) const {
    int64_t index[kTensorDimensionLimit] = {};
    int64_t in_offset = 0;
    int64_t out_offset = 0;
    while (true) {
      visit(in_offset, out_offset);
      int64_t d = count - 1;
      for (; d >= 0 && ++index[d] == sizes[d]; --d) {
        index[d] = 0;
        in_offset -= (sizes[d] - 1) * in_strides[d];
        out_offset -= (sizes[d] - 1) * out_strides[d];
      }
      if (d < 0) {
        return;
      }
      in_offset += in_strides[d];
      out_offset += out_strides[d];
    }
  }
};

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

void apply_reduction(const ReductionFunction& f, const StridedView& in, const DimSet& dims, const StridedView& out) {
  const int64_t in_size = in.element_size();
  const int64_t out_size = out.element_size();
  const bool out_keeps_dims = out.dim == in.dim;
  Axes kept;
  Axes reduced;
  int64_t reduced_count = 1;
  int64_t index_stride[kTensorDimensionLimit];
  for (int64_t d = in.dim - 1; d >= 0; --d) {
    index_stride[d] = reduced_count;
    reduced_count *= dims.contains(d) ? in.sizes[d] : 1;
  }
  for (int64_t d = 0, out_d = 0; d < in.dim; ++d) {
    if (dims.contains(d)) {
      reduced.append(in.sizes[d], in.strides[d] * in_size, index_stride[d]);
      out_d += out_keeps_dims;
    } else {
      kept.append(in.sizes[d], in.strides[d] * in_size, out.strides[out_d] * out_size);
      ++out_d;
    }
  }
  if (out.numel() == 0) {
    return;
  }
  kept.put_densest_last();
  reduced.put_densest_last();

  alignas(16) char accumulators[kAccumulatorBytes];
  Block values;
  Block results;

  // Where results lie denser in the input than what each is made of, a block of results is computed at a time.
  const bool blocks_of_results =
      kept.dim > 0 &&
      (reduced.dim == 0 || std::abs(kept.in_strides[kept.dim - 1]) < std::abs(reduced.in_strides[reduced.dim - 1]));
  if (blocks_of_results) {
    const int64_t row_size = kept.sizes[kept.dim - 1];
    const int64_t in_stride = kept.in_strides[kept.dim - 1];
    const int64_t out_stride = kept.out_strides[kept.dim - 1];
    const int64_t step = std::min(kBlockSize, kAccumulatorBytes / f.accumulator_size);
    const bool direct = in.dtype == f.argument_type && in_stride == in_size;
    kept.for_each(kept.dim - 1, [&](int64_t in_offset, int64_t out_offset) {
      for (int64_t start = 0; start < row_size; start += step) {
        const int64_t n = std::min(step, row_size - start);
        const char* source = in.data + in_offset + start * in_stride;
        f.start(f.function, accumulators, n);
        if (reduced_count > 0) {
          reduced.for_each(reduced.dim, [&](int64_t offset, int64_t index) {
            if (direct) {
              f.add_each(f.function, accumulators, source + offset, n, index);
            } else {
              load_block(in.dtype, source + offset, in_stride, f.argument_type, values.data, n);
              f.add_each(f.function, accumulators, values.data, n, index);
            }
          });
        }
        f.finish(f.function, accumulators, results.data, n);
        store_block(f.result_type, results.data, out.dtype, out.data + out_offset + start * out_stride, out_stride, n);
      }
    });
    return;
  }

  const bool has_row = reduced.dim > 0;
  const int64_t row_size = has_row ? reduced.sizes[reduced.dim - 1] : 1;
  const int64_t in_stride = has_row ? reduced.in_strides[reduced.dim - 1] : in_size;
  const int64_t index_step = has_row ? reduced.out_strides[reduced.dim - 1] : 1;
  const bool direct = in.dtype == f.argument_type && in_stride == in_size;
  kept.for_each(kept.dim, [&](int64_t in_offset, int64_t out_offset) {
    f.start(f.function, accumulators, 1);
    if (reduced_count > 0) {
      reduced.for_each(has_row ? reduced.dim - 1 : 0, [&](int64_t offset, int64_t index) {
        for (int64_t start = 0; start < row_size; start += kBlockSize) {
          const int64_t n = std::min(kBlockSize, row_size - start);
          const char* source = in.data + in_offset + offset + start * in_stride;
          if (direct) {
            f.add_row(f.function, accumulators, source, n, index + start * index_step, index_step);
          } else {
            load_block(in.dtype, source, in_stride, f.argument_type, values.data, n);
            f.add_row(f.function, accumulators, values.data, n, index + start * index_step, index_step);
          }
        }
      });
    }
    f.finish(f.function, accumulators, results.data, 1);
    store_block(f.result_type, results.data, out.dtype, out.data + out_offset, out_size, 1);
  });
}

}  // namespace rules_executorch::kernels
