#include "runtime/runner/program_check.h"

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/runner/flat_file.h"
#include "runtime/runner/program_format.h"
#include "runtime/runner/xnnpack_check.h"

namespace rules_executorch {
namespace {

using Vector = FlatBuffer::Vector;

// After the first eight bytes of a file: a magic word, the size of this header, the size of the FlatBuffer, and the
// start of the segments.
constexpr size_t kHeader = 8;
constexpr size_t kProgramSize = 16;
constexpr size_t kSegmentsBegin = 24;
constexpr size_t kHeaderEnd = 32;

// The operator of views whose sizes or memory the program does not know. It gives the last argument the memory of the
// first one: (Tensor, sizes, Tensor out).
constexpr char kView[] = "executorch_prim::et_view";
constexpr size_t kViewArguments = 3;

// A value of a method. Instructions cannot use a tensor without memory.
struct MethodValue {
  uint8_t kind;
  bool has_memory;
};

class ProgramCheck {
 public:
  ProgramCheck(const uint8_t* bytes, size_t file_size, size_t size, const std::string& path, FlatBuffer::Refuse refuse)
      : bytes_(bytes), file_size_(file_size), path_(path), refuse_(refuse), file_(bytes, size, path, refuse) {}

  std::vector<ExternalData> Check(size_t segments_begin) {
    const size_t program = file_.Root();
    segments_ = ReadSegments(file_, file_.Tables(program, kProgramSegments), segments_begin, file_size_);
    ReadConstants(program);
    const Vector plans = file_.Tables(program, kProgramExecutionPlan);
    if (plans.size == 0) {
      file_.Fail("it has no methods");
    }
    for (size_t i = 0; i < plans.size; ++i) {
      CheckPlan(file_.Table(plans, i));
    }
    return std::move(external_);
  }

 private:
  // Checks an index against the number of elements.
  size_t Index(int64_t index, size_t count, const char* of) const {
    if (index < 0 || static_cast<uint64_t>(index) >= count) {
      file_.Fail("%s %lld of %zu", of, static_cast<long long>(index), count);
    }
    return static_cast<size_t>(index);
  }

  Range Segment(size_t table, int number) const {
    return segments_[Index(file_.Number<uint32_t>(table, number), segments_.size(), "segment")];
  }

  // The ranges of tensors in a segment, from their offsets to the end of the segment.
  std::vector<Range> Subsegments(size_t table) const {
    std::vector<Range> ranges;
    const Vector offsets = file_.Elements(table, kSubsegmentOffsetsOffsets, sizeof(uint64_t));
    for (size_t i = 0; i < offsets.size; ++i) {
      const Range segment = Segment(table, kSubsegmentOffsetsSegmentIndex);
      const uint64_t offset = file_.Element<uint64_t>(offsets, i);
      if (offset > segment.size) {
        file_.Fail("a constant is not in its segment");
      }
      ranges.push_back({segment.begin + static_cast<size_t>(offset), segment.size - static_cast<size_t>(offset)});
    }
    return ranges;
  }

  void ReadConstants(size_t program) {
    if (file_.Field(program, kProgramConstantSegment) != 0) {
      constants_ = Subsegments(file_.Child(program, kProgramConstantSegment));
    }
    // The first constant stands for no constant. If a segment has no other constants, the FlatBuffer has them.
    if (constants_.size() < 2) {
      constants_.clear();
      const Vector buffers = file_.Tables(program, kProgramConstantBuffer);
      for (size_t i = 0; i < buffers.size; ++i) {
        const Vector storage = file_.Elements(file_.Table(buffers, i), kBufferStorage, 1);
        constants_.push_back({storage.begin, storage.size});
      }
    }
    const Vector mutable_segments = file_.Tables(program, kProgramMutableDataSegments);
    if (mutable_segments.size > 0) {
      initial_ = Subsegments(file_.Table(mutable_segments, 0));
    }
    const Vector named = file_.Tables(program, kProgramNamedData);
    for (size_t i = 0; i < named.size; ++i) {
      const std::string_view key = file_.Text(file_.Table(named, i), kNamedDataKey);
      named_[key] = Segment(file_.Table(named, i), kNamedDataSegmentIndex).size;
    }
    const Vector delegates = file_.Tables(program, kProgramBackendDelegateData);
    for (size_t i = 0; i < delegates.size; ++i) {
      const size_t data = file_.Table(delegates, i);
      file_.Child(data, kBackendDelegateInlineDataData);
      const Vector bytes = file_.Elements(data, kBackendDelegateInlineDataData, 1);
      inline_delegates_.push_back({bytes.begin, bytes.size});
    }
  }

