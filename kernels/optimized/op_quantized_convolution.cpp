#include <algorithm>
#include <cstring>

#include "kernels/common/grain.h"
#include "kernels/common/integer_product.h"
#include "kernels/common/matmul.h"
#include "kernels/common/parallel_for.h"
#include "kernels/common/resize.h"
#include "kernels/common/vector_width.h"
#include "kernels/common/vectorize.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Bytes of a block's panels, and of the planes of depthwise channels that are computed together: a part of a cache.
constexpr int64_t kBlockBytes = int64_t{1} << 18;
/// Pixels of a block: multiples of those of a tile.
constexpr int64_t kTilePixels = kPanels * kPanelColumns;
constexpr int64_t kMaxPixels = 16 * kTilePixels;
/// Elements behind rows that vectors may read, or write, with them.
constexpr int64_t kSlack = 64;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// One spatial dimension.
struct Axis {
  int64_t in = 1;
  int64_t kernel = 1;
  int64_t out = 1;
  int64_t stride = 1;
  int64_t before = 0;
  int64_t after = 0;
  int64_t dilation = 1;

  int64_t padded() const { return before + in + after; }
  int64_t reach() const { return (kernel - 1) * dilation + 1; }
  bool is_pointwise() const { return kernel == 1 && stride == 1 && before == 0 && after == 0; }
};

struct Sizes {
  Axis y;
  Axis x;
  int64_t batch;
  int64_t groups;
  int64_t in_channels;   // of a group
  int64_t out_channels;  // of a group

  int64_t in_pixels() const { return y.in * x.in; }
  int64_t out_pixels() const { return y.out * x.out; }
  int64_t k() const { return in_channels * y.kernel * x.kernel; }
  bool is_pointwise() const { return y.is_pointwise() && x.is_pointwise(); }

  /// Reads them from the operator's arguments; false where there is no such convolution.
  bool init(const Tensor& in, const Tensor& weight, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
            ArrayRef<int64_t> dilation, int64_t group_count) {
    const int64_t dims = in.dim() - 2;
    if (dims < 1 || dims > 2 || weight.dim() != in.dim() || static_cast<int64_t>(stride.size()) != dims ||
        static_cast<int64_t>(padding.size()) != 2 * dims || static_cast<int64_t>(dilation.size()) != dims ||
        group_count < 1) {
      return false;
    }
    batch = in.sizes()[0];
    groups = group_count;
    in_channels = weight.sizes()[1];
    out_channels = weight.sizes()[0] / groups;
    if (in_channels < 1 || out_channels < 1 || weight.sizes()[0] != out_channels * groups ||
        in.sizes()[1] != in_channels * groups) {
      return false;
    }
    Axis* const axes[] = {&y, &x};
    for (int64_t d = 0; d < dims; ++d) {
      Axis& axis = *axes[2 - dims + d];
      axis.in = in.sizes()[2 + d];
      axis.kernel = weight.sizes()[2 + d];
      axis.stride = stride[d];
      axis.before = padding[d];
      axis.after = padding[dims + d];
      axis.dilation = dilation[d];
      if (axis.in < 1 || axis.kernel < 1 || axis.stride < 1 || axis.before < 0 || axis.after < 0 || axis.dilation < 1 ||
          axis.padded() < axis.reach()) {
        return false;
      }
      axis.out = (axis.padded() - axis.reach()) / axis.stride + 1;
    }
    return true;
  }
};

/// A channel with its padding. Elements of a row that are a stride apart follow each other, so that every position of
/// the kernel meets neighbors.
struct Plane {
  const Sizes& sizes;
  int64_t width = divide_up(sizes.x.padded(), sizes.x.stride);
  int64_t pitch = width * sizes.x.stride;
  int64_t elements = pitch * sizes.y.padded() + kSlack;
  /// From where an output meets an input to where the output below does.
  int64_t row_step = sizes.y.stride * pitch;

  /// Where the first output meets position `tap` of the kernel.
  int64_t start(int64_t tap) const {
    const int64_t column = tap % sizes.x.kernel * sizes.x.dilation;
    return tap / sizes.x.kernel * sizes.y.dilation * pitch + column % sizes.x.stride * width + column / sizes.x.stride;
  }

