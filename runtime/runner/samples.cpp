#include "runtime/runner/samples.h"

#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "runtime/runner/failure.h"
#include "runtime/runner/file.h"
#include "runtime/runner/tensor_file.h"

namespace rules_executorch {
namespace {

// With more, no output would fail.
constexpr double kMostGrowth = 1000;

[[noreturn]] void FailToRead(const std::string& path, const std::string& what) {
  Fail("cannot read the samples " + path + ": " + what + ".", "the file is damaged, or is no .ptd file of samples.",
       "give the .ptd file that the export wrote beside the program, with --samples=FILE.");
}

std::vector<uint8_t> ReadAll(const std::string& path) {
  File file(path);
  std::vector<uint8_t> bytes(file.size());
  file.Read(bytes.data());
  if (!file.problem().empty()) {
    FailToRead(path, file.problem());
  }
  return bytes;
}

TensorData Read(const TensorFile& file, const std::vector<uint8_t>& bytes, const std::string& key) {
  std::optional<TensorFile::Data> data = file.Find(key);
  if (!data->layout) {
    file.Refuse(key, "is no tensor");
  }
  const uint8_t* begin = bytes.data() + data->range.begin;
  return {std::move(*data->layout), {begin, begin + data->range.size}};
}

double ReadGrowth(const TensorFile& file, const std::vector<uint8_t>& bytes, const std::string& key) {
  const TensorData tensor = Read(file, bytes, key);
  const double growth = tensor.layout.numel() == 1 ? ElementNumber(tensor, 0) : 0;
  if (!(growth >= 1 && growth <= kMostGrowth)) {
    file.Refuse(key, "is no number from 1 to " + std::to_string(static_cast<int>(kMostGrowth)));
  }
  return growth;
}

}  // namespace

std::vector<Sample> ReadSamples(const std::string& path, const std::string& method, size_t num_inputs,
                                size_t num_outputs) {
  const std::vector<uint8_t> bytes = ReadAll(path);
  const TensorFile file(bytes.data(), bytes.size(), path, FailToRead);
  const std::vector<std::string_view> all = file.Keys();
  std::set<std::string> keys(all.begin(), all.end());
  std::vector<Sample> samples;
  while (true) {
    const std::string prefix = method + "/" + std::to_string(samples.size()) + "/";
    const auto first = keys.lower_bound(prefix);
    if (first == keys.end() || first->compare(0, prefix.size(), prefix) != 0) {
      break;
    }
    Sample sample{std::vector<Value>(num_inputs), std::vector<Value>(num_outputs)};
    sample.quantized = keys.erase(prefix + "quantized") == 1;
    if (keys.erase(prefix + "error_growth") == 1) {
      sample.error_growth = ReadGrowth(file, bytes, prefix + "error_growth");
    }
    for (const auto& [kind, values] : {std::pair("input/", &sample.inputs), std::pair("output/", &sample.outputs)}) {
      for (size_t i = 0; i < values->size(); ++i) {
        const std::string key = prefix + kind + std::to_string(i);
        if (keys.erase(key) == 1) {
          (*values)[i] = Read(file, bytes, key);
        }
      }
    }
    const auto left = keys.lower_bound(prefix);
    if (left != keys.end() && left->compare(0, prefix.size(), prefix) == 0) {
      Fail("the samples " + path + " have " + *left + ", but method " + method + " has " + std::to_string(num_inputs) +
               " inputs and " + std::to_string(num_outputs) + " outputs.",
           "the samples are those of another program.", "give the .ptd file that the export wrote beside the program.");
    }
    samples.push_back(std::move(sample));
  }
  if (samples.empty() && !all.empty() && !file.has_samples()) {
    FailToRead(path, "it has constants, such as " + std::string(all.front()) + ", and no samples");
  }
  if (samples.empty()) {
    Fail("the samples " + path + " have none for method " + method + ".",
         "they are those of another program, or the method has neither inputs nor outputs.",
         "give the .ptd file that the export wrote beside the program, or inputs with --input.");
  }
  return samples;
}

}  // namespace rules_executorch
