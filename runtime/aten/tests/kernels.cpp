// Kernels that write their arguments into a tensor of doubles.

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

namespace {

double number(const at::Tensor& tensor) { return tensor.const_data_ptr<double>()[0]; }
double number(const at::Scalar& scalar) { return scalar.toDouble(); }
double number(int64_t value) { return static_cast<double>(value); }
double number(double value) { return value; }
double number(bool value) { return value ? 1 : 0; }
double number(std::string_view text) { return static_cast<double>(text.size()); }
double number(at::ScalarType dtype) { return static_cast<double>(dtype); }
double number(at::MemoryFormat format) { return static_cast<double>(format); }
double number(at::Layout layout) { return static_cast<double>(layout); }
double number(at::Device device) { return static_cast<double>(device.type()); }

double number(const c10::List<std::optional<at::Tensor>>& list) {
  double total = 0;
  for (const std::optional<at::Tensor>& tensor : list.vec()) total += tensor ? number(*tensor) : 1000;
  return total;
}

double number(const c10::List<bool>& list) {
  double total = 0;
  for (const bool element : list.vec()) total += number(element);
  return total;
}

template <typename T>
double number(at::ArrayRef<T> list) {
  double total = 0;
  for (const T& element : list) total += number(element);
  return total;
}

double number(at::OptionalIntArrayRef list) { return list ? number(*list) : -1; }

template <typename T>
double number(const std::optional<T>& value) {
  return value ? number(*value) : -1;
}

template <typename... T>
at::Tensor& write(at::Tensor& out, const T&... values) {
  double* data = out.mutable_data_ptr<double>();
  ((*data++ = number(values)), ...);
  return out;
}

}  // namespace

namespace types::native {

at::Tensor& tensors_out(const at::Tensor& a, const std::optional<at::Tensor>& b, at::TensorList list,
                        std::optional<at::TensorList> list2, const c10::List<std::optional<at::Tensor>>& gaps,
                        const std::optional<c10::List<std::optional<at::Tensor>>>& gaps2, at::Tensor& out) {
  return write(out, a, b, list, list2, gaps, gaps2);
}

at::Tensor& numbers_out(const at::Scalar& s, const std::optional<at::Scalar>& s2, int64_t i, std::optional<int64_t> i2,
                        int64_t n, std::optional<int64_t> n2, double f, std::optional<double> f2, bool b,
                        std::optional<bool> b2, bool c, std::optional<bool> c2, at::Tensor& out) {
  return write(out, s, s2, i, i2, n, n2, f, f2, b, b2, c, c2);
}

at::Tensor& lists_out(at::IntArrayRef i, at::IntArrayRef i2, at::OptionalIntArrayRef i3, at::IntArrayRef n,
                      at::OptionalIntArrayRef n2, at::ArrayRef<double> f, std::optional<at::ArrayRef<double>> f2,
                      c10::List<bool> b, c10::List<bool> b2, std::optional<c10::List<bool>> b3, c10::List<bool> c,
                      std::optional<c10::List<bool>> c2, at::Tensor& out) {
  return write(out, i, i2, i3, n, n2, f, f2, b, b2, b3, c, c2);
}

at::Tensor& names_out(std::string_view s, std::optional<std::string_view> s2, at::ScalarType t,
                      std::optional<at::ScalarType> t2, at::MemoryFormat m, std::optional<at::MemoryFormat> m2,
                      at::Layout l, std::optional<at::Layout> l2, at::Device d, std::optional<at::Device> d2,
                      at::Tensor& out) {
  return write(out, s, s2, t, t2, m, m2, l, l2, d, d2);
}

std::tuple<at::Tensor&, at::Tensor&> two_out(const at::Tensor& x, at::Tensor& first, at::Tensor& second) {
  return {write(first, number(x) + 1), write(second, number(x) + 2)};
}

std::tuple<at::Tensor&, at::Tensor&> two_out(const at::Tensor& x, double by, at::Tensor& first, at::Tensor& second) {
  return {write(first, number(x) * by), write(second, number(x) * by * by)};
}

void split_out(const at::Tensor& x, at::TensorList out) {
  for (at::Tensor tensor : out) write(tensor, number(x));
}

at::Tensor& increment_(at::Tensor& self, double by) { return write(self, number(self) + by); }

void double_(at::Tensor& self) { write(self, number(self) * 2); }

int64_t count(const at::Tensor& x) { return x.numel(); }

double first(const at::Tensor& x) { return number(x); }

bool is_empty(const at::Tensor& x) { return x.numel() == 0; }

at::Scalar largest(const at::Tensor& x) { return x.max().item(); }

}  // namespace types::native