  void CheckPlan(size_t plan) {
    file_.set_place("method " + std::string(file_.Text(plan, kExecutionPlanName)) + ": ");
    ReadBuffers(plan);
    CheckValues(plan);
    CheckDelegates(plan);
    const Vector operators = file_.Tables(plan, kExecutionPlanOperators);
    views_.clear();
    for (size_t i = 0; i < operators.size; ++i) {
      views_.push_back(file_.Text(file_.Table(operators, i), kOperatorName) == kView);
      file_.Text(file_.Table(operators, i), kOperatorOverload);
    }
    CheckChains(plan, operators.size);
  }

  void ReadBuffers(size_t plan) {
    const Vector sizes = file_.Elements(plan, kExecutionPlanNonConstBufferSizes, sizeof(int64_t));
    buffers_.clear();
    for (size_t i = 0; i < sizes.size; ++i) {
      const int64_t size = file_.Element<int64_t>(sizes, i);
      if (size < 0) {
        file_.Fail("a buffer of %lld bytes", static_cast<long long>(size));
      }
      buffers_.push_back(static_cast<uint64_t>(size));
    }
    const Vector devices = file_.Tables(plan, kExecutionPlanNonConstBufferDevice);
    for (size_t i = 0; i < devices.size; ++i) {
      if (file_.Number<uint8_t>(file_.Table(devices, i), kNonConstBufferDeviceDeviceType) != 0) {
        file_.Fail("a buffer on a device; the runner has the memory of the CPU only");
      }
    }
  }

  void CheckValues(size_t plan) {
    const Vector values = file_.Tables(plan, kExecutionPlanValues);
    values_.clear();
    listed_.clear();
    for (size_t i = 0; i < values.size; ++i) {
      const size_t value = file_.Table(values, i);
      const uint8_t kind = file_.Number<uint8_t>(value, kEValueValType);
      // In the order of the values, because the runtime creates lists of tensors from the previous tensors.
      values_.push_back({kind, true});
      if (kind != kValueNull) {
        CheckValue(kind, file_.Child(value, kEValueVal), values.size);
      }
    }
    for (size_t index : Indices(plan, kExecutionPlanInputs)) {
      values_[index].has_memory = true;
    }
  }

  void CheckValue(uint8_t kind, size_t value, size_t count) {
    switch (kind) {
      case kValueTensor:
        values_.back().has_memory = CheckTensor(value);
        return;
      case kValueString:
        file_.Text(value, kStringStringVal);
        return;
      case kValueIntList: {
        const Vector items = file_.Elements(value, kTensorListItems, sizeof(int64_t));
        for (size_t i = 0; i < items.size; ++i) {
          Index(file_.Element<int64_t>(items, i), count, "value");
        }
        return;
      }
      case kValueBoolList: {
        const Vector items = file_.Elements(value, kTensorListItems, 1);
        for (size_t i = 0; i < items.size; ++i) {
          Index(file_.Element<uint8_t>(items, i), 2, "bool");
        }
        return;
      }
      case kValueTensorList:
      case kValueOptionalTensorList: {
        const Vector items = file_.Elements(value, kTensorListItems, sizeof(int32_t));
        for (size_t i = 0; i < items.size; ++i) {
          CheckItem(file_.Element<int32_t>(items, i), kind == kValueOptionalTensorList);
        }
        return;
      }
    }
  }

  // Checks an item of a list of tensors. The list is the last value.
  void CheckItem(int32_t item, bool optional) {
    if (optional && item == -1) {
      return;
    }
    const uint8_t kind = values_[Index(item, values_.size() - 1, "value")].kind;
    if (kind != kValueTensor && !(optional && kind == kValueNull)) {
      file_.Fail("value %d is no tensor, and in a list of tensors", item);
    }
    listed_.push_back(static_cast<size_t>(item));
  }

