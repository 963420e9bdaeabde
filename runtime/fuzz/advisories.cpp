#include "runtime/fuzz/advisories.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/fuzz/program_places.h"

namespace rules_executorch {
namespace {

constexpr int32_t kNoIndex = 999;
constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

// In the file's header: the size of the FlatBuffer, and the start of the segments.
constexpr size_t kProgramSize = 16;
constexpr size_t kSegmentsBegin = 24;
// Keeps the alignment of the segments.
constexpr size_t kRoom = 4096;

class Advisories : private ProgramPlaces {
 public:
  explicit Advisories(const Bytes& program) : ProgramPlaces(program) {}

  std::vector<Advisory> Make() {
    AddIndicesOfValues();
    AddOverlappingMemory();
    AddMemoryOutsideOfItsBuffer();
    AddLargeTensors();
    AddIndicesOfParts();
    AddListsOfAnotherLength();
    AddSizesThatWrapAround();
    return std::move(advisories_);
  }

 private:
  template <typename T>
  void Add(const std::string& name, size_t place, T number, const std::string& error) {
    AddProgram(name, With(place, number), error);
  }
  void AddProgram(const std::string& name, Bytes program, const std::string& error) {
    advisories_.push_back({name, std::move(program), error});
  }

  // Puts bytes at the end of the FlatBuffer, and lets an offset lead to a place in them.
  static Bytes WithPart(Bytes program, size_t offset, const Bytes& part, size_t place) {
    uint64_t begin = 0;
    std::memcpy(&begin, program.data() + kSegmentsBegin, sizeof(begin));
    const auto at = program.begin() + static_cast<std::ptrdiff_t>(begin);
    std::copy(part.begin(), part.end(), program.insert(at, kRoom, 0));
    program = Changed(std::move(program), offset, static_cast<uint32_t>(begin + place - offset));
    program = Changed<uint64_t>(std::move(program), kProgramSize, begin + kRoom);
    return Changed<uint64_t>(std::move(program), kSegmentsBegin, begin + kRoom);
  }

  // Puts another vector into a field.
  template <typename T>
  static Bytes WithVector(Bytes program, size_t field, const std::vector<T>& items) {
    // Before the items is their number. Items of eight bytes must begin at a multiple of eight.
    constexpr size_t kCount = sizeof(T) - std::min(sizeof(T), sizeof(uint32_t));
    constexpr size_t kItems = kCount + sizeof(uint32_t);
    Bytes part(kItems + items.size() * sizeof(T));
    part = Changed(std::move(part), kCount, static_cast<uint32_t>(items.size()));
    for (size_t i = 0; i < items.size(); ++i) {
      part = Changed(std::move(part), kItems + i * sizeof(T), items[i]);
    }
    return WithPart(std::move(program), field, part, kCount);
  }

  // The program with a tensor in another place of the planned memory.
  Bytes WithAllocation(size_t tensor, uint32_t buffer, uint64_t offset) const {
    // A table comes after its layout, which has its own size, the size of the table, and the offsets of the fields.
    const uint16_t layout[] = {10, 16, 4, 8, 12, 0};
    const uint32_t table[] = {sizeof(layout), buffer, static_cast<uint32_t>(offset),
                              static_cast<uint32_t>(offset >> 32)};
    Bytes part(sizeof(layout) + sizeof(table));
    std::memcpy(part.data(), layout, sizeof(layout));
    std::memcpy(part.data() + sizeof(layout), table, sizeof(table));
    return WithPart(bytes_, file_.Field(tensor, kTensorAllocationInfo), part, sizeof(layout));
  }

  size_t Segment() const { return file_.Table(file_.Tables(program_, kProgramSegments), 0); }

