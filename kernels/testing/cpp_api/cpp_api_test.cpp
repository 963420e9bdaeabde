// Calls the generated Functions.h like a user of ExecuTorch, with the #include of ExecuTorch's own kernel tests, and
// compares all results with those of ExecuTorch's kernels.

#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/kernels/test/FunctionHeaderWrapper.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <vector>

#include "kernels/testing/cpp_api/prebuilt.h"

namespace {

using cpp_api::expect_as_prebuilt;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::extension::empty;
using executorch::extension::make_tensor_ptr;
using executorch::extension::TensorPtr;
using std::nullopt;

namespace aten = torch::executor::aten;
namespace dim_order_ops = torch::executor::dim_order_ops;
namespace quantized = torch::executor::quantized_decomposed;

/// A list argument that owns its elements.
template <typename T>
struct List : std::vector<T> {
  using std::vector<T>::vector;
  operator executorch::aten::ArrayRef<T>() const { return {this->data(), this->size()}; }
};

using Ints = List<int64_t>;

class CppApiTest : public ::testing::Test {
 protected:
  TensorPtr floats(std::vector<executorch::aten::SizesType> sizes) {
    std::vector<float> values(executorch::extension::empty(sizes)->numel());
    for (float& value : values) value = static_cast<float>(static_cast<int64_t>(next_ = next_ * 37 % 101) - 50) / 16;
    return make_tensor_ptr(std::move(sizes), std::move(values));
  }
  TensorPtr longs(std::vector<executorch::aten::SizesType> sizes, std::vector<int64_t> values) {
    return make_tensor_ptr(std::move(sizes), std::move(values));
  }
  void TearDown() override { EXPECT_EQ(context_.failure_state(), executorch::runtime::Error::Ok); }

