#include "kernels/reduce/distance.h"

#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/testing/tensors.h"

namespace rules_executorch::kernels {
namespace {

using testing::OwnedTensor;

template <typename T>
Rows row_of(OwnedTensor<T>& tensor) {
  return {CppTypeToScalarType<T>::value, reinterpret_cast<const char*>(tensor.data()), 0, sizeof(T)};
}

template <typename Result, typename T>
Result distance(OwnedTensor<T>& a, OwnedTensor<T>& b, double p) {
  Result result;
  distances(row_of(a), row_of(b), a.numel(), p, 1, &result);
  return result;
}

TEST(DistanceTest, OfEverySize) {
  for (const int size : {0, 1, 15, 16, 17, 255, 256, 257, 1000}) {
    OwnedTensor<double> a({size}), b({size});
    OwnedTensor<Half> of_half({size});
    double sum = 0;
    for (int i = 0; i < size; ++i) {
      a.data()[i] = i;
      b.data()[i] = i % 2 == 0 ? i : i - 2;
      sum += i % 2 == 0 ? 0 : 2;
    }
    EXPECT_EQ(distance<double>(a, b, 1), sum);
    EXPECT_EQ(distance<double>(a, b, 0), sum / 2);
    EXPECT_NEAR(distance<double>(a, b, 2), std::sqrt(2 * sum), 1e-9);
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(distance<double>(a, b, infinity), size > 1 ? 2 : 0);
    EXPECT_EQ(distance<float>(of_half, of_half, 3), 0);
  }
}

TEST(DistanceTest, NanIsEveryDistance) {
  OwnedTensor<float> a({20}), b({20});
  a.data()[17] = std::nanf("");
  for (const double p : {0.0, 0.5, 1.0, 2.0, 3.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(std::isnan(distance<float>(a, b, p))) << p;
  }
}

TEST(DistanceTest, RowsThatDoNotLieTogether) {
  // Without temporary memory, the rows are not copied. The distances are the same.
  ::executorch::extension::MallocMemoryAllocator allocator;
  for (const bool has_memory : {true, false}) {
    KernelRuntimeContext context(nullptr, has_memory ? &allocator : nullptr);
    OwnedTensor<Half> x({3, 300}, {1, 0});
    for (int i = 0; i < 900; ++i) {
      x.data()[i] = static_cast<Half>(static_cast<float>(i % 3));  // rows of 0, 1 and 2
    }
    const ConstStridedView view = with_dense_rows(context, x.tensor(), ScalarType::Float);
    EXPECT_EQ(view.dtype, has_memory ? ScalarType::Float : ScalarType::Half);
    const int64_t row = view.strides[0] * view.element_size(), element = view.strides[1] * view.element_size();
    float results[3];
    distances({view.dtype, view.data, 0, element}, {view.dtype, view.data, row, element}, 300, 1, 3, results);
    EXPECT_EQ(std::vector<float>(results, results + 3), std::vector<float>({0, 300, 600}));
  }
}

}  // namespace
}  // namespace rules_executorch::kernels