  void AddIndicesOfValues() {
    const std::string name = "CVE-2025-30402, heap overflow when a method is loaded: ";
    const std::string error = "method forward: value 999 of ";
    Add(name + "an input", file_.Elements(plan_, kExecutionPlanInputs, 4).begin, kNoIndex, error);
    Add(name + "an output", file_.Elements(plan_, kExecutionPlanOutputs, 4).begin, kNoIndex, error);
    Add<int64_t>(name + "a list of ints", FirstItem(kValueIntList, 8), kNoIndex, error);
    Add(name + "a list of tensors", FirstItem(kValueTensorList, 4), kNoIndex, error);
    Add(name + "a list of optional tensors", FirstItem(kValueOptionalTensorList, 4), kNoIndex, error);
    const size_t call = Call(kInstructionKernelCall, kKernelCallArgs);
    Add(name + "an argument", file_.Elements(call, kKernelCallArgs, 4).begin, kNoIndex, error);
    const size_t move = Call(kInstructionMoveCall, kMoveCallMoveTo);
    Add(name + "a move", file_.Field(move, kMoveCallMoveTo), kNoIndex, error);
  }

  void AddOverlappingMemory() {
    const std::string name = "CVE-2025-30404, integer overflow that makes allocations overlap: ";
    const size_t sizes = file_.Field(plan_, kExecutionPlanNonConstBufferSizes);
    AddProgram(name + "the sum of buffers", WithVector<int64_t>(bytes_, sizes, {0, kLargest, kLargest, kLargest}),
               "method forward plans 18446744073709551615 bytes of memory, which cannot be had");
    Add<int64_t>(name + "a buffer", file_.Elements(plan_, kExecutionPlanNonConstBufferSizes, 8).begin + 8, kLargest,
                 "bytes of memory, which cannot be had");
    Add<int64_t>(name + "a negative buffer", file_.Elements(plan_, kExecutionPlanNonConstBufferSizes, 8).begin + 8, -1,
                 "method forward: a buffer of -1 bytes");
  }

  void AddMemoryOutsideOfItsBuffer() {
    const std::string name = "CVE-2025-30405, integer overflow that places objects outside of their memory: ";
    const std::string error = "method forward: a tensor that is not in the memory planned for it";
    const size_t tensor = Tensor(kTensorAllocationInfo);
    AddProgram(name + "the end wraps around", WithAllocation(tensor, 1, ~uint64_t{0} - 7), error);
    AddProgram(name + "the high half of an offset", WithAllocation(tensor, 1, uint64_t{1} << 32), error);
    AddProgram(name + "the low half of an offset", WithAllocation(tensor, 1, 0xfffffff0), error);
    AddProgram(name + "no buffer", WithAllocation(tensor, kNoIndex, 0), error);
    AddProgram(name + "buffer 0", WithAllocation(tensor, 0, 0), error);
  }

  void AddLargeTensors() {
    const std::string name = "CVE-2025-54949, heap overflow when a program is loaded: ";
    const std::string error = "bytes that is not in the file";
    Add(name + "a constant", file_.Elements(Constant(), kTensorSizes, 4).begin, 1 << 20, error);
    const size_t tensor = Tensor(kTensorAllocationInfo);
    Add(name + "a tensor with planned memory", file_.Elements(tensor, kTensorSizes, 4).begin, 1 << 20,
        "a tensor that is not in the memory planned for it");
    const size_t state = FindValue(kValueTensor, [&](size_t value) {
      return file_.Field(value, kTensorAllocationInfo) != 0 && file_.Field(value, kTensorDataBufferIdx) != 0;
    });
    Add(name + "the initial state", file_.Field(state, kTensorDataBufferIdx), kNoIndex, "constant 999 of ");
    const size_t offsets = file_.Child(program_, kProgramConstantSegment);
    Add(name + "the end of a constant", file_.Elements(offsets, kSubsegmentOffsetsOffsets, 8).begin + 8, uint64_t{1},
        error);
  }

