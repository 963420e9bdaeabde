// Kernels that put what they are called with into a tensor of doubles. Some take a context and some do not.

#include <executorch/runtime/kernel/kernel_includes.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <tuple>

namespace {

using executorch::aten::ArrayRef;
using executorch::aten::Device;
using executorch::aten::Layout;
using executorch::aten::MemoryFormat;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorList;
using executorch::runtime::KernelRuntimeContext;

Tensor& write(Tensor& out, std::initializer_list<double> values) {
  double* data = out.mutable_data_ptr<double>();
  for (double value : values) *data++ = value;
  return out;
}

double first_of(const Tensor& tensor) { return tensor.const_data_ptr<double>()[0]; }

double number(const Scalar& scalar) {
  return scalar.isFloatingPoint() ? scalar.to<double>() : static_cast<double>(scalar.to<int64_t>());
}

template <typename T>
double sum(ArrayRef<T> list) {
  double total = 0;
  for (T value : list) total += static_cast<double>(value);
  return total;
}

}  // namespace

namespace types::native {

Tensor& tensors_out(KernelRuntimeContext&, const Tensor& a, const std::optional<Tensor>& b, TensorList list,
                    ArrayRef<std::optional<Tensor>> gaps, std::optional<TensorList> none,
                    std::optional<ArrayRef<std::optional<Tensor>>> gaps2, Tensor& out) {
  double in_gaps = 0;
  for (const std::optional<Tensor>& tensor : gaps) in_gaps += tensor ? first_of(*tensor) : 1000;
  return write(out, {first_of(a), b ? first_of(*b) : -1, first_of(list[0]) + first_of(list[1]), in_gaps,
                     none ? static_cast<double>(none->size()) : -1, gaps2 ? static_cast<double>(gaps2->size()) : -1});
}

Tensor& numbers_out(const Scalar& s, const std::optional<Scalar>& s2, int64_t i, std::optional<int64_t> i2, int64_t n,
                    std::optional<int64_t> n2, double f, std::optional<double> f2, bool b, std::optional<bool> b2,
                    bool c, Tensor& out) {
  return write(out, {number(s), s2 ? number(*s2) : -1, static_cast<double>(i), static_cast<double>(i2.value_or(-1)),
                     static_cast<double>(n), static_cast<double>(n2.value_or(-1)), f, f2.value_or(-1), b ? 1.0 : 0.0,
                     b2 ? 1.0 : 0.0, c ? 1.0 : 0.0});
}

Tensor& lists_out(KernelRuntimeContext&, ArrayRef<int64_t> i, ArrayRef<int64_t> i2, std::optional<ArrayRef<int64_t>> i3,
                  ArrayRef<int64_t> n, ArrayRef<double> f, std::optional<ArrayRef<double>> f2, ArrayRef<bool> b,
                  ArrayRef<bool> b2, std::optional<ArrayRef<bool>> b3, Tensor& out) {
  return write(out, {sum(i), sum(i2), i3 ? sum(*i3) : -1, sum(n), sum(f), f2 ? sum(*f2) : -1, sum(b), sum(b2),
                     b3 ? sum(*b3) : -1});
}

Tensor& names_out(std::string_view s, std::optional<std::string_view> s2, ScalarType t, std::optional<ScalarType> t2,
                  MemoryFormat m, std::optional<MemoryFormat> m2, Layout l, std::optional<Layout> l2, Device d,
                  std::optional<Device> d2, Tensor& out) {
  return write(out, {static_cast<double>(s.size()), s2 ? static_cast<double>(s2->size()) : -1, static_cast<double>(t),
                     t2 ? static_cast<double>(*t2) : -1, static_cast<double>(m), m2 ? static_cast<double>(*m2) : -1,
                     static_cast<double>(l), l2 ? static_cast<double>(*l2) : -1, static_cast<double>(d.type()),
                     d2 ? static_cast<double>(d2->type()) : -1});
}

std::tuple<Tensor&, Tensor&> two_out(const Tensor& x, Tensor& first, Tensor& second) {
  write(first, {first_of(x) + 1});
  write(second, {first_of(x) + 2});
  return {first, second};
}

void split_out(KernelRuntimeContext&, const Tensor& x, TensorList out) {
  for (Tensor tensor : out) write(tensor, {first_of(x)});
}

Tensor& increment_(Tensor& self, double by) { return write(self, {first_of(self) + by}); }

void double_(KernelRuntimeContext&, Tensor& self) { write(self, {first_of(self) * 2}); }

void add_to_all_(TensorList self, double value) {
  for (Tensor tensor : self) write(tensor, {first_of(tensor) + value});
}

Tensor same(KernelRuntimeContext&, const Tensor& x) { return x; }

int64_t count(const Tensor& x) { return x.numel(); }

double first(KernelRuntimeContext&, const Tensor& x) { return first_of(x); }

bool is_empty(const Tensor& x) { return x.numel() == 0; }

Scalar largest(KernelRuntimeContext&, const Tensor& x) {
  double found = first_of(x);
  for (ssize_t i = 1; i < x.numel(); ++i) found = std::max(found, x.const_data_ptr<double>()[i]);
  return found;
}

Tensor& reserved_out(const Tensor& context, double new_value, double stack, Tensor& result) {
  return write(result, {first_of(context), new_value, stack});
}

}  // namespace types::native

namespace deep::er::native {

Tensor& value_out(double value, Tensor& out) { return write(out, {value}); }

}  // namespace deep::er::native

namespace deep::executorch::std::native {

Tensor& hidden_out(::std::optional<double> value, Tensor& out) { return write(out, {value.value_or(-1)}); }

}  // namespace deep::executorch::std::native

namespace at::native {

Tensor& negated_value_out(KernelRuntimeContext&, double value, Tensor& out) { return write(out, {-value}); }

}  // namespace at::native
