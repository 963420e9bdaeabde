// Kernels that put what they are called with into a tensor of doubles.

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <tuple>

namespace {

at::Tensor& write(at::Tensor& out, std::initializer_list<double> values) {
  std::copy(values.begin(), values.end(), out.mutable_data_ptr<double>());
  return out;
}

double first_of(const at::Tensor& tensor) { return tensor.const_data_ptr<double>()[0]; }

template <typename List>
double sum(const List& list) {
  double total = 0;
  for (const auto value : list) total += static_cast<double>(value);
  return total;
}

}  // namespace

namespace types::native {

at::Tensor& tensors_out(const at::Tensor& a, const std::optional<at::Tensor>& b, at::TensorList list,
                        const c10::List<std::optional<at::Tensor>>& gaps, std::optional<at::TensorList> none,
                        at::Tensor& out) {
  double in_gaps = 0;
  for (const std::optional<at::Tensor>& tensor : gaps.vec()) in_gaps += tensor ? first_of(*tensor) : 1000;
  return write(out, {first_of(a), b ? first_of(*b) : -1, first_of(list[0]) + first_of(list[1]), in_gaps,
                     none ? static_cast<double>(none->size()) : -1});
}

at::Tensor& numbers_out(const at::Scalar& s, const std::optional<at::Scalar>& s2, int64_t i, std::optional<int64_t> i2,
                        int64_t n, double f, std::optional<double> f2, bool b, std::optional<bool> b2,
                        at::Tensor& out) {
  return write(out,
               {s.toDouble(), s2 ? s2->toDouble() : -1, static_cast<double>(i), static_cast<double>(i2.value_or(-1)),
                static_cast<double>(n), f, f2.value_or(-1), b ? 1.0 : 0.0, b2 && *b2 ? 1.0 : 0.0});
}

at::Tensor& lists_out(at::IntArrayRef i, at::IntArrayRef i2, at::OptionalIntArrayRef i3, at::IntArrayRef n,
                      at::ArrayRef<double> f, std::optional<at::ArrayRef<double>> f2, c10::List<bool> b,
                      at::Tensor& out) {
  return write(out, {sum(i), sum(i2), i3 ? sum(*i3) : -1, sum(n), sum(f), f2 ? sum(*f2) : -1, sum(b.vec())});
}

at::Tensor& names_out(std::string_view s, std::optional<std::string_view> s2, at::ScalarType t,
                      std::optional<at::ScalarType> t2, at::MemoryFormat m, std::optional<at::MemoryFormat> m2,
                      at::Layout l, std::optional<at::Layout> l2, at::Device d, std::optional<at::Device> d2,
                      at::Tensor& out) {
  const auto number = [](auto value) { return static_cast<double>(value); };
  return write(
      out, {number(s.size()), s2 ? number(s2->size()) : -1, number(t), t2 ? number(*t2) : -1, number(m),
            m2 ? number(*m2) : -1, number(l), l2 ? number(*l2) : -1, number(d.type()), d2 ? number(d2->type()) : -1});
}

std::tuple<at::Tensor&, at::Tensor&> two_out(const at::Tensor& x, at::Tensor& first, at::Tensor& second) {
  return {write(first, {first_of(x) + 1}), write(second, {first_of(x) + 2})};
}

std::tuple<at::Tensor&, at::Tensor&> two_out(const at::Tensor& x, double by, at::Tensor& first, at::Tensor& second) {
  return {write(first, {first_of(x) * by}), write(second, {first_of(x) * by * by})};
}

void split_out(const at::Tensor& x, at::TensorList out) {
  for (at::Tensor tensor : out) write(tensor, {first_of(x)});
}

at::Tensor& increment_(at::Tensor& self, double by) { return write(self, {first_of(self) + by}); }

void double_(at::Tensor& self) { write(self, {first_of(self) * 2}); }

int64_t count(const at::Tensor& x) { return x.numel(); }

at::Scalar largest(const at::Tensor& x) { return x.max().item(); }

}  // namespace types::native
