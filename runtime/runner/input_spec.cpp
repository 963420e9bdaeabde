#include "runtime/runner/input_spec.h"

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "runtime/runner/failure.h"

namespace rules_executorch {
namespace {

using executorch::aten::BFloat16;
using executorch::aten::Half;
using executorch::aten::ScalarType;
using executorch::runtime::Tag;

constexpr char kFix[] = "see --help for the forms of --input, and --list_methods for what the program takes.";

[[noreturn]] void FailToParse(const std::string& spec, size_t index, const Port& expected, const std::string& found) {
  Fail("--input=" + spec + " for input " + std::to_string(index) + " (" + Describe(expected) + "): " + found,
       "the values are written wrongly, or for another input.", kFix);
}

template <typename T>
void Append(std::vector<uint8_t>* bytes, T element) {
  const auto* begin = reinterpret_cast<const uint8_t*>(&element);
  bytes->insert(bytes->end(), begin, begin + sizeof(T));
}

template <typename T>
bool AppendInteger(std::vector<uint8_t>* bytes, const std::string& text) {
  errno = 0;
  char* end = nullptr;
  T element = 0;
  if constexpr (std::is_same_v<T, uint64_t>) {
    element = std::strtoull(text.c_str(), &end, 10);
    if (text.find('-') != std::string::npos) {
      return false;
    }
  } else {
    const long long number = std::strtoll(text.c_str(), &end, 10);
    if (number < static_cast<long long>(std::numeric_limits<T>::min()) ||
        number > static_cast<long long>(std::numeric_limits<T>::max())) {
      return false;
    }
    element = static_cast<T>(number);
  }
  Append(bytes, element);
  return errno == 0 && end != text.c_str() && *end == '\0';
}

// Appends a number of the dtype, written as text; false if it is none.
bool AppendElement(std::vector<uint8_t>* bytes, ScalarType dtype, const std::string& text) {
  if (dtype == ScalarType::Bool) {
    const bool yes = text == "true" || text == "1";
    Append<uint8_t>(bytes, yes ? 1 : 0);
    return yes || text == "false" || text == "0";
  }
  if (IsFloatingPoint(dtype)) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    switch (dtype) {
      case ScalarType::Half:
        Append(bytes, Half(static_cast<float>(number)));
        break;
      case ScalarType::BFloat16:
        Append(bytes, BFloat16(static_cast<float>(number)));
        break;
      case ScalarType::Float:
        Append(bytes, static_cast<float>(number));
        break;
      default:
        Append(bytes, number);
    }
    return end != text.c_str() && *end == '\0';
  }
  switch (dtype) {
    case ScalarType::Byte:
      return AppendInteger<uint8_t>(bytes, text);
    case ScalarType::Char:
      return AppendInteger<int8_t>(bytes, text);
    case ScalarType::Short:
      return AppendInteger<int16_t>(bytes, text);
    case ScalarType::Int:
      return AppendInteger<int32_t>(bytes, text);
    case ScalarType::Long:
      return AppendInteger<int64_t>(bytes, text);
    case ScalarType::UInt16:
      return AppendInteger<uint16_t>(bytes, text);
    case ScalarType::UInt32:
      return AppendInteger<uint32_t>(bytes, text);
    case ScalarType::UInt64:
      return AppendInteger<uint64_t>(bytes, text);
    default:
      return false;
  }
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

// Takes a leading `2x3:` off the text and returns its sizes; false if there is none.
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

// The values that a word stands for, as text; empty if it is no such word.
std::vector<std::string> Generate(const std::string& word, ScalarType dtype, size_t count) {
  std::vector<std::string> values;
  const bool random = word == "rand" || word.rfind("rand:", 0) == 0;
  std::mt19937 generator(random && word.size() > 5 ? std::strtoul(word.c_str() + 5, nullptr, 10) : 0);
  for (size_t i = 0; i < count; ++i) {
    if (word == "ones" || word == "zeros") {
      values.push_back(word == "ones" ? "1" : "0");
    } else if (word == "arange") {
      values.push_back(std::to_string(dtype == ScalarType::Bool ? i % 2 : i));
    } else if (random) {
      const uint32_t bits = generator();  // Not a distribution: those differ between standard libraries.
      values.push_back(IsFloatingPoint(dtype) ? std::to_string((bits >> 8) * 0x1p-24)
                                              : std::to_string(bits % (dtype == ScalarType::Bool ? 2 : 10)));
    }
  }
  return values;
}

}  // namespace

Value ParseInput(const std::string& spec, size_t index, const Port& expected) {
  if (expected.tag == Tag::None) {
    if (spec != "none") {
      FailToParse(spec, index, expected, "the program was exported with None here; write --input=none.");
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
    if (sizes.size() != layout.sizes.size()) {
      FailToParse(spec, index, expected,
                  "the shape has " + std::to_string(sizes.size()) + " dimensions, the input has " +
                      std::to_string(layout.sizes.size()) + ".");
    }
    layout.sizes = sizes;
  }
  TensorData tensor{ContiguousLayout(layout.dtype, layout.sizes), {}};
  if (!text.empty() && text[0] == '@') {
    std::ifstream file(text.substr(1), std::ios::binary);
    if (!file) {
      FailToParse(spec, index, expected, "cannot read " + text.substr(1) + ".");
    }
    tensor.bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    if (tensor.bytes.size() != layout.nbytes()) {
      FailToParse(spec, index, expected,
                  text.substr(1) + " has " + std::to_string(tensor.bytes.size()) + " bytes; " +
                      Describe(tensor.layout) + " needs " + std::to_string(layout.nbytes()) + ".");
    }
    return tensor;
  }
  const size_t numel = layout.numel();
  std::vector<std::string> values = Generate(text, layout.dtype, numel);
  const bool is_word = text == "ones" || text == "zeros" || text == "arange" || text.rfind("rand", 0) == 0;
  if (!is_word) {
    values = text.empty() ? std::vector<std::string>() : Split(text, ',');
  }
  if (values.size() != numel) {
    FailToParse(spec, index, expected,
                std::to_string(values.size()) + " values for " + std::to_string(numel) + " elements.");
  }
  for (const std::string& value : values) {
    if (!AppendElement(&tensor.bytes, layout.dtype, value)) {
      FailToParse(spec, index, expected, "'" + value + "' is no " + DtypeName(layout.dtype) + ".");
    }
  }
  return tensor;
}

}  // namespace rules_executorch