  executorch::extension::MallocMemoryAllocator temp_;
  torch::executor::KernelRuntimeContext context_{nullptr, &temp_};
  int64_t next_ = 1;
};

TEST_F(CppApiTest, Arithmetic) {
  const TensorPtr a = floats({2, 3}), b = floats({3}), out = empty({2, 3});
  EXPECT_EQ(&aten::add_outf(context_, *a, *b, 2, *out), out.get());
  expect_as_prebuilt("aten::add.out", {out}, a, b, 2);
  aten::add_outf(context_, *a, 1.5, 2, *out);
  expect_as_prebuilt("aten::add.Scalar_out", {out}, a, 1.5, 2);
  aten::sub_outf(context_, *a, *b, 1, *out);
  expect_as_prebuilt("aten::sub.out", {out}, a, b, 1);
  aten::mul_outf(context_, *a, *b, *out);
  expect_as_prebuilt("aten::mul.out", {out}, a, b);
  aten::div_outf(context_, *a, *b, "floor", *out);
  expect_as_prebuilt("aten::div.out_mode", {out}, a, b, std::string_view("floor"));
  aten::rsub_outf(context_, *a, 3, 2, *out);
  expect_as_prebuilt("aten::rsub.Scalar_out", {out}, a, 3, 2);
  aten::pow_outf(context_, *a, 2, *out);
  expect_as_prebuilt("aten::pow.Tensor_Scalar_out", {out}, a, 2);
  aten::remainder_outf(context_, *a, *b, *out);
  expect_as_prebuilt("aten::remainder.Tensor_out", {out}, a, b);
}

TEST_F(CppApiTest, ResultOfAnotherDtype) {
  const TensorPtr a = longs({4}, {1, -2, 3, 4}), b = floats({4}), out = empty({4});
  aten::mul_outf(context_, *a, *b, *out);
  expect_as_prebuilt("aten::mul.out", {out}, a, b);
}

TEST_F(CppApiTest, Unary) {
  const TensorPtr x = floats({3, 5}), out = empty({3, 5});
  aten::exp_outf(context_, *x, *out);
  expect_as_prebuilt("aten::exp.out", {out}, x);
  aten::sigmoid_outf(context_, *x, *out);
  expect_as_prebuilt("aten::sigmoid.out", {out}, x);
  aten::relu_outf(context_, *x, *out);
  expect_as_prebuilt("aten::relu.out", {out}, x);
  aten::gelu_outf(context_, *x, "tanh", *out);
  expect_as_prebuilt("aten::gelu.out", {out}, x, std::string_view("tanh"));
  aten::clamp_outf(context_, *x, std::optional<Scalar>(-1), nullopt, *out);
  expect_as_prebuilt("aten::clamp.out", {out}, x, -1, nullopt);
  aten::leaky_relu_outf(context_, *x, 0.25, *out);
  expect_as_prebuilt("aten::leaky_relu.out", {out}, x, 0.25);
  aten::cumsum_outf(context_, *x, 1, nullopt, *out);
  expect_as_prebuilt("aten::cumsum.out", {out}, x, 1, nullopt);
  aten::_softmax_outf(context_, *x, -1, false, *out);
  expect_as_prebuilt("aten::_softmax.out", {out}, x, -1, false);
}

TEST_F(CppApiTest, Conditions) {
  const TensorPtr a = floats({2, 3}), b = floats({2, 3}), out = empty({2, 3});
  const TensorPtr mask = empty({2, 3}, ScalarType::Bool);
  aten::gt_outf(context_, *a, *b, *mask);
  expect_as_prebuilt("aten::gt.Tensor_out", {mask}, a, b);
  aten::where_outf(context_, *mask, *a, *b, *out);
  expect_as_prebuilt("aten::where.self_out", {out}, mask, a, b);
  aten::masked_fill_outf(context_, *a, *mask, 7, *out);
  expect_as_prebuilt("aten::masked_fill.Scalar_out", {out}, a, mask, 7);
  const TensorPtr all = empty({2, 1}, ScalarType::Bool);
  aten::any_outf(context_, *mask, 1, true, *all);
  expect_as_prebuilt("aten::any.out", {all}, mask, 1, true);
}

TEST_F(CppApiTest, Matrices) {
  const TensorPtr a = floats({3, 4}), b = floats({4, 2}), bias = floats({2}), out = empty({3, 2});
  aten::mm_outf(context_, *a, *b, *out);
  expect_as_prebuilt("aten::mm.out", {out}, a, b);
  aten::addmm_outf(context_, *bias, *a, *b, 0.5, 2, *out);
  expect_as_prebuilt("aten::addmm.out", {out}, bias, a, b, 0.5, 2);
  const TensorPtr c = floats({2, 3, 4}), d = floats({2, 4, 5}), batches = empty({2, 3, 5});
  aten::bmm_outf(context_, *c, *d, *batches);
  expect_as_prebuilt("aten::bmm.out", {batches}, c, d);
}

TEST_F(CppApiTest, Images) {
  const TensorPtr image = floats({1, 2, 6, 6}), weight = floats({3, 2, 3, 3}), out = empty({1, 3, 3, 3});
  aten::convolution_outf(context_, *image, *weight, nullopt, Ints{2, 2}, Ints{1, 1}, Ints{1, 1}, false, Ints{0, 0}, 1,
                         *out);
  expect_as_prebuilt("aten::convolution.out", {out}, image, weight, nullopt, Ints{2, 2}, Ints{1, 1}, Ints{1, 1}, false,
                     Ints{0, 0}, 1);
  const TensorPtr pooled = empty({1, 2, 3, 3}), where = empty({1, 2, 3, 3}, ScalarType::Long);
  const std::tuple<Tensor&, Tensor&> both = aten::max_pool2d_with_indices_outf(
      context_, *image, Ints{2, 2}, Ints{}, Ints{0}, Ints{1}, false, *pooled, *where);
  EXPECT_EQ(&std::get<1>(both), where.get());
  expect_as_prebuilt("aten::max_pool2d_with_indices.out", {pooled, where}, image, Ints{2, 2}, Ints{}, Ints{0}, Ints{1},
                     false);
  aten::avg_pool2d_outf(context_, *image, Ints{2, 2}, Ints{2, 2}, Ints{0, 0}, false, true, 3, *pooled);
  expect_as_prebuilt("aten::avg_pool2d.out", {pooled}, image, Ints{2, 2}, Ints{2, 2}, Ints{0, 0}, false, true, 3);
  const List<double> factors{2.0, 1.5};
  const TensorPtr larger = empty({1, 2, 12, 9});
  aten::upsample_bilinear2d_outf(context_, *image, nullopt, false, factors, *larger);
  expect_as_prebuilt("aten::upsample_bilinear2d.vec_out", {larger}, image, nullopt, false, factors);
  const TensorPtr padded = empty({1, 2, 7, 9});
  aten::constant_pad_nd_outf(context_, *image, Ints{1, 2, 0, 1}, 5, *padded);
  expect_as_prebuilt("aten::constant_pad_nd.out", {padded}, image, Ints{1, 2, 0, 1}, 5);
}

TEST_F(CppApiTest, Norms) {
  const TensorPtr x = floats({2, 4, 6}), weight = floats({6}), out = empty({2, 4, 6});
  const TensorPtr mean = empty({2, 4, 1}), rstd = empty({2, 4, 1});
  aten::native_layer_norm_outf(context_, *x, Ints{6}, *weight, nullopt, 1e-5, *out, *mean, *rstd);
  expect_as_prebuilt("aten::native_layer_norm.out", {out, mean, rstd}, x, Ints{6}, weight, nullopt, 1e-5);
  const TensorPtr group_mean = empty({2, 2}), group_rstd = empty({2, 2});
  aten::native_group_norm_outf(context_, *x, nullopt, nullopt, 2, 4, 6, 2, 1e-5, *out, *group_mean, *group_rstd);
  expect_as_prebuilt("aten::native_group_norm.out", {out, group_mean, group_rstd}, x, nullopt, nullopt, 2, 4, 6, 2,
                     1e-5);
}

TEST_F(CppApiTest, Reductions) {
  const TensorPtr x = floats({3, 4}), rows = empty({3}), column = empty({1, 4}), all = empty({});
  const TensorPtr which = empty({3}, ScalarType::Long);
  aten::sum_outf(context_, *x, Ints{1}, false, nullopt, *rows);
  expect_as_prebuilt("aten::sum.IntList_out", {rows}, x, Ints{1}, false, nullopt);
  aten::mean_outf(context_, *x, Ints{0}, true, ScalarType::Float, *column);
  expect_as_prebuilt("aten::mean.out", {column}, x, Ints{0}, true, ScalarType::Float);
  aten::var_outf(context_, *x, nullopt, std::optional<Scalar>(1), false, *all);
  expect_as_prebuilt("aten::var.correction_out", {all}, x, nullopt, 1, false);
  aten::amax_outf(context_, *x, Ints{-1}, false, *rows);
  expect_as_prebuilt("aten::amax.out", {rows}, x, Ints{-1}, false);
  aten::argmax_outf(context_, *x, 1, false, *which);
  expect_as_prebuilt("aten::argmax.out", {which}, x, 1, false);
  aten::max_outf(context_, *x, 1, false, *rows, *which);
  expect_as_prebuilt("aten::max.dim_max", {rows, which}, x, 1, false);
  const TensorPtr values = empty({3, 2}), indices = empty({3, 2}, ScalarType::Long);
  aten::topk_outf(context_, *x, 2, -1, true, true, *values, *indices);
  expect_as_prebuilt("aten::topk.values", {values, indices}, x, 2, -1, true, true);
}

TEST_F(CppApiTest, Shapes) {
  const TensorPtr x = floats({2, 3, 4});
  const TensorPtr permuted = empty({4, 2, 3}), sliced = empty({2, 3, 2}), selected = empty({2, 4}),
                  viewed = empty({6, 4});
  aten::permute_copy_outf(context_, *x, Ints{2, 0, 1}, *permuted);
  expect_as_prebuilt("aten::permute_copy.out", {permuted}, x, Ints{2, 0, 1});
  aten::slice_copy_outf(context_, *x, 2, nullopt, 4, 2, *sliced);
  expect_as_prebuilt("aten::slice_copy.Tensor_out", {sliced}, x, 2, nullopt, 4, 2);
  aten::select_copy_outf(context_, *x, 1, -1, *selected);
  expect_as_prebuilt("aten::select_copy.int_out", {selected}, x, 1, -1);
  aten::view_copy_outf(context_, *x, Ints{-1, 4}, *viewed);
  expect_as_prebuilt("aten::view_copy.out", {viewed}, x, Ints{-1, 4});
  const TensorPtr expanded = empty({5, 2, 3, 4});
  aten::expand_copy_outf(context_, *x, Ints{5, -1, 3, 4}, false, *expanded);
  expect_as_prebuilt("aten::expand_copy.out", {expanded}, x, Ints{5, -1, 3, 4}, false);
  const TensorPtr y = floats({2, 3, 4}), both = empty({2, 6, 4}), stacked = empty({2, 3, 4, 2});
  const List<Tensor> tensors{*x, *y};
  aten::cat_outf(context_, tensors, 1, *both);
  expect_as_prebuilt("aten::cat.out", {both}, tensors, 1);
  aten::stack_outf(context_, tensors, -1, *stacked);
  expect_as_prebuilt("aten::stack.out", {stacked}, tensors, -1);
}

TEST_F(CppApiTest, ListsOfResults) {
  const TensorPtr x = floats({2, 5}), first = empty({2, 3}), second = empty({2, 2}), y = empty({2, 5}),
                  z = empty({2, 5});
  const List<Tensor> parts{*first, *second};
  aten::split_copy_outf(context_, *x, 3, 1, parts);
  const TensorPtr start = empty({2, 3}), rest = empty({2, 2});
  aten::slice_copy_outf(context_, *x, 1, 0, 3, 1, *start);
  expect_as_prebuilt("aten::slice_copy.Tensor_out", {start}, x, 1, 0, 3, 1);
  cpp_api::expect_same(*first, *start);
  aten::slice_copy_outf(context_, *x, 1, 3, 5, 1, *rest);
  expect_as_prebuilt("aten::slice_copy.Tensor_out", {rest}, x, 1, 3, 5, 1);
  cpp_api::expect_same(*second, *rest);
}

TEST_F(CppApiTest, Indices) {
  const TensorPtr x = floats({3, 4}), index = longs({2}, {2, 0}), rows = empty({2, 4});
  const List<std::optional<Tensor>> indices{*index}, columns{nullopt, *index};
  aten::index_outf(context_, *x, indices, *rows);
  expect_as_prebuilt("aten::index.Tensor_out", {rows}, x, indices);
  aten::embedding_outf(context_, *x, *index, -1, false, false, *rows);
  expect_as_prebuilt("aten::embedding.out", {rows}, x, index, -1, false, false);
  aten::index_select_outf(context_, *x, 0, *index, *rows);
  expect_as_prebuilt("aten::index_select.out", {rows}, x, 0, index);
  const TensorPtr values = floats({3, 2}), out = empty({3, 4});
  aten::index_put_outf(context_, *x, columns, *values, true, *out);
  expect_as_prebuilt("aten::index_put.out", {out}, x, columns, values, true);
  const TensorPtr grid = longs({3, 1}, {3, 0, 1}), gathered = empty({3, 1});
  aten::gather_outf(context_, *x, 1, *grid, false, *gathered);
  expect_as_prebuilt("aten::gather.out", {gathered}, x, 1, grid, false);
  aten::scatter_outf(context_, *x, 1, *grid, 9, *out);
  expect_as_prebuilt("aten::scatter.value_out", {out}, x, 1, grid, 9);
}

TEST_F(CppApiTest, InPlace) {
  const TensorPtr source = floats({2, 3}), target = empty({2, 3}), out = empty({2, 3});
  EXPECT_EQ(&aten::copy_(context_, *target, *source, false), target.get());
  aten::clone_outf(context_, *source, nullopt, *out);
  expect_as_prebuilt("aten::clone.out", {out}, source, nullopt);
  cpp_api::expect_same(*target, *out);
}

TEST_F(CppApiTest, Made) {
  const TensorPtr range = empty({4}), full = empty({2, 3}), one = empty({});
  aten::arange_outf(context_, 1, 9, 2, *range);
  expect_as_prebuilt("aten::arange.start_out", {range}, 1, 9, 2);
  aten::full_outf(context_, Ints{2, 3}, 2.5, *full);
  expect_as_prebuilt("aten::full.out", {full}, Ints{2, 3}, 2.5);
  aten::scalar_tensor_outf(context_, 4, *one);
  expect_as_prebuilt("aten::scalar_tensor.out", {one}, 4);
}

TEST_F(CppApiTest, DimOrders) {
  const TensorPtr x = floats({1, 2, 2, 3});
  const TensorPtr last = make_tensor_ptr({1, 2, 2, 3}, std::vector<float>(12), {0, 2, 3, 1});
  dim_order_ops::_to_dim_order_copy_outf(context_, *x, false, Ints{0, 2, 3, 1}, *last);
  expect_as_prebuilt("dim_order_ops::_to_dim_order_copy.out", {last}, x, false, Ints{0, 2, 3, 1});
  const TensorPtr back = empty({1, 2, 2, 3});
  dim_order_ops::_clone_dim_order_outf(context_, *last, false, Ints{0, 1, 2, 3}, *back);
  expect_as_prebuilt("dim_order_ops::_clone_dim_order.out", {back}, last, false, Ints{0, 1, 2, 3});
}

TEST_F(CppApiTest, Quantized) {
  const TensorPtr x = floats({3, 4}), whole = empty({3, 4}, ScalarType::Char), back = empty({3, 4});
  quantized::quantize_per_tensor_outf(context_, *x, 0.05, 3, -128, 127, ScalarType::Char, *whole);
  expect_as_prebuilt("quantized_decomposed::quantize_per_tensor.out", {whole}, x, 0.05, 3, -128, 127, ScalarType::Char);
  quantized::dequantize_per_tensor_outf(context_, *whole, 0.05, 3, -128, 127, ScalarType::Char, nullopt, *back);
  expect_as_prebuilt("quantized_decomposed::dequantize_per_tensor.out", {back}, whole, 0.05, 3, -128, 127,
                     ScalarType::Char, nullopt);
  const TensorPtr scales = make_tensor_ptr({4}, std::vector<double>{0.5, 0.25, 0.125, 1});
  const TensorPtr zeros = longs({4}, {0, 1, -1, 2});
  quantized::quantize_per_channel_outf(context_, *x, *scales, *zeros, 1, -128, 127, ScalarType::Char, *whole);
  expect_as_prebuilt("quantized_decomposed::quantize_per_channel.out", {whole}, x, scales, zeros, 1, -128, 127,
                     ScalarType::Char);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  cpp_api::load_prebuilt_kernels(std::getenv("PREBUILT_KERNELS"));
  return testing::Test::HasFatalFailure() ? 1 : RUN_ALL_TESTS();
}