  // Checks a tensor. Returns false if the tensor has no memory.
  bool CheckTensor(size_t tensor) {
    const Layout layout = ReadLayout(file_, tensor, kTensorSizes, kTensorDimOrder, "a tensor");
    const size_t element_size = executorch::runtime::elementSize(layout.dtype);
    const size_t size = layout.nbytes();
    const size_t extra =
        file_.Field(tensor, kTensorExtraTensorInfo) == 0 ? 0 : file_.Child(tensor, kTensorExtraTensorInfo);
    const uint8_t location = extra == 0 ? 0 : file_.Number<uint8_t>(extra, kExtraTensorInfoLocation);
    if (location > 1) {
      file_.Fail("a tensor whose content is in a place of kind %d", location);
    }
    const bool is_external = location == 1;
    const uint32_t constant = file_.Number<uint32_t>(tensor, kTensorDataBufferIdx);
    const bool planned = file_.Field(tensor, kTensorAllocationInfo) != 0;
    if (is_external && (planned || constant != 0)) {
      file_.Fail("a tensor whose content is in another file, and that has memory here");
    }
    if (is_external) {
      external_.push_back({std::string(file_.Text(extra, kExtraTensorInfoFullyQualifiedName)), size, layout});
    }
    if (planned) {
      const size_t allocation = file_.Child(tensor, kTensorAllocationInfo);
      const uint64_t offset =
          file_.Number<uint32_t>(allocation, kAllocationDetailsMemoryOffsetLow) |
          static_cast<uint64_t>(file_.Number<uint32_t>(allocation, kAllocationDetailsMemoryOffsetHigh)) << 32;
      const uint32_t buffer = file_.Number<uint32_t>(allocation, kAllocationDetailsMemoryId);
      if (buffer == 0 || buffer >= buffers_.size() || offset > buffers_[buffer] || size > buffers_[buffer] - offset ||
          offset % element_size != 0) {
        file_.Fail("a tensor that is not in the memory planned for it");
      }
    }
    if (constant != 0) {
      const std::vector<Range>& constants = planned ? initial_ : constants_;
      const Range range = constants[Index(constant, constants.size(), "constant")];
      // The runtime copies the first value of state, at any offset, to the memory planned for it.
      if (size > range.size || (!planned && range.begin % element_size != 0)) {
        file_.Fail("a tensor of %zu bytes that is not in the file", size);
      }
    }
    return planned || constant != 0 || is_external || size == 0;
  }

  std::vector<size_t> Indices(size_t table, int number) const {
    std::vector<size_t> indices;
    const Vector items = file_.Elements(table, number, sizeof(int32_t));
    for (size_t i = 0; i < items.size; ++i) {
      indices.push_back(Index(file_.Element<int32_t>(items, i), values_.size(), "value"));
    }
    return indices;
  }

  void CheckDelegates(size_t plan) {
    const Vector delegates = file_.Tables(plan, kExecutionPlanDelegates);
    const std::string name(file_.Text(plan, kExecutionPlanName));
    const std::string place = "method " + name + ": the data for XNNPACK: ";
    delegate_tensors_.clear();
    for (size_t i = 0; i < delegates.size; ++i) {
      const size_t delegate = file_.Table(delegates, i);
      const bool is_xnnpack = file_.Text(delegate, kBackendDelegateId) == kXnnpackBackend;
      const size_t processed = file_.Child(delegate, kBackendDelegateProcessed);
      const bool is_inline = file_.Number<uint8_t>(processed, kBackendDelegateDataReferenceLocation) == 0;
      const std::vector<Range>& known = is_inline ? inline_delegates_ : segments_;
      const Range data = known[Index(file_.Number<uint32_t>(processed, kBackendDelegateDataReferenceIndex),
                                     known.size(), "data of a delegate")];
      delegate_tensors_.push_back(
          is_xnnpack ? CheckXnnpackData(bytes_ + data.begin, data.size, named_, path_, place, refuse_, &external_) : 0);
      file_.Child(delegate, kBackendDelegateCompileSpecs);
      const Vector specs = file_.Tables(delegate, kBackendDelegateCompileSpecs);
      for (size_t j = 0; j < specs.size; ++j) {
        file_.Text(file_.Table(specs, j), kCompileSpecKey);
        file_.Child(file_.Table(specs, j), kCompileSpecValue);
      }
    }
  }

  void CheckChains(size_t plan, size_t operators) {
    const Vector chains = file_.Tables(plan, kExecutionPlanChains);
    for (size_t i = 0; i < chains.size; ++i) {
      const Vector instructions = file_.Tables(file_.Table(chains, i), kChainInstructions);
      for (size_t j = 0; j < instructions.size; ++j) {
        const size_t instruction = file_.Table(instructions, j);
        CheckInstruction(file_.Number<uint8_t>(instruction, kInstructionInstrArgsType),
                         file_.Child(instruction, kInstructionInstrArgs), operators, instructions.size);
      }
    }
    for (size_t index : Indices(plan, kExecutionPlanOutputs)) {
      Use(index);
    }
    for (size_t index : listed_) {
      Use(index);
    }
  }

