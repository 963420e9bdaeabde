// Compares matmul.h with plain sums, for many shapes, layouts and dtypes. The elements are small integers, so that all
// sums are exact. The tests of threads use elements whose sums are rounded.

#include "kernels/gemm/matmul.h"

#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/platform/runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/testing/thread_provider.h"

namespace rules_executorch::kernels {
namespace {

enum class Layout { kRows, kColumns, kPaddedRows };

constexpr Layout kLayouts[] = {Layout::kRows, Layout::kColumns, Layout::kPaddedRows};
constexpr int64_t kPadding = 3;

template <typename T>
using Complex = ::executorch::runtime::etensor::complex<T>;

/// The type of the expected sums.
template <typename T>
struct SumOf {
  using type = int64_t;
  static type number(const T& element) { return convert_value<int64_t>(convert_value<int8_t>(element)); }
};
template <typename T>
struct SumOf<Complex<T>> {
  using type = Complex<double>;
  static type number(const Complex<T>& element) { return type(element.real_, element.imag_); }
};

/// Converts a small integer or a sum to dtype T.
template <typename T, typename Number>
T number_of(Number number) {
  if constexpr (std::is_same_v<typename SumOf<T>::type, int64_t>) {
    return convert_value<T>(number);
  } else if constexpr (std::is_arithmetic_v<Number>) {
    return T(number, 2 - number);
  } else {
    return T(number.real_, number.imag_);
  }
}

/// A batch of matrices and its memory.
template <typename T>
struct Operand {
  std::vector<T> memory;
  StridedView view;

  Operand(const std::vector<int64_t>& sizes, Layout layout) {
    view.dtype = CppTypeToScalarType<T>::value;
    view.rank = 3;
    std::copy(sizes.begin(), sizes.end(), view.sizes);
    const int64_t row_size = sizes[2] + (layout == Layout::kPaddedRows ? kPadding : 0);
    view.strides[1] = layout == Layout::kColumns ? 1 : row_size;
    view.strides[2] = layout == Layout::kColumns ? sizes[1] : 1;
    view.strides[0] = sizes[1] * row_size;
    memory.assign(sizes[0] * view.strides[0] + 1, T(7));
    view.data = reinterpret_cast<char*>(memory.data());
  }

  T& at(int64_t batch, int64_t row, int64_t column) {
    return memory[batch * view.strides[0] + row * view.strides[1] + column * view.strides[2]];
  }

