#include "runtime/compiled/check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "runtime/compiled/console.h"

namespace compiled_program::check {

namespace {

// Of ExecuTorch's Error.
constexpr uint32_t kMemoryAllocationFailed = 0x21;

void write(const char* text) { write_to_console(text); }

void write_integer(int64_t number) {
  char digits[24];
  char* first = std::end(digits);
  *--first = '\0';
  const bool negative = number < 0;
  for (auto rest = negative ? -static_cast<uint64_t>(number) : static_cast<uint64_t>(number);; rest /= 10) {
    *--first = static_cast<char>('0' + rest % 10);
    if (rest < 10) {
      break;
    }
  }
  if (negative) {
    *--first = '-';
  }
  write(first);
}

/// Writes 6 digits. printf takes more memory than many microcontrollers have.
void write_number(double number) {
  if (std::isnan(number) || std::isinf(number)) {
    write(std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
    return;
  }
  int32_t exponent = 0;
  double size = std::fabs(number);
  while (size >= 10) {
    size /= 10;
    ++exponent;
  }
  while (size > 0 && size < 1) {
    size *= 10;
    --exponent;
  }
  const auto millionths = static_cast<int64_t>(size * 1e5 + 0.5);
  char fraction[] = ".00000";
  int64_t rest = millionths % 100000;
  for (int32_t i = 5; i > 0; --i, rest /= 10) {
    fraction[i] = static_cast<char>('0' + rest % 10);
  }
  write(number < 0 ? "-" : "");
  write_integer(millionths / 100000);
  write(fraction);
  write("e");
  write_integer(exponent);
}

double from_half(uint16_t bits) {
  const int32_t exponent = bits >> 10 & 31;
  const int32_t fraction = bits & 1023;
  double size;
  if (exponent == 31) {
    size = fraction != 0 ? std::nan("") : INFINITY;
  } else {
    size = exponent != 0 ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
  }
  return bits & 0x8000 ? -size : size;
}

template <typename T>
T load(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

double number(const uint8_t* element, size_t size, Kind kind) {
  switch (kind) {
    case Kind::kHalf:
      return from_half(load<uint16_t>(element));
    case Kind::kBFloat16: {
      // The upper half of a float.
      const uint32_t bits = static_cast<uint32_t>(load<uint16_t>(element)) << 16;
      return load<float>(reinterpret_cast<const uint8_t*>(&bits));
    }
    case Kind::kFloat:
      return load<float>(element);
    case Kind::kDouble:
      return load<double>(element);
    case Kind::kBits:
      break;
  }
  switch (size) {
    case 1:
      return static_cast<double>(load<int8_t>(element));
    case 2:
      return load<int16_t>(element);
    case 4:
      return load<int32_t>(element);
    default:
      return static_cast<double>(load<int64_t>(element));
  }
}

bool is_close(double expected, double actual, const Bounds& bounds) {
  if (expected == actual || (std::isnan(expected) && std::isnan(actual))) {
    return true;
  }
  const double size = std::fabs(expected);
  const double allowed = bounds.absolute + bounds.relative * size + bounds.of_largest * std::max(size, bounds.largest);
  return std::isfinite(expected) && std::isfinite(actual) && std::fabs(actual - expected) <= allowed;
}

}  // namespace

void Check::begin_method(const char* name) {
  method_ = name;
  sample_ = -1;
  compared_ = 0;
}

void Check::copy(void* to, size_t offset, size_t bytes) {
  if (bytes > 0) {
    std::memcpy(to, samples_ + offset, bytes);
  }
}

bool Check::succeeded(Status status, const char* operator_name, const char* source_line, size_t scratch_bytes) {
  if (status.ok()) {
    return true;
  }
  failed_ = true;
  write(method_);
  if (sample_ >= 0) {
    write(", sample ");
    write_integer(sample_);
  }
  write(": error ");
  write_integer(status.error);
  if (status.instruction >= 0) {
    write(" in instruction ");
    write_integer(status.instruction);
    write(", ");
    write(operator_name);
    if (source_line[0] != '\0') {
      write(", of ");
      write(source_line);
    }
  }
  if (status.error == kMemoryAllocationFailed) {
    write(", which needs ");
    write_integer(static_cast<int64_t>(scratch_bytes));
    write(" bytes of scratch memory: raise scratch_bytes");
  }
  write("\n");
  return false;
}

void Check::fail(int32_t output) {
  failed_ = true;
  write(method_);
  write(", sample ");
  write_integer(sample_);
  write(", output ");
  write_integer(output);
}

void Check::compare_sizes(int32_t output, const int32_t* actual, const int32_t* expected, size_t rank) {
  for (size_t d = 0; d < rank; ++d) {
    if (actual[d] != expected[d]) {
      fail(output);
      write(": size ");
      write_integer(actual[d]);
      write(" in dimension ");
      write_integer(static_cast<int64_t>(d));
      write(", expected ");
      write_integer(expected[d]);
      write("\n");
    }
  }
}

void Check::compare_elements(int32_t output, const uint8_t* actual, const uint8_t* expected, size_t count, size_t size,
                             const Bounds& bounds) {
  size_t different = 0;
  size_t first = 0;
  double signal = 0;
  double noise = 0;
  double largest = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* const expected_bytes = expected + i * size;
    const uint8_t* const actual_bytes = actual + i * size;
    const double wanted = number(expected_bytes, size, bounds.kind);
    const double found = number(actual_bytes, size, bounds.kind);
    const bool close = bounds.kind == Kind::kBits ? std::memcmp(expected_bytes, actual_bytes, size) == 0
                                                  : is_close(wanted, found, bounds);
    if (!close && different++ == 0) {
      first = i;
    }
    if (!close || !(std::fabs(wanted) > bounds.outlier)) {
      const bool same = wanted == found || (std::isnan(wanted) && std::isnan(found));
      const double difference = same ? 0 : std::fabs(found - wanted);
      signal += std::isfinite(wanted) ? wanted * wanted : 0;
      noise += difference * difference;
      largest = difference <= largest ? largest : difference;
    }
  }
  ++compared_;
  if (different > 0) {
    fail(output);
    write(": ");
    write_integer(static_cast<int64_t>(different));
    write(" of ");
    write_integer(static_cast<int64_t>(count));
    write(" elements differ; element ");
    write_integer(static_cast<int64_t>(first));
    write(" is ");
    write_number(number(actual + first * size, size, bounds.kind));
    write(", expected ");
    write_number(number(expected + first * size, size, bounds.kind));
    write("\n");
  } else if (bounds.kind != Kind::kBits && !(signal >= noise * bounds.least_ratio) && !(largest <= bounds.small)) {
    fail(output);
    write(": the ratio of signal to noise is ");
    write_number(signal / noise);
    write(", expected at least ");
    write_number(bounds.least_ratio);
    write("\n");
  }
}

void Check::ran_at_bounds(Status status, const char* operator_name, const char* source_line, size_t scratch_bytes) {
  // A model may refuse zeros.
  if (status.error == kMemoryAllocationFailed) {
    write("With inputs of the largest sizes, as in the export's bounds: ");
    succeeded(status, operator_name, source_line, scratch_bytes);
  }
}

void Check::end_method(bool memory_is_intact, size_t planned_bytes, size_t scratch_bytes) {
  if (!memory_is_intact) {
    failed_ = true;
    write(method_);
    write(": a kernel wrote outside of the planned memory\n");
  }
  write(method_);
  write(": ");
  write_integer(compared_);
  write(" outputs compared; planned memory ");
  write_integer(static_cast<int64_t>(planned_bytes));
  write(" bytes, scratch memory ");
  write_integer(static_cast<int64_t>(scratch_bytes));
  write(" bytes\n");
}

int Check::end() const {
  write(failed_ ? "FAILED\n" : "all outputs equal PyTorch's\n");
  return failed_ ? 1 : 0;
}

}  // namespace compiled_program::check
