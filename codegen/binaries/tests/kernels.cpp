// Kernels and data of known sizes, for macos_and_windows_test.py. Without headers, the file compiles for any platform.

struct Tensor;
struct Context;

namespace my_ops::native {

Tensor& twice_out(Context&, const Tensor&, double, long long, Tensor& out) { return out; }

static Tensor& thrice_out(Context&, const Tensor&, Tensor& out) { return out; }

namespace {

Tensor& hidden_out(Context&, const Tensor&, Tensor& out) { return out; }

}  // namespace

Tensor& (*const kUsed[])(Context&, const Tensor&, Tensor&) = {thrice_out, hidden_out};

// The test asserts the sizes. In Mach-O, the next symbol ends the table.
extern const char kTable[1000] = {1, 2, 3};
extern const char kNext[16] = {4};
char zeros[5000];

Tensor& (*const* used())(Context&, const Tensor&, Tensor&) { return kUsed; }

}  // namespace my_ops::native

extern "C" int plain_c(int x) { return x + my_ops::native::kTable[x]; }