  template <typename T>
  void fill(const uint8_t* in, uint8_t bits, uint8_t padding, T* plane) const {
    std::fill_n(plane, elements, static_cast<T>(padding));
    const auto loaded = [bits](uint8_t x)
                            KERNELS_ALWAYS_INLINE { return static_cast<T>(static_cast<uint8_t>(x ^ bits)); };
    const int64_t stride = sizes.x.stride;
    const int64_t before = sizes.x.before;
    T* target = plane + sizes.y.before * pitch;
    for (int64_t row = 0; row < sizes.y.in; ++row, in += sizes.x.in, target += pitch) {
      if (stride == 1) {
        vectorized_for(sizes.x.in, [=](int64_t i) { target[before + i] = loaded(in[i]); });
        continue;
      }
      if (stride == 2) {
        T* const even = target + before % 2 * width + before / 2;
        T* const odd = target + (before + 1) % 2 * width + (before + 1) / 2;
        vectorized_for(sizes.x.in / 2, [=](int64_t i) {
          even[i] = loaded(in[2 * i]);
          odd[i] = loaded(in[2 * i + 1]);
        });
        if (sizes.x.in % 2 != 0) {
          even[sizes.x.in / 2] = loaded(in[sizes.x.in - 1]);
        }
        continue;
      }
      for (int64_t i = 0; i < sizes.x.in; ++i) {
        target[(before + i) % stride * width + (before + i) / stride] = loaded(in[i]);
      }
    }
  }
};

/// Makes one panel's next elements of those of four rows.
void interleave(const uint8_t* const (&rows)[kPanelDepth], uint8_t bits, uint8_t* panel) {
#if defined(__SSE2__)
  __m128i row[kPanelDepth];
  for (int i = 0; i < kPanelDepth; ++i) {
    row[i] = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[i])),
                           _mm_set1_epi8(static_cast<char>(bits)));
  }
  const __m128i low[] = {_mm_unpacklo_epi8(row[0], row[1]), _mm_unpacklo_epi8(row[2], row[3])};
  const __m128i high[] = {_mm_unpackhi_epi8(row[0], row[1]), _mm_unpackhi_epi8(row[2], row[3])};
  __m128i* const target = reinterpret_cast<__m128i*>(panel);
  _mm_storeu_si128(target, _mm_unpacklo_epi16(low[0], low[1]));
  _mm_storeu_si128(target + 1, _mm_unpackhi_epi16(low[0], low[1]));
  _mm_storeu_si128(target + 2, _mm_unpacklo_epi16(high[0], high[1]));
  _mm_storeu_si128(target + 3, _mm_unpackhi_epi16(high[0], high[1]));
#else
  for (int64_t column = 0; column < kPanelColumns; ++column) {
    for (int64_t i = 0; i < kPanelDepth; ++i) {
      panel[column * kPanelDepth + i] = rows[i][column] ^ bits;
    }
  }
#endif
}

/// One of the operator's calls.
struct Call {
  Sizes sizes;
  SumConversion conversion;
  const uint8_t* in;
  const char* weight;
  char* out;
  int64_t out_size;  // bytes of an element
  uint8_t bits;
  uint8_t padding;
};

/// Channels that each depend on one input channel, in floats: these hold all sums of up to kMaxTaps products.
class DepthwiseConvolution {
 public:
  static constexpr int64_t kMaxTaps = 256;

  explicit DepthwiseConvolution(const Call& call) : call_(call), plane_{call.sizes} {
    for (int64_t tap = 0; tap < call.sizes.k(); ++tap) {
      starts_[tap] = plane_.start(tap);
    }
  }

