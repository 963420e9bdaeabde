#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rules_executorch {

// The key of the sizes of a method, in the data of a program.
std::string InputSizesKey(std::string_view method);

// The sizes that the inputs of a method may have. Without data, each size is allowed. export/lower/size_record.py
// describes and writes the data.
class InputSizes {
 public:
  InputSizes() = default;

  // Returns nothing if the data is damaged.
  static std::optional<InputSizes> Read(const void* data, size_t size);

  // Returns the reason why an input cannot have these sizes, e.g. `has the size 3 in dimension 0, and the model was
  // exported for sizes from 4 to 64`. Empty if the input can have them. The first input begins a new run: the sizes of
  // the others must fit those before.
  std::string Check(size_t index, executorch::aten::ArrayRef<executorch::aten::SizesType> sizes);

  // Describes the sizes that an input may have, by dimension: `4`, `2..5`, or, for sizes that depend on each other,
  // `s0=2..5` and `2*s0+1=5..11`. Empty without data.
  std::vector<std::string> Describe(size_t index) const;

 private:
  struct Dim {
    int32_t least;
    int32_t most;
    int32_t symbol;  // -1 for none
    int32_t factor;
    int32_t offset;
  };
  // The size that has given a symbol its value in a run.
  struct Known {
    int64_t value = 0;
    size_t input = 0;
    size_t dim = 0;
    int64_t size = 0;
    bool is_set = false;
  };

  std::string CheckDim(size_t input, size_t dim, int64_t size);

  // The formula of a dimension, as `2*s0+1`. Empty if the dimension may have each size from `least` to `most`, whatever
  // the other sizes are.
  std::string Formula(const Dim& dim) const;

  std::vector<std::vector<Dim>> inputs_;
  std::vector<Known> symbols_;
  std::vector<size_t> uses_;  // the number of dimensions of each symbol
};

}  // namespace rules_executorch
