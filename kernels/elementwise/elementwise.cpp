#include "kernels/elementwise/elementwise.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "kernels/math/divide_up.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {
namespace {

/// The number of elements of `dtype` in a buffer.
int64_t buffer_length(ScalarType dtype) { return int64_t{sizeof(Block)} / static_cast<int64_t>(elementSize(dtype)); }

/// Writes each of `count` values `n` times.
template <typename T>
void spread(const void* values, int64_t count, int64_t n, void* target) {
  // A constant number of iterations. What a row has too much, the next rows replace.
  constexpr int64_t kTogether = 16;
  const int64_t written = divide_up(n, kTogether) * kTogether;
  const T* const from = static_cast<const T*>(values);
  T* const to = static_cast<T*>(target);
  for (int64_t i = 0; i < count; ++i) {
    const T value = from[i];
    T* const row = to + i * n;
    if (i * n + written > count * n) {
      std::fill_n(row, n, value);
      continue;
    }
    for (int64_t start = 0; start < n; start += kTogether) {
      for (int64_t j = 0; j < kTogether; ++j) {
        row[start + j] = value;
      }
    }
  }
}

void spread(ScalarType type, const void* values, int64_t count, int64_t n, void* target) {
  switch (elementSize(type)) {
    case 1:
      return spread<uint8_t>(values, count, n, target);
    case 2:
      return spread<uint16_t>(values, count, n, target);
    case 4:
      return spread<uint32_t>(values, count, n, target);
    case 8:
      return spread<uint64_t>(values, count, n, target);
    default:
      return spread<std::complex<double>>(values, count, n, target);
  }
}

/// One operand of the function. The function reads or writes the memory of a direct operand. Other operands are
/// converted in a buffer, one block at a time.
struct Stream {
  ScalarType dtype;         // in memory
  ScalarType compute_type;  // in the function
  int64_t stride;
  int64_t row_stride;
  bool direct;
  const char* repeated;  // the element or the row that the buffer repeats

  /// Returns `n` elements. `most`: the largest number of elements of later calls with the same source.
  const void* load(const char* source, int64_t n, int64_t most, char* buffer) {
    if (direct) {
      return source;
    }
    if (stride != 0) {
      load_block(dtype, source, stride, compute_type, buffer, n);
    } else if (repeated != source) {
      repeated = source;
      load_block(dtype, source, 0, compute_type, buffer, most);
    }
    return buffer;
  }

  /// Returns `count` rows of `n` elements. `most`: the largest number of rows of later calls. `values`: memory for an
  /// element of each row.
  const void* load_rows(const char* source, int64_t count, int64_t most, int64_t n, char* buffer, char* values) {
    if (row_stride == n * stride) {
      return load(source, count * n, most * n, buffer);
    }
    const auto row_bytes = n * static_cast<int64_t>(elementSize(compute_type));
    if (row_stride == 0) {
      if (repeated != source) {
        repeated = source;
        load_block(dtype, source, stride, compute_type, buffer, n);
        for (int64_t filled = 1; filled < most; filled *= 2) {
          std::memcpy(buffer + filled * row_bytes, buffer,
                      static_cast<size_t>(std::min(filled, most - filled) * row_bytes));
        }
      }
    } else if (stride == 0) {
      load_block(dtype, source, row_stride, compute_type, values, count);
      spread(compute_type, values, count, n, buffer);
    } else {
      for (int64_t row = 0; row < count; ++row) {
        load_block(dtype, source + row * row_stride, stride, compute_type, buffer + row * row_bytes, n);
      }
    }
    return buffer;
  }
};

/// The loops of a call.
class Loops {
 public:
  Loops(const ElementwiseFunction& function, const StridedView& out, const ConstStridedView* inputs,
        const LoopNest& nest)
      : function_(function), out_(out), inputs_(inputs), nest_(nest), step_(buffer_length(function.result_type)) {
    for (int k = 0; k < function.argument_count; ++k) {
      step_ = std::min(step_, buffer_length(function.argument_types[k]));
    }
  }

  void run() const {
    // Several short rows are one call of the function if the rows of the result are adjacent.
    const int64_t rows_of_call = step_ / std::max<int64_t>(nest_.row_size(), 1);
    const int64_t rank = nest_.rank();
    if (rank > 1 && rows_of_call > 1 && nest_.stride(0, rank - 2) == nest_.row_size() * nest_.row_stride(0)) {
      run_by_rows(rows_of_call);
    } else {
      run_in_rows();
    }
  }