  void CheckInstruction(uint8_t kind, size_t call, size_t operators, size_t instructions) {
    switch (kind) {
      case kInstructionKernelCall: {
        const size_t called = Index(file_.Number<int32_t>(call, kKernelCallOpIndex), operators, "operator");
        const std::vector<size_t> arguments = Indices(call, kKernelCallArgs);
        // In a branch, a view of an argument of the branch has no memory until the call gives it that of the argument.
        if (views_[called] && arguments.size() == kViewArguments) {
          Use(arguments[0]);
          values_[arguments.back()].has_memory = true;
        }
        return UseAll(arguments);
      }
      case kInstructionDelegateCall: {
        const size_t called =
            Index(file_.Number<int32_t>(call, kDelegateCallDelegateIndex), delegate_tensors_.size(), "delegate");
        const std::vector<size_t> arguments = Indices(call, kDelegateCallArgs);
        if (arguments.size() < delegate_tensors_[called]) {
          file_.Fail("a call of a delegate with %zu of its %zu tensors", arguments.size(), delegate_tensors_[called]);
        }
        return UseAll(arguments);
      }
      case kInstructionMoveCall:
        Use(Index(file_.Number<int32_t>(call, kMoveCallMoveFrom), values_.size(), "value"));
        values_[Index(file_.Number<int32_t>(call, kMoveCallMoveTo), values_.size(), "value")].has_memory = true;
        return;
      case kInstructionJumpFalseCall:
        Use(Index(file_.Number<int32_t>(call, kJumpFalseCallCondValueIndex), values_.size(), "value"));
        Index(file_.Number<int32_t>(call, kJumpFalseCallDestinationInstruction), instructions + 1, "instruction");
        return;
      default:
        // Instructions that free memory are for tensors of unbounded shape, which the runtime does not support.
        file_.Fail("an instruction of kind %d", kind);
    }
  }

  void UseAll(const std::vector<size_t>& indices) const {
    for (size_t index : indices) {
      Use(index);
    }
  }

  // Checks a value that an instruction reads or writes.
  void Use(size_t index) const {
    if (!values_[index].has_memory) {
      file_.Fail("tensor %zu is used, and no memory is planned for it", index);
    }
  }

  const uint8_t* bytes_;
  size_t file_size_;
  const std::string& path_;
  FlatBuffer::Refuse refuse_;
  FlatBuffer file_;
  std::vector<Range> segments_;
  std::vector<Range> constants_;
  std::vector<Range> initial_;
  std::map<std::string_view, size_t> named_;
  std::vector<ExternalData> external_;
  std::vector<Range> inline_delegates_;
  // Data of the current method.
  std::vector<uint64_t> buffers_;
  std::vector<MethodValue> values_;
  std::vector<size_t> listed_;
  std::vector<bool> views_;               // for each operator, whether it is kView
  std::vector<size_t> delegate_tensors_;  // for each delegate, the number of tensors of a call
};

}  // namespace

std::vector<ExternalData> CheckProgram(const uint8_t* bytes, size_t size, const std::string& path,
                                       FlatBuffer::Refuse refuse) {
  const FlatBuffer file(bytes, size, path, refuse);
  size_t program_size = size;
  size_t segments_begin = size;
  file.Read<uint64_t>(kHeader);
  if (std::memcmp(bytes + 4, "ET12", 4) != 0) {
    file.Fail("it does not begin as one");
  }
  if (std::memcmp(bytes + kHeader, "eh00", 4) == 0) {
    file.Read<uint64_t>(kHeaderEnd - 8);
    program_size = static_cast<size_t>(file.Read<uint64_t>(kProgramSize));
    segments_begin = static_cast<size_t>(file.Read<uint64_t>(kSegmentsBegin));
    if (program_size > size || segments_begin > size) {
      file.Fail("it has %zu bytes of %zu", size, std::max(program_size, segments_begin));
    }
  }
  return ProgramCheck(bytes, size, program_size, path, refuse).Check(segments_begin);
}

}  // namespace rules_executorch
