#include "kernels/elementwise/elementwise.h"

#include <algorithm>

#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {
namespace {

/// One operand of the function. The function reads or writes the memory of a direct operand. Other operands are
/// converted in a buffer, one block at a time.
struct Stream {
  ScalarType dtype;         // in memory
  ScalarType compute_type;  // in the function
  int64_t stride;
  bool direct;
  const char* repeated;  // if stride is 0: the element in the buffer
};

Stream make_stream(ScalarType dtype, ScalarType compute_type, int64_t stride) {
  const bool direct = dtype == compute_type && stride == static_cast<int64_t>(elementSize(dtype));
  return {dtype, compute_type, stride, direct, nullptr};
}

/// The number of elements of `dtype` in a buffer.
int64_t buffer_length(ScalarType dtype) { return int64_t{sizeof(Block)} / static_cast<int64_t>(elementSize(dtype)); }

}  // namespace

void apply_elementwise(const ElementwiseFunction& function, const StridedView& out, const ConstStridedView* inputs) {
  const int count = function.argument_count;
  const StridedShape* operands[kMaxOperands] = {&out};
  for (int k = 0; k < count; ++k) {
    operands[k + 1] = &inputs[k];
  }
  const LoopNest nest(operands, count + 1);

  parallel_for(0, nest.numel(), kGrain, [&](int64_t begin, int64_t end) {
    const Stream result = make_stream(out.dtype, function.result_type, nest.row_stride(0));
    Stream streams[kMaxOperands - 1];
    bool all_direct = result.direct;
    int64_t step = buffer_length(function.result_type);
    for (int k = 0; k < count; ++k) {
      streams[k] = make_stream(inputs[k].dtype, function.argument_types[k], nest.row_stride(k + 1));
      all_direct &= streams[k].direct;
      step = std::min(step, buffer_length(function.argument_types[k]));
    }
    if (all_direct) {
      step = end - begin;
    }

    Block buffers[kMaxOperands];
    nest.for_each_row(begin, end, [&](const int64_t* offsets, int64_t row_part) {
      for (int64_t start = 0; start < row_part; start += step) {
        const int64_t n = std::min(step, row_part - start);
        const void* arguments[kMaxOperands - 1];
        for (int k = 0; k < count; ++k) {
          Stream& stream = streams[k];
          const char* source = inputs[k].data + offsets[k + 1] + start * stream.stride;
          if (stream.direct) {
            arguments[k] = source;
            continue;
          }
          char* const buffer = buffers[k + 1].data;
          arguments[k] = buffer;
          if (stream.stride != 0) {
            load_block(stream.dtype, source, stream.stride, stream.compute_type, buffer, n);
          } else if (stream.repeated != source) {
            stream.repeated = source;
            load_block(stream.dtype, source, 0, stream.compute_type, buffer, std::min(step, nest.row_size()));
          }
        }
        char* target = out.data + offsets[0] + start * result.stride;
        if (result.direct) {
          function.call(function.function, target, arguments, n);
        } else {
          function.call(function.function, buffers[0].data, arguments, n);
          store_block(result.compute_type, buffers[0].data, result.dtype, target, result.stride, n);
        }
      }
    });
  });
}

}  // namespace rules_executorch::kernels