  void AddIndicesOfParts() {
    const std::string name = "CVE-2025-54950, out-of-bounds read when a program is loaded: ";
    Add(name + "a constant", file_.Field(Constant(), kTensorDataBufferIdx), kNoIndex, "constant 999 of ");
    const size_t call = Call(kInstructionKernelCall, kKernelCallOpIndex);
    Add(name + "an operator", file_.Field(call, kKernelCallOpIndex), kNoIndex, "operator 999 of ");
    const size_t jump = Call(kInstructionJumpFalseCall, kJumpFalseCallDestinationInstruction);
    Add(name + "a jump", file_.Field(jump, kJumpFalseCallDestinationInstruction), kNoIndex, "instruction 999 of ");
    Add(name + "a condition", file_.Field(jump, kJumpFalseCallCondValueIndex), kNoIndex, "value 999 of ");
    const size_t offsets = file_.Child(program_, kProgramConstantSegment);
    Add(name + "the offset of a constant", file_.Elements(offsets, kSubsegmentOffsetsOffsets, 8).begin + 8,
        ~uint64_t{0}, "a constant is not in its segment");
  }

  void AddListsOfAnotherLength() {
    const std::string name = "CVE-2025-54951, buffer overflows when a program is loaded: ";
    const size_t tensor = Tensor(kTensorAllocationInfo, 2);
    const size_t sizes = file_.Field(tensor, kTensorSizes);
    const size_t dim_order = file_.Field(tensor, kTensorDimOrder);
    AddProgram(name + "more dimensions than the runtime has", WithVector(bytes_, sizes, std::vector<int32_t>(17, 1)),
               "a tensor has 17 dimensions");
    AddProgram(name + "fewer sizes than dimensions", WithVector<int32_t>(bytes_, sizes, {1}),
               "a tensor has a dim order that is none of its 1 dimensions");
    AddProgram(name + "a longer dim order", WithVector(bytes_, dim_order, std::vector<uint8_t>(200, 0)),
               "a tensor has a dim order that is none of its 2 dimensions");
    AddProgram(name + "no dim order", WithVector<uint8_t>(bytes_, dim_order, {}),
               "a tensor has a dim order that is none of its 2 dimensions");
    AddProgram(name + "a dimension that does not exist", WithVector<uint8_t>(bytes_, dim_order, {0, 200}),
               "a tensor has a dim order that is none of its 2 dimensions");
    Add(name + "a dimension twice", file_.Elements(tensor, kTensorDimOrder, 1).begin, uint8_t{1},
        "a tensor has a dim order that is none of its 2 dimensions");
    Add(name + "a dtype that does not exist", file_.Field(tensor, kTensorScalarType), int8_t{99},
        "a tensor has a dtype that the runtime does not know, 99");
    Add(name + "a segment", file_.Field(Segment(), 1), uint64_t{1} << 20, "segment 0 is not in the file");
  }

  void AddSizesThatWrapAround() {
    const std::string name = "CVE-2025-54952, integer overflow that makes memory too small: ";
    const size_t tensor = Tensor(kTensorAllocationInfo, 2);
    const size_t sizes = file_.Field(tensor, kTensorSizes);
    // The elements are 2^62, of four bytes each: in 64 bits, their bytes are 0.
    Bytes program = WithVector<int32_t>(bytes_, sizes, {1 << 30, 1 << 30, 1 << 2});
    program = WithVector<uint8_t>(std::move(program), file_.Field(tensor, kTensorDimOrder), {2, 1, 0});
    AddProgram(name + "the bytes of a tensor", std::move(program), "a tensor is larger than its strides can count");
    Add(name + "the sizes of a tensor", file_.Elements(tensor, kTensorSizes, 4).begin, -1,
        "a tensor has a negative size");
    Add(name + "the values of a method", file_.Elements(plan_, kExecutionPlanValues, 4).begin - 4, 0x40000001,
        "an offset leads out of it");
    Add(name + "the end of a segment", file_.Field(Segment(), 1), ~uint64_t{0}, "segment 0 is not in the file");
    Add(name + "the start of the segments", kSegmentsBegin, ~uint64_t{0}, "bytes of ");
  }

  std::vector<Advisory> advisories_;
};

}  // namespace

std::vector<Advisory> MakeAdvisories(const Bytes& program) { return Advisories(program).Make(); }

}  // namespace rules_executorch
