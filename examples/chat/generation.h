#pragma once

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace chat {

// Of the model: the largest number of tokens in one call, and in one text.
constexpr size_t kChunk = 32;
constexpr size_t kCacheLength = 256;

// Chooses the next token. generation.py has the same in Python, and chooses the same tokens.
class Sampler {
 public:
  // `temperature` divides the logits; 0 chooses the most likely token. Only the most likely tokens are chosen whose
  // probabilities together reach `top_p`.
  Sampler(double temperature, double top_p, uint32_t seed) : temperature_(temperature), top_p_(top_p), random_(seed) {}

  int64_t Choose(const std::vector<float>& logits) {
    const auto largest = std::max_element(logits.begin(), logits.end());
    if (temperature_ == 0) {
      return largest - logits.begin();
    }
    std::vector<double> probabilities(logits.size());
    for (size_t i = 0; i < logits.size(); ++i) {
      probabilities[i] = std::exp((static_cast<double>(logits[i]) - *largest) / temperature_);
    }
    const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
    std::vector<int64_t> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return probabilities[a] > probabilities[b]; });
    std::vector<double> sums;
    double total = 0;
    for (int64_t token : order) {
      sums.push_back(total += probabilities[token] / sum);
      if (total >= top_p_) {
        break;
      }
    }
    const auto chosen = std::upper_bound(sums.begin(), sums.end(), Uniform() * sums.back());
    return order[std::min<size_t>(chosen - sums.begin(), sums.size() - 1)];
  }

 private:
  // A number in [0, 1) with 53 bits, as NumPy's RandomState makes it of two numbers with 32 bits.
  double Uniform() {
    const uint32_t high = random_() >> 5, low = random_() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }

  double temperature_;
  double top_p_;
  std::mt19937 random_;
};

// A text that grows, with its own cache.
class Generator {
 public:
  explicit Generator(const std::string& program) : module_(program) {}

  // Adds tokens to the text. Returns the logits of the next token; empty if the program fails.
  std::vector<float> Read(const std::vector<int64_t>& tokens) {
    using executorch::extension::make_tensor_ptr;
    std::vector<float> logits;
    for (size_t first = 0; first < tokens.size(); first += kChunk) {
      const size_t count = std::min(kChunk, tokens.size() - first);
      std::vector<int64_t> chunk(tokens.begin() + first, tokens.begin() + first + count);
      const auto outputs = module_.forward({make_tensor_ptr({1, static_cast<int32_t>(count)}, std::move(chunk)),
                                            make_tensor_ptr({1}, std::vector<int64_t>{static_cast<int64_t>(length_)})});
      if (!outputs.ok()) {
        return {};
      }
      length_ += count;
      const auto& result = outputs->at(0).toTensor();
      logits.assign(result.const_data_ptr<float>(), result.const_data_ptr<float>() + result.numel());
    }
    return logits;
  }

  size_t length() const { return length_; }

 private:
  executorch::extension::Module module_;
  size_t length_ = 0;
};

}  // namespace chat
