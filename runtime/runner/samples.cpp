#include "runtime/runner/samples.h"

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>

#include <set>
#include <utility>

#include "runtime/runner/failure.h"

namespace rules_executorch {
namespace {

using executorch::extension::FileDataLoader;
using executorch::extension::FlatTensorDataMap;

[[noreturn]] void FailToRead(const std::string& path, const std::string& what) {
  Fail("cannot read the samples " + path + ": " + what, "the file is damaged, or is no .ptd file.",
       "give the .ptd file that the export wrote beside the program, with --samples=FILE.");
}

TensorData Read(const FlatTensorDataMap& map, const std::string& path, const std::string& key) {
  const auto layout = map.get_tensor_layout(key);
  auto data = map.get_data(key);
  if (!layout.ok() || !data.ok()) {
    FailToRead(path, "the data of " + key + " are not there.");
  }
  const auto* bytes = static_cast<const uint8_t*>(data->data());
  TensorData tensor{{layout->scalar_type(),
                     {layout->sizes().begin(), layout->sizes().end()},
                     {layout->dim_order().begin(), layout->dim_order().end()}},
                    {bytes, bytes + data->size()}};
  if (tensor.bytes.size() != tensor.layout.nbytes()) {
    FailToRead(path, key + " has " + std::to_string(tensor.bytes.size()) + " bytes, and " + Describe(tensor.layout) +
                         " needs " + std::to_string(tensor.layout.nbytes()) + ".");
  }
  return tensor;
}

}  // namespace

std::vector<Sample> ReadSamples(const std::string& path, const std::string& method, size_t num_inputs,
                                size_t num_outputs) {
  auto loader = FileDataLoader::from(path.c_str());
  if (!loader.ok()) {
    FailToRead(path, "cannot open it.");
  }
  auto map = FlatTensorDataMap::load(&*loader);
  if (!map.ok()) {
    FailToRead(path, "it is not a .ptd file.");
  }
  std::set<std::string> keys;
  const auto count = map->get_num_keys();
  for (uint32_t i = 0; count.ok() && i < *count; ++i) {
    const auto key = map->get_key(i);
    if (key.ok()) {
      keys.insert(*key);
    }
  }
  std::vector<Sample> samples;
  while (true) {
    const std::string prefix = method + "/" + std::to_string(samples.size()) + "/";
    const auto first = keys.lower_bound(prefix);
    if (first == keys.end() || first->compare(0, prefix.size(), prefix) != 0) {
      break;
    }
    Sample sample{std::vector<Value>(num_inputs), std::vector<Value>(num_outputs)};
    for (const auto& [kind, values] : {std::pair("input/", &sample.inputs), std::pair("output/", &sample.outputs)}) {
      for (size_t i = 0; i < values->size(); ++i) {
        const std::string key = prefix + kind + std::to_string(i);
        if (keys.erase(key) == 1) {
          (*values)[i] = Read(*map, path, key);
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
  if (samples.empty()) {
    Fail("the samples " + path + " have none for method " + method + ".",
         "they are those of another program, or the method has neither inputs nor outputs.",
         "give the .ptd file that the export wrote beside the program, or inputs with --input.");
  }
  return samples;
}

}  // namespace rules_executorch