  bool compute(ProductScratch& scratch) const {
    const int64_t channels = call_.sizes.groups;
    const int64_t plane_bytes = plane_.elements * static_cast<int64_t>(sizeof(float));
    const int64_t block = thread_count() > 1 ? std::clamp<int64_t>(kBlockBytes / plane_bytes, 1, channels) : 1;
    float* const planes = reinterpret_cast<float*>(scratch.get(block * plane_bytes));
    if (planes == nullptr) {
      return false;
    }
    const int64_t work = plane_.elements + call_.sizes.out_channels * call_.sizes.out_pixels() * call_.sizes.k() / 16;
    for (int64_t first = 0; first < call_.sizes.batch * channels; first += block) {
      const int64_t count = std::min(block, call_.sizes.batch * channels - first);
      parallel_for(0, count, std::max<int64_t>(kGrain / work, 1), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          float* const plane = planes + i * plane_.elements;
          plane_.fill(call_.in + (first + i) * call_.sizes.in_pixels(), call_.bits, call_.padding, plane);
          compute_channels((first + i) / channels, (first + i) % channels, plane);
        }
      });
    }
    return true;
  }

 private:
  static constexpr int64_t kLanes = kVectorBytes / static_cast<int64_t>(sizeof(float));
  typedef float Vector __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));

  void compute_channels(int64_t batch, int64_t group, const float* plane) const {
    const Sizes& sizes = call_.sizes;
    for (int64_t channel = group * sizes.out_channels; channel < (group + 1) * sizes.out_channels; ++channel) {
      float weights[kMaxTaps];
      const auto* const bytes = reinterpret_cast<const int8_t*>(call_.weight) + channel * sizes.k();
      std::copy_n(bytes, sizes.k(), weights);
      char* const out =
          call_.out + (batch * sizes.groups * sizes.out_channels + channel) * sizes.out_pixels() * call_.out_size;
      for (int64_t row = 0; row < sizes.y.out; ++row) {
        char* const target = out + row * sizes.x.out * call_.out_size;
        constexpr int kVectors = 4;
        int64_t column = 0;
        for (; sizes.x.out - column > (kVectors - 1) * kLanes; column += kVectors * kLanes) {
          compute_part<kVectors>(plane, weights, row, column, channel, target);
        }
        for (; column < sizes.x.out; column += kLanes) {
          compute_part<1>(plane, weights, row, column, channel, target);
        }
      }
    }
  }

  template <int kVectors>
  void compute_part(const float* plane, const float* weights, int64_t row, int64_t column, int64_t channel,
                    char* out) const {
    Vector sums[kVectors] = {};
    const float* const inputs = plane + row * plane_.row_step + column;
    for (int64_t tap = 0; tap < call_.sizes.k(); ++tap) {
      const float* const source = inputs + starts_[tap];
      const float weight = weights[tap];
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) {
        sums[i] += *reinterpret_cast<const Vector*>(source + i * kLanes) * weight;
      }
    }
    const int64_t n = std::min(kVectors * kLanes, call_.sizes.x.out - column);
    call_.conversion.store_of_channel(reinterpret_cast<const float*>(sums), n, channel, out + column * call_.out_size);
  }

  const Call& call_;
  Plane plane_;
  int64_t starts_[kMaxTaps];
};

/// A group at a time: weights times blocks of what the kernel meets at some pixels.
class BlockConvolution {
 public:
  explicit BlockConvolution(const Call& call) : call_(call), plane_{call.sizes} {}

  bool compute(ProductScratch& scratch) const {
    const Sizes& sizes = call_.sizes;
    const int64_t k_bytes = divide_up(sizes.k(), kPanelDepth) * kPanelDepth;
    const int64_t fitting = kBlockBytes / k_bytes / kTilePixels * kTilePixels;
    const int64_t pixels = std::min(std::clamp(fitting, kTilePixels, kMaxPixels),
                                    divide_up(sizes.out_pixels(), kPanelColumns) * kPanelColumns);
    const int64_t planes_size = sizes.is_pointwise() ? 0 : sizes.in_channels * plane_.elements;
    uint8_t* const planes = reinterpret_cast<uint8_t*>(scratch.get(planes_size + pixels * k_bytes));
    if (planes == nullptr) {
      return false;
    }
    const Block block = {planes, planes + planes_size, pixels, k_bytes};
    for (int64_t group = 0; group < sizes.batch * sizes.groups; ++group) {
      compute_group(block, group / sizes.groups, group % sizes.groups);
    }
    return true;
  }