  /// Sets all elements to values of `next()`.
  template <typename Next>
  void fill(const Next& next) {
    for (int64_t i = 0; i < view.sizes[0]; ++i) {
      for (int64_t j = 0; j < view.sizes[1]; ++j) {
        for (int64_t k = 0; k < view.sizes[2]; ++k) {
          at(i, j, k) = number_of<T>(next());
        }
      }
    }
  }
};

struct Shape {
  int64_t batch, m, k, n;
};

template <typename T>
struct ComputeTypeOf {
  using type = ProductType<T>;
};
template <>
struct ComputeTypeOf<Half> {
  using type = float;
};
template <>
struct ComputeTypeOf<BFloat16> {
  using type = float;
};

template <typename T>
void multiply(const Operand<T>& a, const Operand<T>& b, const Operand<T>& out, bool has_memory) {
  executorch::extension::MallocMemoryAllocator allocator;
  KernelRuntimeContext context(nullptr, has_memory ? &allocator : nullptr);
  ProductScratch scratch(context);
  ViewProduct(product_loops<typename ComputeTypeOf<T>::type>(), a.view, b.view, out.view).compute(scratch);
}

template <typename T>
void test_product(const Shape& shape, Layout a_layout, Layout b_layout, Layout out_layout, bool has_memory) {
  std::mt19937 generator(static_cast<uint32_t>(shape.m * 31 + shape.k * 7 + shape.n));
  const auto next = [&generator] { return static_cast<int64_t>(generator() % 7) - 3; };
  Operand<T> a({shape.batch, shape.m, shape.k}, a_layout);
  Operand<T> b({shape.batch, shape.k, shape.n}, b_layout);
  Operand<T> out({shape.batch, shape.m, shape.n}, out_layout);
  Operand<T> expected = out;
  a.fill(next);
  b.fill(next);
  for (int64_t i = 0; i < shape.batch; ++i) {
    for (int64_t row = 0; row < shape.m; ++row) {
      for (int64_t column = 0; column < shape.n; ++column) {
        typename SumOf<T>::type sum = 0;
        for (int64_t p = 0; p < shape.k; ++p) {
          sum += SumOf<T>::number(a.at(i, row, p)) * SumOf<T>::number(b.at(i, p, column));
        }
        expected.at(i, row, column) = number_of<T>(sum);
      }
    }
  }
  multiply(a, b, out, has_memory);
  // Also compares the memory between rows.
  EXPECT_EQ(std::memcmp(out.memory.data(), expected.memory.data(), out.memory.size() * sizeof(T)), 0)
      << shape.batch << " x " << shape.m << " x " << shape.k << " x " << shape.n << ", layouts " << int(a_layout) << " "
      << int(b_layout) << " " << int(out_layout) << ", memory " << has_memory;
}

template <typename T>
void test_products() {
  // Empty matrices, one element, rows and columns of every remainder of a tile, and more than one block of each size.
  std::vector<Shape> shapes = {{0, 2, 3, 4},  {1, 0, 3, 4},    {2, 3, 0, 4},    {1, 3, 4, 0},    {1, 1, 1, 1},
                               {3, 1, 5, 9},  {1, 300, 20, 9}, {1, 9, 300, 20}, {2, 7, 20, 300}, {1, 2, 300, 600},
                               {1, 3, 20, 1}, {1, 140, 9, 1},  {2, 140, 130, 2}};
  for (int64_t size = 2; size <= 17; ++size) {
    shapes.push_back({1, size, 5 + size, 19 - size});
    shapes.push_back({1, 21 - size, 3 + size, 7 * size});
  }
  for (const Shape& shape : shapes) {
    for (const Layout a : kLayouts) {
      for (const Layout b : kLayouts) {
        for (const Layout out : kLayouts) {
          test_product<T>(shape, a, b, out, /*has_memory=*/true);
        }
      }
    }
    test_product<T>(shape, Layout::kRows, Layout::kColumns, Layout::kRows, /*has_memory=*/false);
    test_product<T>(shape, Layout::kColumns, Layout::kRows, Layout::kColumns, /*has_memory=*/false);
  }
}

/// Tests that rounded sums are the same for all numbers of threads.
template <typename T>
void test_threads() {
  for (const Shape& shape : {Shape{1, 300, 200, 300}, Shape{3, 2, 500, 1500}, Shape{5, 64, 64, 64}}) {
    std::mt19937 generator(1);
    std::normal_distribution<double> distribution;
    const auto next = [&] { return distribution(generator); };
    Operand<T> a({shape.batch, shape.m, shape.k}, Layout::kRows);
    Operand<T> b({shape.batch, shape.k, shape.n}, Layout::kColumns);
    Operand<T> out({shape.batch, shape.m, shape.n}, Layout::kRows);
    a.fill(next);
    b.fill(next);
    Operand<T> sequential = out;
    sequential.view.data = reinterpret_cast<char*>(sequential.memory.data());
    testing::set_thread_count(1);
    multiply(a, b, sequential, /*has_memory=*/true);
    for (const int count : {2, 3, 16}) {
      testing::set_thread_count(count);
      std::fill(out.memory.begin(), out.memory.end(), T(7));
      multiply(a, b, out, /*has_memory=*/true);
      EXPECT_EQ(std::memcmp(out.memory.data(), sequential.memory.data(), out.memory.size() * sizeof(T)), 0)
          << count << " threads";
    }
    testing::set_thread_count(1);
  }
}

template <typename T>
class MatmulTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { executorch::runtime::runtime_init(); }
};

using Dtypes = ::testing::Types<float, double, Half, BFloat16, int8_t, uint8_t, int16_t, int32_t, int64_t,
                                Complex<float>, Complex<double>>;
TYPED_TEST_SUITE(MatmulTest, Dtypes);

TYPED_TEST(MatmulTest, Products) { test_products<TypeParam>(); }

TYPED_TEST(MatmulTest, Threads) {
  if constexpr (!std::is_integral_v<TypeParam>) {
    test_threads<TypeParam>();
  }
}

#if defined(KERNELS_MAY_HAVE_WIDE_VECTORS)

template <typename T>
void test_wide_tile() {
  constexpr int64_t kDepth = 37;
  constexpr int64_t kColumns = kTileBytes / sizeof(T);
  std::mt19937 generator(5);
  std::normal_distribution<T> normal;
  for (int64_t rows = 1; rows <= 13; ++rows) {
    for (int64_t columns = 1; columns <= kColumns; ++columns) {
      std::vector<T> a(rows * kDepth), b(kDepth * kColumns), totals(rows * kColumns);
      for (std::vector<T>* values : {&a, &b, &totals}) {
        std::generate(values->begin(), values->end(), [&] { return normal(generator); });
      }
      std::vector<T> wide_totals = totals;
      PanelProduct product{totals.data(), kColumns, a.data(), kDepth, b.data(),
                           kColumns,      rows,     columns,  kDepth, columns % 2 == 0};
      internal::add_panel<internal::BaseTile, T>(product);
      product.totals = wide_totals.data();
      internal::add_panel<internal::WideTile, T>(product);
      EXPECT_EQ(totals, wide_totals) << rows << " rows, " << columns << " columns";
    }
  }
}

TEST(WideTileTest, GivesWhatTheOtherGives) {
  if (!simd::has_wide_vectors()) {
    GTEST_SKIP() << "the processor has no AVX";
  }
  test_wide_tile<float>();
  test_wide_tile<double>();
}

#endif

}  // namespace
}  // namespace rules_executorch::kernels
