#include "runtime/runner/input_spec.h"

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "runtime/runner/failure.h"
#include "runtime/runner/file.h"

namespace rules_executorch {
namespace {

using executorch::aten::BFloat16;
using executorch::aten::Half;
using executorch::aten::ScalarType;
using executorch::runtime::Tag;

// The largest number of elements of a shape in a flag. Larger shapes are mistakes that would need gigabytes.
constexpr size_t kMostElements = std::numeric_limits<int32_t>::max();

constexpr char kFix[] = "see --help for the forms of --input, and --list_methods for what the program takes.";

[[noreturn]] void FailToParseSpec(const std::string& spec, size_t index, const Port& expected,
                                  const std::string& found) {
  Fail("--input=" + Shorten(spec) + " for input " + std::to_string(index) + " (" + Describe(expected) + "): " + found,
       "the values are written wrongly, or for another input.", kFix);
}

template <typename T>
void Append(std::vector<uint8_t>* bytes, T element) {
  const auto* begin = reinterpret_cast<const uint8_t*>(&element);
  bytes->insert(bytes->end(), begin, begin + sizeof(T));
}

// Appends a number of a floating-point dtype. Returns the rounded number.
double AppendFloat(std::vector<uint8_t>* bytes, ScalarType dtype, double number) {
  switch (dtype) {
    case ScalarType::Half: {
      const Half half(static_cast<float>(number));
      Append(bytes, half);
      return static_cast<float>(half);
    }
    case ScalarType::BFloat16: {
      const BFloat16 brain(static_cast<float>(number));
      Append(bytes, brain);
      return static_cast<float>(brain);
    }
    case ScalarType::Float:
      Append(bytes, static_cast<float>(number));
      return static_cast<float>(number);
    default:
      Append(bytes, number);
      return number;
  }
}

// Appends a number of an integer dtype. Returns false if the number is out of range.
bool AppendInteger(std::vector<uint8_t>* bytes, ScalarType dtype, int64_t number) {
  switch (dtype) {
    case ScalarType::Bool:
    case ScalarType::Byte:
      Append(bytes, static_cast<uint8_t>(number));
      return number >= 0 && number <= (dtype == ScalarType::Bool ? 1 : UINT8_MAX);
    case ScalarType::Char:
      Append(bytes, static_cast<int8_t>(number));
      return number >= INT8_MIN && number <= INT8_MAX;
    case ScalarType::Short:
      Append(bytes, static_cast<int16_t>(number));
      return number >= INT16_MIN && number <= INT16_MAX;
    case ScalarType::UInt16:
      Append(bytes, static_cast<uint16_t>(number));
      return number >= 0 && number <= UINT16_MAX;
    case ScalarType::Int:
      Append(bytes, static_cast<int32_t>(number));
      return number >= INT32_MIN && number <= INT32_MAX;
    case ScalarType::UInt32:
      Append(bytes, static_cast<uint32_t>(number));
      return number >= 0 && number <= UINT32_MAX;
    case ScalarType::Long:
    case ScalarType::UInt64:  // the upper half of the range is negative here
      Append(bytes, number);
      return true;
    default:
      return false;
  }
}

// Appends a number of the dtype from its text. Returns false if the text is invalid.
bool AppendElement(std::vector<uint8_t>* bytes, ScalarType dtype, const std::string& text) {
  if (dtype == ScalarType::Bool && (text == "true" || text == "false")) {
    return AppendInteger(bytes, dtype, text == "true" ? 1 : 0);
  }
  errno = 0;
  char* end = nullptr;
  bool fits = false;
  if (IsFloatingPoint(dtype)) {
    const double number = std::strtod(text.c_str(), &end);
    // Numbers out of range become infinity. Infinity is only valid if the text says so.
    fits = !std::isinf(AppendFloat(bytes, dtype, number)) || (std::isinf(number) && errno == 0);
    errno = 0;
  } else if (dtype == ScalarType::UInt64) {
    const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
    fits = AppendInteger(bytes, dtype, static_cast<int64_t>(number)) && text.find('-') == std::string::npos;
  } else {
    fits = AppendInteger(bytes, dtype, std::strtoll(text.c_str(), &end, 10));
  }
  return fits && errno == 0 && end != text.c_str() && *end == '\0';
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char character : text) {
    if (character == separator) {
      parts.emplace_back();
    } else {
      parts.back() += character;
    }
  }
  return parts;
}

// Removes a leading `2x3:` from the text and returns its sizes. Returns false if there is none.
bool TakeShape(std::string* text, std::vector<int32_t>* sizes) {
  const size_t colon = text->find(':');
  if (colon == std::string::npos || colon == 0 || text->find_first_not_of("0123456789x") != colon) {
    return false;
  }
  for (const std::string& size : Split(text->substr(0, colon), 'x')) {
    if (size.empty() || size.size() > 9) {
      return false;
    }
    sizes->push_back(static_cast<int32_t>(std::strtol(size.c_str(), nullptr, 10)));
  }
  text->erase(0, colon + 1);
  return true;
}

// A word that stands for elements.
struct Word {
  enum Kind { kNone, kOnes, kZeros, kArange, kRandom } kind = kNone;
  uint32_t seed = 0;
};

Word ParseWord(const std::string& text) {
  if (text == "ones" || text == "zeros" || text == "arange") {
    return {text == "ones" ? Word::kOnes : text == "zeros" ? Word::kZeros : Word::kArange};
  }
  if (text == "rand") {
    return {Word::kRandom};
  }
  std::vector<uint8_t> seed;
  if (text.rfind("rand:", 0) == 0 && AppendElement(&seed, ScalarType::UInt32, text.substr(5))) {
    Word word{Word::kRandom};
    std::memcpy(&word.seed, seed.data(), sizeof(word.seed));
    return word;
  }
  return {};
}

// Appends the elements of a word. Returns false if an element is out of the dtype's range.
bool Generate(const Word& word, ScalarType dtype, size_t count, std::vector<uint8_t>* bytes) {
  std::mt19937 generator(word.seed);
  bytes->reserve(count * executorch::runtime::elementSize(dtype));
  const bool is_float = IsFloatingPoint(dtype);
  for (size_t i = 0; i < count; ++i) {
    int64_t integer = word.kind == Word::kOnes ? 1 : 0;
    double number = static_cast<double>(integer);
    if (word.kind == Word::kArange) {
      integer = static_cast<int64_t>(dtype == ScalarType::Bool ? i % 2 : i);
      number = static_cast<double>(i);
    } else if (word.kind == Word::kRandom) {
      const uint32_t bits = generator();  // no distribution, because distributions differ between standard libraries
      integer = bits % (dtype == ScalarType::Bool ? 2 : 10);
      number = (bits >> 8) * 0x1p-24;
    }
    if (is_float) {
      AppendFloat(bytes, dtype, number);
    } else if (!AppendInteger(bytes, dtype, integer)) {
      return false;
    }
  }
  return true;
}

// Changes the shape of an input if the program allows it.
void SetSizes(const std::string& spec, size_t index, const Port& expected, const std::vector<int32_t>& sizes,
              Layout* layout) {
  if (sizes.size() != layout->sizes.size()) {
    FailToParseSpec(spec, index, expected,
                    "the shape has " + std::to_string(sizes.size()) + " dimensions, the input has " +
                        std::to_string(layout->sizes.size()) + ".");
  }
  *layout = ContiguousLayout(layout->dtype, sizes);
  const std::string mistake = Mistake(*layout);
  if (!mistake.empty() || layout->numel() > kMostElements) {
    FailToParseSpec(spec, index, expected,
                    "the shape " +
                        (mistake.empty() ? "has " + std::to_string(layout->numel()) + " elements" : mistake) +
                        "; --input makes " + std::to_string(kMostElements) + " elements at most.");
  }
  const std::string mismatch = Mismatch(TensorData{*layout, {}}, expected);
  if (!mismatch.empty()) {
    FailToParseSpec(spec, index, expected,
                    "the shape " + mismatch + "; the program takes " + Describe(expected) + " at most.");
  }
}

// Reads the elements from a file. The file must have exactly their number of bytes.
void ReadElements(const std::string& spec, size_t index, const Port& expected, const std::string& path,
                  TensorData* tensor) {
  File file(path);
  const size_t size = tensor->layout.nbytes();
  if (file.problem().empty() && file.size() != size) {
    FailToParseSpec(spec, index, expected,
                    path + " has " + std::to_string(file.size()) + " bytes; " + Describe(tensor->layout) + " needs " +
                        std::to_string(size) + ".");
  }
  tensor->bytes.resize(file.size());
  file.Read(tensor->bytes.data());
  if (!file.problem().empty()) {
    FailToParseSpec(spec, index, expected, "cannot read " + path + ": " + file.problem() + ".");
  }
}

}  // namespace