 private:
  Stream stream(const StridedShape& shape, ScalarType compute_type, int operand) const {
    const int64_t stride = nest_.row_stride(operand);
    const int64_t row_stride = nest_.rank() > 1 ? nest_.stride(operand, nest_.rank() - 2) : 0;
    const bool direct = shape.dtype == compute_type && stride == shape.element_size();
    return {shape.dtype, compute_type, stride, row_stride, direct, nullptr};
  }

  /// Sets the streams of the arguments. Returns the stream of the result.
  Stream make_streams(Stream* streams) const {
    for (int k = 0; k < function_.argument_count; ++k) {
      streams[k] = stream(inputs_[k], function_.argument_types[k], k + 1);
    }
    return stream(out_, function_.result_type, 0);
  }

  /// Calls the function for `n` elements.
  void call(const Stream& result, const void* const* arguments, char* target, char* buffer, int64_t n) const {
    if (result.direct) {
      function_.call(function_.function, target, arguments, n);
    } else {
      function_.call(function_.function, buffer, arguments, n);
      store_block(result.compute_type, buffer, result.dtype, target, result.stride, n);
    }
  }

  /// Calls the function for parts of rows.
  void run_in_rows() const {
    const int count = function_.argument_count;
    parallel_for(0, nest_.numel(), kGrain, [&](int64_t begin, int64_t end) {
      Stream streams[kMaxOperands - 1];
      const Stream result = make_streams(streams);
      const bool all_direct =
          result.direct && std::all_of(streams, streams + count, [](const Stream& one) { return one.direct; });
      const int64_t step = all_direct ? end - begin : step_;
      Block buffers[kMaxOperands];
      nest_.for_each_row(begin, end, [&](const int64_t* offsets, int64_t row_part) {
        for (int64_t start = 0; start < row_part; start += step) {
          const int64_t n = std::min(step, row_part - start);
          const void* arguments[kMaxOperands - 1];
          for (int k = 0; k < count; ++k) {
            arguments[k] = streams[k].load(inputs_[k].data + offsets[k + 1] + start * streams[k].stride, n,
                                           std::min(step, nest_.row_size()), buffers[k + 1].data);
          }
          call(result, arguments, out_.data + offsets[0] + start * result.stride, buffers[0].data, n);
        }
      });
    });
  }

  /// Calls the function for up to `rows_of_call` rows at a time.
  void run_by_rows(int64_t rows_of_call) const {
    const int count = function_.argument_count;
    const LoopNest rows = nest_.of_rows();
    const int64_t n = nest_.row_size();
    // Parts of about the same size
    const int64_t most = divide_up(rows.row_size(), divide_up(rows.row_size(), rows_of_call));
    parallel_for(0, rows.numel(), std::max<int64_t>(kGrain / n, 1), [&](int64_t begin, int64_t end) {
      Stream streams[kMaxOperands - 1];
      const Stream result = make_streams(streams);
      Block buffers[kMaxOperands];
      rows.for_each_row(begin, end, [&](const int64_t* offsets, int64_t row_count) {
        for (int64_t start = 0; start < row_count; start += most) {
          const int64_t part = std::min(most, row_count - start);
          const void* arguments[kMaxOperands - 1];
          for (int k = 0; k < count; ++k) {
            // Until the call, the buffer of the result is free.
            arguments[k] = streams[k].load_rows(inputs_[k].data + offsets[k + 1] + start * streams[k].row_stride, part,
                                                most, n, buffers[k + 1].data, buffers[0].data);
          }
          call(result, arguments, out_.data + offsets[0] + start * result.row_stride, buffers[0].data, part * n);
        }
      });
    });
  }

  const ElementwiseFunction& function_;
  const StridedView& out_;
  const ConstStridedView* inputs_;
  const LoopNest& nest_;
  int64_t step_;  // the elements that the buffers have room for
};

}  // namespace

void apply_elementwise(const ElementwiseFunction& function, const StridedView& out, const ConstStridedView* inputs) {
  const StridedShape* operands[kMaxOperands] = {&out};
  for (int k = 0; k < function.argument_count; ++k) {
    operands[k + 1] = &inputs[k];
  }
  const LoopNest nest(operands, function.argument_count + 1);
  Loops(function, out, inputs, nest).run();
}

}  // namespace rules_executorch::kernels
