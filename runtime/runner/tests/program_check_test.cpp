// Changes one number of an exported program and expects that the check finds the error.

#include "runtime/runner/program_check.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "runtime/fuzz/mutation.h"
#include "runtime/fuzz/program_places.h"
#include "runtime/runner/flat_buffer.h"
#include "runtime/runner/program_format.h"

namespace rules_executorch {
namespace {

std::string program_path;

void Throw(const std::string&, const std::string& found) { throw std::runtime_error(found); }

// The error of a program. Empty if there is none.
std::string Check(const Bytes& bytes) {
  try {
    CheckProgram(bytes.data(), bytes.size(), program_path, Throw);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

class ProgramCheckTest : public testing::Test, protected ProgramPlaces {
 protected:
  ProgramCheckTest() : ProgramPlaces(Read()) {}

  static Bytes Read() {
    std::ifstream file(program_path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  // The error of the program with another number at a position.
  template <typename T>
  std::string CheckWith(size_t place, T number) const {
    return Check(With(place, number));
  }
};

#define EXPECT_FOUND(text, found) EXPECT_PRED_FORMAT2(testing::IsSubstring, found, text)

TEST_F(ProgramCheckTest, AcceptsWhatAnExportWrites) { EXPECT_EQ(Check(bytes_), ""); }

TEST_F(ProgramCheckTest, RefusesWhatIsCutOff) {
  for (size_t size = 0; size < bytes_.size(); size += 3) {
    EXPECT_NE(Check(Bytes(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(size))), "") << size;
  }
}

TEST_F(ProgramCheckTest, RefusesOffsetsThatLeadOutOfTheFile) {
  EXPECT_FOUND(Check(Changed<uint32_t>(bytes_, 0, 0x7fffffff)), "an offset leads out of it");
  EXPECT_FOUND(CheckWith<int32_t>(program_, 0x7fffffff), "an offset leads out of it, before its beginning");
  EXPECT_FOUND(CheckWith<uint32_t>(file_.Field(plan_, kExecutionPlanValues), 0xfffffff0), "an offset leads out of it");
}

TEST_F(ProgramCheckTest, RefusesFilesThatNameTheSamePartsOverAndOver) {
  const auto read_until_refused = [&] {
    for (size_t i = 0; i < bytes_.size(); ++i) {
      file_.Tables(plan_, kExecutionPlanValues);
    }
  };
  EXPECT_THROW(read_until_refused(), std::runtime_error);
}

TEST_F(ProgramCheckTest, RefusesWrongHeaders) {
  EXPECT_FOUND(CheckWith<uint32_t>(4, 0), "it does not begin as one");
  EXPECT_FOUND(CheckWith<uint64_t>(16, bytes_.size() + 1), "bytes of");
  EXPECT_FOUND(CheckWith<uint64_t>(24, 64), "segment 0 is not in the file");
  EXPECT_FOUND(CheckWith<uint64_t>(24, ~uint64_t{0}), "bytes of");
}

TEST_F(ProgramCheckTest, RefusesIndicesOutOfRange) {
  const size_t call = Call(kInstructionKernelCall, kKernelCallOpIndex);
  EXPECT_FOUND(CheckWith<int32_t>(file_.Field(call, kKernelCallOpIndex), 999), "method forward: operator 999 of ");
  EXPECT_FOUND(CheckWith<int32_t>(file_.Field(call, kKernelCallOpIndex), -1), "operator -1 of ");
  EXPECT_FOUND(CheckWith<int32_t>(file_.Elements(call, kKernelCallArgs, 4).begin, 999), "value 999 of ");
  EXPECT_FOUND(CheckWith<int32_t>(file_.Elements(plan_, kExecutionPlanInputs, 4).begin, -5), "value -5 of ");
  EXPECT_FOUND(CheckWith<int32_t>(file_.Elements(plan_, kExecutionPlanOutputs, 4).begin, 999), "value 999 of ");
  const size_t jump = Call(kInstructionJumpFalseCall, kJumpFalseCallDestinationInstruction);
  EXPECT_FOUND(CheckWith<int32_t>(file_.Field(jump, kJumpFalseCallDestinationInstruction), 999), "instruction 999 of ");
  EXPECT_FOUND(CheckWith<int32_t>(file_.Field(jump, kJumpFalseCallCondValueIndex), 999), "value 999 of ");
  const size_t move = Call(kInstructionMoveCall, kMoveCallMoveTo);
  EXPECT_FOUND(CheckWith<int32_t>(file_.Field(move, kMoveCallMoveTo), 999), "value 999 of ");
  EXPECT_FOUND(CheckWith<int64_t>(FirstItem(kValueIntList, 8), 999), "value 999 of ");
}

TEST_F(ProgramCheckTest, RefusesListsOfWhatIsNoTensor) {
  const size_t item = FirstItem(kValueTensorList, 4);
  EXPECT_FOUND(CheckWith<int32_t>(item, 999), "value 999 of ");
  const auto values = file_.Tables(plan_, kExecutionPlanValues);
  for (size_t i = 0; i < values.size; ++i) {
    if (file_.Number<uint8_t>(file_.Table(values, i), kEValueValType) == kValueDouble) {
      EXPECT_FOUND(CheckWith(item, static_cast<int32_t>(i)), "no tensor, and in a list of tensors");
      return;
    }
  }
  FAIL() << "the program has no float";
}

TEST_F(ProgramCheckTest, RefusesTensorsThatCannotBe) {
  const size_t tensor = Tensor(kTensorAllocationInfo, 2);
  const size_t sizes = file_.Elements(tensor, kTensorSizes, 4).begin;
  const size_t dim_order = file_.Elements(tensor, kTensorDimOrder, 1).begin;
  EXPECT_FOUND(CheckWith<int32_t>(sizes, -1), "a tensor has a negative size");
  EXPECT_FOUND(CheckWith<uint32_t>(sizes - 4, 17), "a tensor has 17 dimensions");
  EXPECT_FOUND(CheckWith<uint32_t>(sizes - 4, 1), "a dim order that is none of its 1 dimensions");
  EXPECT_FOUND(CheckWith<uint8_t>(dim_order, 1), "a dim order that is none of its 2 dimensions");
  EXPECT_FOUND(CheckWith<int8_t>(file_.Field(tensor, kTensorScalarType), 99),
               "a dtype that the runtime does not know, 99");
  Bytes huge = Changed<int32_t>(bytes_, sizes, 0x7fffffff);
  EXPECT_FOUND(Check(Changed<int32_t>(huge, sizes + 4, 0x7fffffff)), "a tensor is larger than any memory");
}

TEST_F(ProgramCheckTest, RefusesTensorsOutsideOfTheirMemory) {
  const size_t tensor = Tensor(kTensorAllocationInfo);
  const size_t allocation = file_.Child(tensor, kTensorAllocationInfo);
  const char* expected = "a tensor that is not in the memory planned for it";
  EXPECT_FOUND(CheckWith<uint32_t>(file_.Field(allocation, kAllocationDetailsMemoryId), 9), expected);
  EXPECT_FOUND(CheckWith<uint32_t>(file_.Field(allocation, kAllocationDetailsMemoryId), 0), expected);
  const size_t buffers = file_.Elements(plan_, kExecutionPlanNonConstBufferSizes, 8).begin;
  EXPECT_FOUND(CheckWith<int64_t>(buffers + 8, 4), expected);
  EXPECT_FOUND(CheckWith<int64_t>(buffers + 8, -1), "a buffer of -1 bytes");
  const size_t moved = file_.Child(FindValue(kValueTensor,
                                             [&](size_t value) {
                                               return file_.Field(value, kTensorAllocationInfo) != 0 &&
                                                      file_.Field(file_.Child(value, kTensorAllocationInfo),
                                                                  kAllocationDetailsMemoryOffsetLow) != 0;
                                             }),
                                   kTensorAllocationInfo);
  const size_t offset = file_.Field(moved, kAllocationDetailsMemoryOffsetLow);
  EXPECT_FOUND(CheckWith<uint32_t>(offset, 0xfffffff0), expected);
  EXPECT_FOUND(CheckWith<uint32_t>(offset, 1), expected);
}

TEST_F(ProgramCheckTest, RefusesConstantsOutsideOfTheFile) {
  const size_t constant = Constant();
  EXPECT_FOUND(CheckWith<uint32_t>(file_.Field(constant, kTensorDataBufferIdx), 999), "constant 999 of ");
  const size_t sizes = file_.Elements(constant, kTensorSizes, 4).begin;
  EXPECT_FOUND(CheckWith<int32_t>(sizes, 1 << 20), "bytes that is not in the file");
  const size_t segment = file_.Table(file_.Tables(program_, kProgramSegments), 0);
  EXPECT_FOUND(CheckWith(file_.Field(segment, 1), ~uint64_t{0}), "segment 0 is not in the file");
  const size_t offsets = file_.Child(program_, kProgramConstantSegment);
  const size_t first = file_.Elements(offsets, kSubsegmentOffsetsOffsets, 8).begin;
  EXPECT_FOUND(CheckWith(first + 8, ~uint64_t{0}), "a constant is not in its segment");
  EXPECT_FOUND(CheckWith(first + 8, uint64_t{1}), "bytes that is not in the file");
}

TEST_F(ProgramCheckTest, RefusesTensorsWithoutMemory) {
  const size_t tensor = FindValue(kValueTensor, [&](size_t value) {
    return file_.Field(value, kTensorAllocationInfo) != 0 && file_.Field(value, kTensorDataBufferIdx) == 0;
  });
  const size_t layout = static_cast<size_t>(static_cast<int64_t>(tensor) - file_.Read<int32_t>(tensor));
  EXPECT_FOUND(CheckWith<uint16_t>(layout + 4 + 2 * kTensorAllocationInfo, 0),
               "is used, and no memory is planned for it");
}

TEST_F(ProgramCheckTest, RefusesInstructionsThatFreeMemory) {
  const size_t instruction = FindInstruction(kInstructionKernelCall, [](size_t) { return true; });
  EXPECT_FOUND(CheckWith<uint8_t>(file_.Field(instruction, kInstructionInstrArgsType), kInstructionFreeCall),
               "an instruction of kind 5");
}

}  // namespace
}  // namespace rules_executorch

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  rules_executorch::program_path = argv[1];
  return RUN_ALL_TESTS();
}