 private:
  /// Where a block lies in the scratch memory.
  struct Block {
    uint8_t* planes;
    uint8_t* panels;
    int64_t pixels;
    int64_t k_bytes;
  };

  void compute_group(const Block& block, int64_t batch, int64_t group) const {
    const Sizes& sizes = call_.sizes;
    const uint8_t* const in = call_.in + (batch * sizes.groups + group) * sizes.in_channels * sizes.in_pixels();
    if (!sizes.is_pointwise()) {
      parallel_for(0, sizes.in_channels, std::max<int64_t>(kGrain / plane_.elements, 1),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t channel = begin; channel < end; ++channel) {
                       plane_.fill(in + channel * sizes.in_pixels(), call_.bits, call_.padding,
                                   block.planes + channel * plane_.elements);
                     }
                   });
    }
    const int64_t first_channel = group * sizes.out_channels;
    for (int64_t first = 0; first < sizes.out_pixels(); first += block.pixels) {
      const int64_t pixels = std::min(block.pixels, sizes.out_pixels() - first);
      parallel_for(0, block.k_bytes / kPanelDepth, std::max<int64_t>(kGrain / (4 * pixels), 1),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       pack(block, in, first, pixels, i * kPanelDepth);
                     }
                   });
      // Parts of some channels and some panels.
      constexpr int64_t kChannels = 32;
      const int64_t channel_blocks = divide_up(sizes.out_channels, kChannels);
      const int64_t parts = channel_blocks * divide_up(pixels, kTilePixels);
      const int64_t work = kChannels * kTilePixels * sizes.k() / 64;
      parallel_for(
          0, parts, std::max<int64_t>(kGrain / std::max<int64_t>(work, 1), 1), [&](int64_t begin, int64_t end) {
            for (int64_t part = begin; part < end; ++part) {
              const int64_t channel = first_channel + part % channel_blocks * kChannels;
              const int64_t pixel = part / channel_blocks * kTilePixels;
              const IntegerProduct product = {
                  call_.weight + channel * sizes.k(),
                  sizes.k(),
                  std::min(kChannels, first_channel + sizes.out_channels - channel),
                  0,
                  reinterpret_cast<const char*>(block.panels) + pixel * block.k_bytes,
                  block.k_bytes * kPanelColumns,
                  std::min(kTilePixels, pixels - pixel),
                  sizes.k(),
                  call_.conversion,
                  call_.out +
                      ((batch * sizes.groups * sizes.out_channels + channel) * sizes.out_pixels() + first + pixel) *
                          call_.out_size,
                  sizes.out_pixels() * call_.out_size};
              multiply_weights(product, channel);
            }
          });
    }
  }

  /// Makes elements `k` to `k` + kPanelDepth of the panels of `pixels` pixels, from `first` on.
  void pack(const Block& block, const uint8_t* in, int64_t first, int64_t pixels, int64_t k) const {
    const Sizes& sizes = call_.sizes;
    const int64_t depth = std::min(kPanelDepth, sizes.k() - k);
    uint8_t* const target = block.panels + k * kPanelColumns;
    const int64_t stride = block.k_bytes * kPanelColumns;
    const uint8_t* rows[kPanelDepth];
    if (sizes.is_pointwise()) {
      for (int64_t i = 0; i < kPanelDepth; ++i) {
        // Weights of zero make whatever comes behind the last row nothing.
        rows[i] = in + (k + std::min(i, depth - 1)) * sizes.in_pixels() + first;
      }
      interleave_rows(rows, pixels, call_.bits, target, stride);
      return;
    }
    uint8_t staged[kPanelDepth][kMaxPixels + kSlack];
    for (int64_t i = 0; i < kPanelDepth; ++i) {
      rows[i] = staged[std::min(i, depth - 1)];
    }
    for (int64_t i = 0; i < depth; ++i) {
      const int64_t taps = sizes.y.kernel * sizes.x.kernel;
      const uint8_t* const inputs = block.planes + (k + i) / taps * plane_.elements + plane_.start((k + i) % taps);
      int64_t row = first / sizes.x.out;
      int64_t column = first % sizes.x.out;
      for (int64_t done = 0; done < pixels; ++row, column = 0) {
        const int64_t n = std::min(sizes.x.out - column, pixels - done);
        const uint8_t* const source = inputs + row * plane_.row_step + column;
        // Copies of a fixed size are the fastest; what they write beyond the row is overwritten.
        constexpr int64_t kCopied = 16;
        for (int64_t copied = 0; copied < n; copied += kCopied) {
          std::memcpy(staged[i] + done + copied, source + copied, kCopied);
        }
        done += n;
      }
    }
    interleave_rows(rows, pixels, 0, target, stride);
  }

  static void interleave_rows(const uint8_t* (&rows)[kPanelDepth], int64_t n, uint8_t bits, uint8_t* target,
                              int64_t stride) {
    for (; n >= kPanelColumns; n -= kPanelColumns, target += stride) {
      interleave(rows, bits, target);
      for (const uint8_t*& row : rows) {
        row += kPanelColumns;
      }
    }
    if (n > 0) {
      uint8_t last[kPanelDepth][kPanelColumns] = {};
      for (int64_t i = 0; i < kPanelDepth; ++i) {
        std::memcpy(last[i], rows[i], static_cast<size_t>(n));
      }
      interleave({last[0], last[1], last[2], last[3]}, bits, target);
    }
  }

  const Call& call_;
  Plane plane_;
};

}  // namespace

