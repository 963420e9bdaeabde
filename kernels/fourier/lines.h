#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fourier/transform.h"
#include "kernels/views/loop_nest.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

enum class FourierKind { kForward, kBackward, kRealToComplex, kComplexToReal };

/// The transforms of all lines along one dimension, on several threads. A batch of lines is transformed at a time, each
/// line in its own lane of vectors. T is the type of the parts of complex numbers.
template <typename T>
class FourierLines {
 public:
  static constexpr size_t kAlignment = 64;

  /// `in` and `out` differ in the size of dimension `dim` only. `length` is that of the transform. If one of both is
  /// real, the other one has at least `length / 2 + 1` elements, and `out` may have all `length` elements. The
  /// transform of complex numbers may be in place. `scale` is a factor of the results.
  FourierLines(FourierKind kind, int64_t length, double scale, const ConstStridedView& in, const StridedView& out,
               int64_t dim);

  /// The number of bytes of memory for `run`, which is aligned to kAlignment.
  size_t memory_size() const;

  void run(void* memory) const;

 private:
  static constexpr int64_t kMostLanes = 64 / sizeof(T);

  /// The first elements of the lines of a batch.
  struct Batch {
    int64_t count = 0;
    const T* in[kMostLanes];
    T* out[kMostLanes];
  };

  int64_t table_size() const;
  int64_t batch_size() const { return 4 * rows_ * lanes_; }
  int64_t threads() const;
  void run_batch(const Transform<T>& transform, const Batch& batch, T* memory) const;

  FourierKind kind_;
  int64_t length_;
  T scale_;
  // The results are those of the forward transform of complex numbers with exchanged parts.
  bool is_backward_;
  // A line of real numbers is a line of half as many complex numbers.
  bool is_halved_;
  int64_t complex_size_;  // the elements of a line of complex numbers
  // The distance of the elements of a line in units of T.
  int64_t in_step_;
  int64_t out_step_;
  const char* in_;
  char* out_;
  LoopNest nest_;
  Transform<T> transform_;
  int64_t rows_;   // of each memory of a batch
  int64_t lanes_;  // the lines of a batch
};

}  // namespace rules_executorch::kernels
