#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rules_executorch {

// The memory of the strings and lists to which the runtime's values point.
//
// The runtime needs an address even for empty lists, so that each list has memory for one additional element.
class ValueMemory {
 public:
  using EValue = executorch::runtime::EValue;
  using Tensor = executorch::aten::Tensor;

  EValue String(std::string text) {
    std::string& kept = strings_.emplace_back(std::move(text));
    return EValue(&string_refs_.emplace_back(kept.data(), kept.size()));
  }

  EValue Doubles(std::vector<double> numbers) {
    const size_t size = numbers.size();
    numbers.reserve(size + 1);
    std::vector<double>& kept = doubles_.emplace_back(std::move(numbers));
    return EValue(&double_refs_.emplace_back(kept.data(), size));
  }

  template <typename Range>
  EValue Bools(const Range& values) {
    std::unique_ptr<bool[]>& kept = bools_.emplace_back(new bool[values.size() + 1]);
    for (size_t i = 0; i < values.size(); ++i) kept[i] = values[i];
    return EValue(&bool_refs_.emplace_back(kept.get(), values.size()));
  }

  EValue Ints(std::vector<EValue> elements) { return BoxedList(std::move(elements), int64_t{}, int_lists_); }

  EValue Tensors(std::vector<EValue> elements) {
    return BoxedList(std::move(elements), Tensor(nullptr), tensor_lists_);
  }

  EValue OptionalTensors(std::vector<EValue> elements) {
    return BoxedList(std::move(elements), std::optional<Tensor>(), optional_tensor_lists_);
  }

 private:
  template <typename T>
  using BoxedLists = std::deque<std::pair<std::vector<T>, executorch::runtime::BoxedEvalueList<T>>>;

  template <typename T>
  EValue BoxedList(std::vector<EValue> elements, const T& blank, BoxedLists<T>& lists) {
    std::vector<EValue>& kept = elements_.emplace_back(std::move(elements));
    std::vector<EValue*>& pointers = element_pointers_.emplace_back();
    pointers.reserve(kept.size() + 1);
    for (EValue& element : kept) pointers.push_back(&element);
    auto& [memory, list] =
        lists.emplace_back(std::vector<T>(kept.size() + 1, blank), executorch::runtime::BoxedEvalueList<T>());
    list = executorch::runtime::BoxedEvalueList<T>(pointers.data(), memory.data(), static_cast<int>(kept.size()));
    return EValue(&list);
  }

  std::deque<std::string> strings_;
  std::deque<executorch::aten::ArrayRef<char>> string_refs_;
  std::deque<std::vector<double>> doubles_;
  std::deque<executorch::aten::ArrayRef<double>> double_refs_;
  std::deque<std::unique_ptr<bool[]>> bools_;
  std::deque<executorch::aten::ArrayRef<bool>> bool_refs_;
  std::deque<std::vector<EValue>> elements_;
  std::deque<std::vector<EValue*>> element_pointers_;
  BoxedLists<int64_t> int_lists_;
  BoxedLists<Tensor> tensor_lists_;
  BoxedLists<std::optional<Tensor>> optional_tensor_lists_;
};

}  // namespace rules_executorch
