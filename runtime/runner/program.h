#pragma once

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/named_data_map/merged_data_map.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/runner/file.h"
#include "runtime/runner/input_sizes.h"
#include "runtime/runner/lines.h"
#include "runtime/runner/memory.h"
#include "runtime/runner/model.h"

namespace rules_executorch {

// How a program comes into memory: read to memory of the process, in huge pages, or mapped. Processes that map the same
// file share its memory.
enum class Load { kRead, kMap };

// A file in memory.
class LoadedFile {
 public:
  // Reads or maps the file. Fails if the file cannot be read. `kind` is the flag that names the file, for errors.
  LoadedFile(const std::string& path, Load load, const std::string& kind);

  const std::string& path() const { return path_; }
  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  bool is_mapped() const { return read_ == nullptr; }

 private:
  std::string path_;
  UnwrittenLines read_;  // has the constants, aligned to their own cache lines
  Mapping mapped_;
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

// The files of a program, which are checked completely: the program, and the files with the constants that the program
// does not have.
struct ProgramFiles {
  ProgramFiles(const std::string& path, const std::vector<std::string>& weights_paths, Load load);

  LoadedFile program;
  std::deque<LoadedFile> weights;  // without files that have no constants, which the runtime refuses
};

// The constants of checked files, for the runtime. The files stay until the end of this object.
class Constants {
 public:
  explicit Constants(const std::deque<LoadedFile>& files);

  // nullptr if there are no files.
  const executorch::runtime::NamedDataMap* map() const { return merged_ ? &*merged_ : nullptr; }

 private:
  std::deque<executorch::extension::BufferDataLoader> loaders_;
  std::deque<executorch::extension::FlatTensorDataMap> maps_;
  std::optional<executorch::extension::merged_data_map::MergedDataMap> merged_;
};

// A loaded ExecuTorch program.
class Program : public Model {
 public:
  // The runtime reports its events to `tracer` if it is not null. `weights_paths` names the files with the constants
  // that the program does not have.
  Program(const std::string& path, const std::vector<std::string>& weights_paths, Load load,
          std::unique_ptr<executorch::runtime::EventTracer> tracer);

  const std::string& path() const override { return path_; }

  std::vector<std::string> MethodNames() override;

  Signature GetSignature(const std::string& method) override;

  // Resolves the operators and delegates of the method, and allocates the memory for its tensors. Frees those of the
  // previous method.
  void LoadMethod(const std::string& method) override;

  std::vector<Value> Run(const std::string& method, const std::vector<Value>& inputs, double* seconds) override;

  // Gives an input to the next run of the loaded method. The memory of a tensor stays in place until the run has ended.
  // Returns the reason why the program does not take the value; empty if the program takes the value.
  std::string SetInput(const Port& port, const executorch::runtime::EValue& value, size_t index);

  // Runs the loaded method, whose inputs are given. The outputs are in the program's memory, which the next run
  // overwrites. `method` is its name.
  std::vector<executorch::runtime::EValue> Execute(const std::string& method);

  // The memory that the methods have needed until now.
  ProgramMemory Memory() const;

 private:
  InputSizes ReadInputSizes(const std::string& method) const;

  void TakePlannedMemory(const std::string& method);

  std::string path_;
  ProgramFiles files_;
  Constants constants_;
  executorch::extension::BufferDataLoader loader_;
  std::unique_ptr<executorch::runtime::EventTracer> tracer_;
  std::optional<executorch::runtime::Program> program_;
  // The planned memory of the method. calloc: pages that are not written take no physical memory.
  std::unique_ptr<uint8_t, decltype(&std::free)> memory_{nullptr, std::free};
  std::vector<executorch::runtime::Span<uint8_t>> buffers_;
  std::optional<executorch::runtime::HierarchicalAllocator> planned_memory_;
  size_t most_planned_ = 0;  // of one method, in bytes
  size_t most_values_ = 0;   // of the inputs with their copies and the outputs of one run, in bytes
  CountingAllocator runtime_memory_;
  CountingAllocator scratch_memory_;
  std::optional<executorch::runtime::MemoryManager> memory_manager_;
  std::optional<executorch::runtime::Method> method_;  // the loaded one
  InputSizes input_sizes_;                             // of the loaded method
};

}  // namespace rules_executorch
