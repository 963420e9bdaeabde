// Continues a prompt of token ids, as chat.py continues a text.
//
// chat_cpp PROGRAM IDS [TOKENS [TEMPERATURE [TOP_P [SEED]]]]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "examples/chat/generation.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: chat_cpp PROGRAM IDS [TOKENS [TEMPERATURE [TOP_P [SEED]]]]\n");
    return 2;
  }
  std::vector<int64_t> prompt;
  for (char* at = argv[2]; *at != '\0';) {
    prompt.push_back(std::strtoll(at, &at, 10));
    at += *at == ',' ? 1 : 0;
  }
  const auto number = [&](int index, double otherwise) { return argc > index ? std::atof(argv[index]) : otherwise; };
  const size_t count = static_cast<size_t>(number(3, 64));
  chat::Sampler sampler(number(4, 0.8), number(5, 0.95), static_cast<uint32_t>(number(6, 0)));
  if (prompt.empty() || prompt.size() > chat::kCacheLength) {
    std::fprintf(stderr, "a prompt has 1 to %zu tokens\n", chat::kCacheLength);
    return 2;
  }

  chat::Generator generator(argv[1]);
  const auto start = std::chrono::steady_clock::now();
  std::vector<float> logits = generator.Read(prompt);
  size_t written = 0;
  for (; written < count && !logits.empty(); ++written) {
    const int64_t token = sampler.Choose(logits);
    std::printf("%s%lld", written == 0 ? "" : " ", static_cast<long long>(token));
    if (generator.length() == chat::kCacheLength) {
      ++written;
      break;
    }
    logits = generator.Read({token});
  }
  std::printf("\n");
  if (logits.empty()) {
    std::fprintf(stderr, "the program failed\n");
    return 1;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::fprintf(stderr, "%zu + %zu tokens, %.1f tokens per second\n", prompt.size(), written, written / seconds);
  return 0;
}
