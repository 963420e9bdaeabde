// Kernels that put what they are called with into a tensor of doubles. Some take a context and some do not.

#include <executorch/runtime/kernel/kernel_includes.h>

#include <algorithm>
#include <cstdint>
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

double number(const Tensor& tensor) { return tensor.const_data_ptr<double>()[0]; }

double number(const Scalar& scalar) {
  if (scalar.isBoolean()) return scalar.to<bool>() ? 1 : 0;
  return scalar.isFloatingPoint() ? scalar.to<double>() : static_cast<double>(scalar.to<int64_t>());
}

double number(int64_t value) { return static_cast<double>(value); }
double number(double value) { return value; }
double number(bool value) { return value ? 1 : 0; }
double number(std::string_view text) { return static_cast<double>(text.size()); }
double number(ScalarType dtype) { return static_cast<double>(dtype); }
double number(MemoryFormat format) { return static_cast<double>(format); }
double number(Layout layout) { return static_cast<double>(layout); }
double number(Device device) { return static_cast<double>(device.type()); }

double number(ArrayRef<std::optional<Tensor>> list) {
  double total = 0;
  for (const std::optional<Tensor>& tensor : list) total += tensor ? number(*tensor) : 1000;
  return total;
}

template <typename T>
double number(ArrayRef<T> list) {
  double total = 0;
  for (const T& element : list) total += number(element);
  return total;
}

template <typename T>
double number(const std::optional<T>& value) {
  return value ? number(*value) : -1;
}

template <typename... T>
Tensor& write(Tensor& out, const T&... values) {
  double* data = out.mutable_data_ptr<double>();
  ((*data++ = number(values)), ...);
  return out;
}

}  // namespace

namespace types::native {

Tensor& tensors_out(KernelRuntimeContext&, const Tensor& a, const std::optional<Tensor>& b, TensorList list,
                    std::optional<TensorList> list2, ArrayRef<std::optional<Tensor>> gaps,
                    std::optional<ArrayRef<std::optional<Tensor>>> gaps2, Tensor& out) {
  return write(out, a, b, list, list2, gaps, gaps2);
}

Tensor& numbers_out(const Scalar& s, const std::optional<Scalar>& s2, int64_t i, std::optional<int64_t> i2, int64_t n,
                    std::optional<int64_t> n2, double f, std::optional<double> f2, bool b, std::optional<bool> b2,
                    bool c, std::optional<bool> c2, Tensor& out) {
  return write(out, s, s2, i, i2, n, n2, f, f2, b, b2, c, c2);
}

Tensor& lists_out(KernelRuntimeContext&, ArrayRef<int64_t> i, ArrayRef<int64_t> i2, std::optional<ArrayRef<int64_t>> i3,
                  ArrayRef<int64_t> n, std::optional<ArrayRef<int64_t>> n2, ArrayRef<double> f,
                  std::optional<ArrayRef<double>> f2, ArrayRef<bool> b, ArrayRef<bool> b2,
                  std::optional<ArrayRef<bool>> b3, ArrayRef<bool> c, std::optional<ArrayRef<bool>> c2, Tensor& out) {
  return write(out, i, i2, i3, n, n2, f, f2, b, b2, b3, c, c2);
}

Tensor& names_out(std::string_view s, std::optional<std::string_view> s2, ScalarType t, std::optional<ScalarType> t2,
                  MemoryFormat m, std::optional<MemoryFormat> m2, Layout l, std::optional<Layout> l2, Device d,
                  std::optional<Device> d2, Tensor& out) {
  return write(out, s, s2, t, t2, m, m2, l, l2, d, d2);
}

std::tuple<Tensor&, Tensor&> two_out(const Tensor& x, Tensor& first, Tensor& second) {
  write(first, number(x) + 1);
  write(second, number(x) + 2);
  return {first, second};
}

void split_out(KernelRuntimeContext&, const Tensor& x, TensorList out) {
  for (Tensor tensor : out) write(tensor, number(x));
}

Tensor& increment_(Tensor& self, double by) { return write(self, number(self) + by); }

void double_(KernelRuntimeContext&, Tensor& self) { write(self, number(self) * 2); }

void add_to_all_(TensorList self, double value) {
  for (Tensor tensor : self) write(tensor, number(tensor) + value);
}

Tensor same(KernelRuntimeContext&, const Tensor& x) { return x; }

int64_t count(const Tensor& x) { return x.numel(); }

double first(KernelRuntimeContext&, const Tensor& x) { return number(x); }

bool is_empty(const Tensor& x) { return x.numel() == 0; }

Scalar largest(KernelRuntimeContext&, const Tensor& x) {
  double found = number(x);
  for (ssize_t i = 1; i < x.numel(); ++i) found = std::max(found, x.const_data_ptr<double>()[i]);
  return found;
}

Tensor& reserved_out(const Tensor& context, double new_value, double stack, Tensor& result) {
  return write(result, number(context), new_value, stack);
}

}  // namespace types::native

namespace deep::er::native {

Tensor& value_out(double value, Tensor& out) { return write(out, value); }

}  // namespace deep::er::native

namespace deep::executorch::std::native {

Tensor& hidden_out(::std::optional<double> value, Tensor& out) { return write(out, value.value_or(-1)); }

}  // namespace deep::executorch::std::native

namespace at::native {

Tensor& negated_value_out(KernelRuntimeContext&, double value, Tensor& out) { return write(out, -value); }

}  // namespace at::native
