// Changes one number of the data that an exported program has for XNNPACK, and expects that the check finds the error.

#include "runtime/runner/xnnpack_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "runtime/fuzz/mutation.h"
#include "runtime/fuzz/program_places.h"
#include "runtime/runner/program_check.h"
#include "runtime/runner/xnnpack_format.h"

namespace rules_executorch {
namespace {

std::string program_path;

void Throw(const std::string&, const std::string& found) { throw std::runtime_error(found); }

Bytes Read() {
  std::ifstream file(program_path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class XnnpackCheckTest : public testing::Test {
 protected:
  XnnpackCheckTest()
      : program_(Read()),
        header_(Find("XH00") - 4),
        graph_begin_(header_ +
                     FlatBuffer(program_.data(), program_.size(), program_path, Throw).Read<uint32_t>(header_ + 10)),
        graph_(program_.data() + graph_begin_, program_.size() - graph_begin_, program_path, Throw),
        root_(graph_.Root()) {}

  size_t Find(const std::string& text) const {
    return static_cast<size_t>(std::search(program_.begin(), program_.end(), text.begin(), text.end()) -
                               program_.begin());
  }

  // The error of the whole program. Empty if there is none.
  static std::string Check(const Bytes& program) {
    try {
      CheckProgram(program.data(), program.size(), program_path, Throw);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  // The error with another number at a position after the beginning of XNNPACK's header, or of the graph.
  template <typename T>
  std::string WithHeader(size_t place, T number) const {
    return Check(ProgramPlaces::Changed(program_, header_ + place, number));
  }
  template <typename T>
  std::string WithGraph(size_t place, T number) const {
    EXPECT_NE(place, 0U) << "no such field";
    return Check(ProgramPlaces::Changed(program_, graph_begin_ + place, number));
  }

  // The first tensor for which a condition holds: an input, or a constant.
  size_t Tensor(bool is_constant) const {
    const auto values = graph_.Tables(root_, kXNNGraphXvalues);
    for (size_t i = 0; i < values.size; ++i) {
      const size_t tensor = graph_.Child(graph_.Table(values, i), kXValueXvalueUnion);
      if ((graph_.Field(tensor, kXNNTensorValueConstantBufferIdx) != 0) == is_constant) {
        return tensor;
      }
    }
    throw std::runtime_error("no such tensor");
  }

  Bytes program_;
  size_t header_;
  size_t graph_begin_;
  FlatBuffer graph_;
  size_t root_;
};

#define EXPECT_FOUND(text, found) EXPECT_PRED_FORMAT2(testing::IsSubstring, found, text)

TEST_F(XnnpackCheckTest, AcceptsWhatAnExportWrites) { EXPECT_EQ(Check(program_), ""); }

TEST_F(XnnpackCheckTest, RefusesWrongHeaders) {
  EXPECT_FOUND(WithHeader<uint32_t>(4, 0), "method forward: the data for XNNPACK: it does not begin with XNNPACK's");
  EXPECT_FOUND(WithHeader<uint32_t>(10, 0x7fffffff), "its graph or its constants are not in its ");
  EXPECT_FOUND(WithHeader<uint32_t>(14, 0x7fffffff), "its graph or its constants are not in its ");
  EXPECT_FOUND(WithHeader<uint32_t>(18, 0x7fffffff), "its graph or its constants are not in its ");
  EXPECT_FOUND(WithHeader<uint64_t>(22, ~uint64_t{0}), "its graph or its constants are not in its ");
  EXPECT_FOUND(WithGraph<uint32_t>(4, 0), "it has no graph of XNNPACK");
}

TEST_F(XnnpackCheckTest, RefusesConstantsThatAreNotThere) {
  const auto constants = graph_.Tables(root_, kXNNGraphConstantData);
  ASSERT_GT(constants.size, 1U);
  const size_t constant = graph_.Table(constants, 1);
  // The program has the constants under names. Without a name, they would be after the graph, where nothing is.
  const size_t name = graph_.Child(constant, kConstantDataOffsetNamedKey);
  EXPECT_FOUND(WithGraph<uint32_t>(name, 0), "has no end");
  const size_t layout = static_cast<size_t>(static_cast<int64_t>(constant) - graph_.Read<int32_t>(constant));
  EXPECT_FOUND(WithGraph<uint16_t>(layout + 4 + 2 * kConstantDataOffsetNamedKey, 0), "constant 1 is not in it");
  const size_t tensor = Tensor(/*is_constant=*/true);
  EXPECT_FOUND(WithGraph<uint32_t>(graph_.Field(tensor, kXNNTensorValueConstantBufferIdx), 99), "constant 99 of ");
  const size_t dims = graph_.Elements(tensor, kXNNTensorValueDims, sizeof(uint32_t)).begin;
  EXPECT_FOUND(WithGraph<uint32_t>(dims, 9999), "constant 1 has 48 bytes of 159984");
}

TEST_F(XnnpackCheckTest, RefusesValuesThatCannotBe) {
  const size_t tensor = Tensor(/*is_constant=*/false);
  EXPECT_FOUND(WithGraph<uint32_t>(graph_.Field(tensor, kXNNTensorValueNumDims), 9), "other than its 2 dimensions");
  EXPECT_FOUND(WithGraph<uint16_t>(graph_.Field(tensor, kXNNTensorValueDatatype), 99), "a value of datatype 99");
  EXPECT_FOUND(WithGraph<uint32_t>(graph_.Field(root_, kXNNGraphNumExterns), 99), "99 inputs and outputs of 4 values");
  EXPECT_FOUND(WithGraph<uint32_t>(graph_.Field(root_, kXNNGraphNumExterns), 1), "input or output 1 of 1");
  EXPECT_FOUND(WithGraph<uint32_t>(graph_.Field(root_, kXNNGraphNumExterns), 4),
               "a call of a delegate with 2 of its 4 tensors");
}

TEST_F(XnnpackCheckTest, RefusesNodesOfOtherValues) {
  const size_t node = graph_.Child(graph_.Table(graph_.Tables(root_, kXNNGraphXnodes), 0), kXNodeXnodeUnion);
  EXPECT_FOUND(WithGraph<uint32_t>(graph_.Field(node, 1), 99), "value 99, which is not defined");
  EXPECT_FOUND(WithGraph<uint32_t>(graph_.Elements(root_, kXNNGraphOutputIds, 4).begin, 99), "value 99, which is not");
}

TEST_F(XnnpackCheckTest, ReadsAnyChange) {
  size_t refused = 0;
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    std::string changes;
    refused += Check(Mutate(program_, program_, seed, &changes)).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 5000U);
}

}  // namespace
}  // namespace rules_executorch

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  rules_executorch::program_path = argv[1];
  return RUN_ALL_TESTS();
}
