#include "kernels/common/elementwise.h"

#include <algorithm>

#include "kernels/common/convert.h"
#include "kernels/common/loop_nest.h"

namespace rules_executorch::kernels {
namespace {

/// One operand of the function: either its memory serves as it is, or a block at a time goes through a buffer.
struct Stream {
  ScalarType dtype;         // in memory
  ScalarType compute_type;  // in the function
  int64_t stride;
  bool direct;
  const char* repeated;  // the element that the buffer is filled with, where stride is 0
};

Stream make_stream(const StridedView& view, ScalarType compute_type, int64_t stride) {
  return {view.dtype, compute_type, stride, view.dtype == compute_type && stride == view.element_size(), nullptr};
}

}  // namespace

void apply_elementwise(const ElementwiseFunction& function, const StridedView& out, const StridedView* inputs) {
  const int count = function.argument_count;
  StridedView operands[kMaxOperands];
  operands[0] = out;
  std::copy_n(inputs, count, operands + 1);
  const LoopNest nest(operands, count + 1);

  const Stream result = make_stream(out, function.result_type, nest.row_stride(0));
  Stream streams[kMaxOperands];
  bool all_direct = result.direct;
  for (int k = 0; k < count; ++k) {
    streams[k] = make_stream(inputs[k], function.argument_types[k], nest.row_stride(k + 1));
    all_direct &= streams[k].direct;
  }

  Block buffers[kMaxOperands];
  const int64_t row_size = nest.row_size();
  const int64_t step = all_direct ? row_size : std::min(row_size, kBlockSize);
  nest.for_each_row([&](char* const* pointers) {
    for (int64_t start = 0; start < row_size; start += step) {
      const int64_t n = std::min(step, row_size - start);
      const void* arguments[kMaxOperands];
      for (int k = 0; k < count; ++k) {
        Stream& stream = streams[k];
        const char* source = pointers[k + 1] + start * stream.stride;
        if (stream.direct) {
          arguments[k] = source;
          continue;
        }
        arguments[k] = buffers[k + 1].data;
        if (stream.stride == 0) {
          if (stream.repeated == source) {
            continue;
          }
          stream.repeated = source;
          load_block(stream.dtype, source, 0, stream.compute_type, buffers[k + 1].data, step);
        } else {
          load_block(stream.dtype, source, stream.stride, stream.compute_type, buffers[k + 1].data, n);
        }
      }
      char* target = pointers[0] + start * result.stride;
      if (result.direct) {
        function.call(function.function, target, arguments, n);
      } else {
        function.call(function.function, buffers[0].data, arguments, n);
        store_block(result.compute_type, buffers[0].data, result.dtype, target, result.stride, n);
      }
    }
  });
}

}  // namespace rules_executorch::kernels
