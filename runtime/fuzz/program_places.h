#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/fuzz/mutation.h"
#include "runtime/runner/flat_buffer.h"
#include "runtime/runner/program_format.h"

namespace rules_executorch {

// Finds the parts of an exported program, for tests that change one number. Throws if the program lacks a part.
class ProgramPlaces {
 public:
  explicit ProgramPlaces(Bytes bytes)
      : bytes_(std::move(bytes)),
        file_(bytes_.data(), bytes_.size(), kPath, Throw),
        program_(file_.Root()),
        plan_(file_.Table(file_.Tables(program_, kProgramExecutionPlan), 0)) {}
  ProgramPlaces(const ProgramPlaces&) = delete;
  ProgramPlaces& operator=(const ProgramPlaces&) = delete;

  template <typename T>
  static Bytes Changed(Bytes bytes, size_t place, T number) {
    std::memcpy(bytes.data() + place, &number, sizeof(T));
    return bytes;
  }

  // The program with another number at a position. The position is that of a field, and 0 if there is no such field.
  template <typename T>
  Bytes With(size_t place, T number) const {
    if (place == 0) {
      throw std::runtime_error("no such field");
    }
    return Changed(bytes_, place, number);
  }

  // The first instruction of a kind for which a condition holds.
  size_t FindInstruction(uint8_t kind, const std::function<bool(size_t)>& holds) const {
    const auto instructions =
        file_.Tables(file_.Table(file_.Tables(plan_, kExecutionPlanChains), 0), kChainInstructions);
    for (size_t i = 0; i < instructions.size; ++i) {
      const size_t instruction = file_.Table(instructions, i);
      if (file_.Number<uint8_t>(instruction, kInstructionInstrArgsType) == kind &&
          holds(file_.Child(instruction, kInstructionInstrArgs))) {
        return instruction;
      }
    }
    throw std::runtime_error("no such instruction");
  }

  // The first value of a kind for which a condition holds.
  size_t FindValue(uint8_t kind, const std::function<bool(size_t)>& holds) const {
    const auto values = file_.Tables(plan_, kExecutionPlanValues);
    for (size_t i = 0; i < values.size; ++i) {
      const size_t value = file_.Table(values, i);
      if (file_.Number<uint8_t>(value, kEValueValType) == kind && holds(file_.Child(value, kEValueVal))) {
        return file_.Child(value, kEValueVal);
      }
    }
    throw std::runtime_error("no such value");
  }

  // The first call, tensor or list with a field.
  size_t Call(uint8_t kind, int field) const {
    const auto has = [&](size_t call) { return file_.Field(call, field) != 0; };
    return file_.Child(FindInstruction(kind, has), kInstructionInstrArgs);
  }
  size_t Tensor(int field, size_t dimensions = 1) const {
    return FindValue(kValueTensor, [&](size_t tensor) {
      return file_.Field(tensor, field) != 0 && file_.Elements(tensor, kTensorSizes, 4).size >= dimensions;
    });
  }
  size_t FirstItem(uint8_t kind, size_t item_size) const {
    const auto filled = [&](size_t list) { return file_.Elements(list, kTensorListItems, item_size).size > 0; };
    return file_.Elements(FindValue(kind, filled), kTensorListItems, item_size).begin;
  }

  // The first tensor whose elements are in the file, and that no instruction writes.
  size_t Constant() const {
    return FindValue(kValueTensor, [&](size_t value) {
      return file_.Field(value, kTensorDataBufferIdx) != 0 && file_.Field(value, kTensorAllocationInfo) == 0;
    });
  }

 protected:
  Bytes bytes_;
  FlatBuffer file_;
  size_t program_;  // the root table
  size_t plan_;     // the first method

 private:
  static void Throw(const std::string&, const std::string& found) { throw std::runtime_error(found); }

  // FlatBuffer keeps a reference.
  static inline const std::string kPath = "the program";
};

}  // namespace rules_executorch