Value ParseInput(const std::string& spec, size_t index, const Port& expected) {
  if (expected.tag == Tag::None) {
    if (spec != "none") {
      FailToParseSpec(spec, index, expected, "the program was exported with None here; write --input=none.");
    }
    return std::nullopt;
  }
  Layout layout = expected.layout;
  if (!expected.is_tensor()) {
    layout = ContiguousLayout(expected.tag == Tag::Int      ? ScalarType::Long
                              : expected.tag == Tag::Double ? ScalarType::Double
                                                            : ScalarType::Bool,
                              {});
  }
  std::string text = spec;
  std::vector<int32_t> sizes;
  if (TakeShape(&text, &sizes)) {
    SetSizes(spec, index, expected, sizes, &layout);
  }
  TensorData tensor{ContiguousLayout(layout.dtype, layout.sizes), {}};
  if (!text.empty() && text[0] == '@') {
    ReadElements(spec, index, expected, text.substr(1), &tensor);
    return tensor;
  }
  const size_t numel = layout.numel();
  const Word word = ParseWord(text);
  if (word.kind != Word::kNone) {
    if (!Generate(word, layout.dtype, numel, &tensor.bytes)) {
      FailToParseSpec(spec, index, expected, "not all of its elements are numbers of " + DtypeName(layout.dtype) + ".");
    }
    return tensor;
  }
  if (text.rfind("rand", 0) == 0) {
    FailToParseSpec(spec, index, expected, "the seed of rand:SEED is a whole number from 0 to 4294967295.");
  }
  const std::vector<std::string> values = text.empty() ? std::vector<std::string>() : Split(text, ',');
  if (values.size() != numel) {
    FailToParseSpec(spec, index, expected,
                    std::to_string(values.size()) + " values for " + std::to_string(numel) + " elements.");
  }
  for (const std::string& value : values) {
    if (!AppendElement(&tensor.bytes, layout.dtype, value)) {
      FailToParseSpec(spec, index, expected, "'" + Shorten(value) + "' is no " + DtypeName(layout.dtype) + ".");
    }
  }
  return tensor;
}

}  // namespace rules_executorch