Tensor& quantized_convolution_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                                  const Tensor& scale, const Tensor& offset, const std::optional<Tensor>& table,
                                  ArrayRef<int64_t> stride, ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                  int64_t groups, int64_t input_zero_point, int64_t quant_min, int64_t quant_max,
                                  ScalarType dtype, Tensor& out) {
  // Check
  Call call;
  const bool is_char = in.scalar_type() == ScalarType::Char;
  ET_KERNEL_CHECK(ctx, is_char || in.scalar_type() == ScalarType::Byte, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, weight.scalar_type() == ScalarType::Char, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, dtype == out.scalar_type(), InvalidArgument, out);
  ET_KERNEL_CHECK(
      ctx, tensor_is_default_dim_order(in) && tensor_is_default_dim_order(weight) && tensor_is_default_dim_order(out),
      InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, call.sizes.init(in, weight, stride, padding, dilation, groups), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, call.conversion.init(scale, offset, table, weight.sizes()[0], quant_min, quant_max, dtype),
                  InvalidArgument, out);
  const int64_t least = is_char ? -128 : 0;
  ET_KERNEL_CHECK(ctx, input_zero_point >= least && input_zero_point <= least + 255, InvalidArgument, out);

  // Resize
  Tensor::SizesType sizes[kTensorDimensionLimit];
  sizes[0] = in.sizes()[0];
  sizes[1] = weight.sizes()[0];
  sizes[2] = static_cast<Tensor::SizesType>(in.dim() == 3 ? call.sizes.x.out : call.sizes.y.out);
  sizes[3] = static_cast<Tensor::SizesType>(call.sizes.x.out);
  ET_KERNEL_CHECK(ctx, resize_to(out, {sizes, static_cast<size_t>(in.dim())}), InvalidArgument, out);

  // Compute
  call.in = static_cast<const uint8_t*>(in.const_data_ptr());
  call.weight = static_cast<const char*>(weight.const_data_ptr());
  call.out = static_cast<char*>(out.mutable_data_ptr());
  call.out_size = out.element_size();
  call.bits = bits_to_byte(in.scalar_type());
  call.padding = static_cast<uint8_t>(input_zero_point - least);
  ProductScratch scratch(ctx);
  const bool is_depthwise = call.sizes.in_channels == 1 && call.sizes.k() <= DepthwiseConvolution::kMaxTaps;
  const bool has_memory =
      is_depthwise ? DepthwiseConvolution(call).compute(scratch) : BlockConvolution(call).compute(scratch);
  ET_KERNEL_CHECK_MSG(ctx, has_memory, MemoryAllocationFailed, out, "no memory for a part of the input");
  return out;
}

}  // namespace torch::executor::native
