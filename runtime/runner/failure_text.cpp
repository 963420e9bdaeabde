#include <cstddef>

#include "runtime/runner/failure.h"

namespace rules_executorch {
namespace {

constexpr size_t kLongestQuote = 100;

}  // namespace

std::string Shorten(const std::string& text) {
  return text.size() <= kLongestQuote ? text : text.substr(0, kLongestQuote) + "...";
}

std::string Join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    text += (text.empty() ? "" : ", ") + item;
  }
  return text;
}

}  // namespace rules_executorch
