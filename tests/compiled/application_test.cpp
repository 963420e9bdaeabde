// What an application sees of compiled programs.

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/kernel_api/threads.h"
#include "tests/compiled/lenet.h"
#include "tests/compiled/lenet_by_pointer.h"
#include "tests/compiled/lenet_small.h"
#include "tests/compiled/lenet_with_scratch.h"
#include "tests/compiled/methods.h"
#include "tests/compiled/paired_sizes.h"
#include "tests/compiled/shapes.h"
#include "tests/compiled/state.h"

namespace {

constexpr uint32_t kInvalidArgument = 0x12, kMemoryAllocationFailed = 0x21;

alignas(64) uint8_t scratch[1 << 20];

// Loops need no scratch memory.
static_assert(lenet_small::Forward::kScratchBytes == 0);
static_assert(lenet_with_scratch::Forward::kScratchBytes == 24576);

TEST(Application, Sizes) {
  static shapes::Forward::Memory memory;
  shapes::Forward method(memory, scratch, sizeof(scratch));
  // The bound of the export is 33.
  EXPECT_TRUE(method.resize_input0({2, 33, 8}).ok());
  EXPECT_EQ(method.resize_input0({2, 34, 8}).error, kInvalidArgument);
  // The model needs 2 and 8, and the export asks for 2 elements at least.
  EXPECT_EQ(method.resize_input0({1, 33, 8}).error, kInvalidArgument);
  EXPECT_EQ(method.resize_input0({2, 33, 7}).error, kInvalidArgument);
  EXPECT_EQ(method.resize_input0({2, 1, 8}).error, kInvalidArgument);
  EXPECT_EQ(method.resize_input0({2, -1, 8}).error, kInvalidArgument);
  ASSERT_TRUE(method.resize_input0({2, 3, 8}).ok());
  std::memset(method.input0(), 0, 2 * 3 * 8 * sizeof(float));
  ASSERT_TRUE(method.run().ok());
  EXPECT_EQ(method.output0_sizes()[1], 6);
  EXPECT_EQ(method.output2(), 3);
}

TEST(Application, SizesOfTwoInputs) {
  static paired_sizes::Forward::Memory memory;
  paired_sizes::Forward method(memory, scratch, sizeof(scratch));
  ASSERT_TRUE(method.resize_input0({3, 4}).ok());
  // The model has an even number of rows there, and six beside three.
  EXPECT_EQ(method.resize_input1({5, 4}).error, kInvalidArgument);
  ASSERT_TRUE(method.resize_input1({8, 4}).ok());
  EXPECT_EQ(method.run().error, kInvalidArgument);
  ASSERT_TRUE(method.resize_input1({6, 4}).ok());
  std::memset(method.input0(), 0, 3 * 4 * sizeof(float));
  std::memset(method.input1(), 0, 6 * 4 * sizeof(float));
  EXPECT_TRUE(method.run().ok());
}

TEST(Application, ScratchMemory) {
  static lenet::Forward::Memory memory;
  lenet::Forward method(memory, scratch, sizeof(scratch));
  ASSERT_TRUE(method.run().ok());
  const size_t used = method.scratch_used();
  ASSERT_GT(used, 0u);
  // With exactly that much, the program runs; with less, the call fails and names the operator.
  lenet::Forward with_enough(memory, scratch, used);
  EXPECT_TRUE(with_enough.run().ok());
  lenet::Forward with_little(memory, scratch, 16);
  const auto status = with_little.run();
  EXPECT_EQ(status.error, kMemoryAllocationFailed);
  EXPECT_NE(std::string(lenet::Forward::operator_name(status.instruction)).find("::"), std::string::npos);
  // The first convolution of the model, in PyTorch's own file.
  EXPECT_NE(std::string(lenet::Forward::source_line(0)).find("conv.py:"), std::string::npos);
  EXPECT_NE(std::string(lenet::Forward::source_line(0)).find("module 0"), std::string::npos);
  EXPECT_STREQ(lenet::Forward::source_line(-1), "");
  EXPECT_STREQ(lenet::Forward::operator_name(-1), "");
  EXPECT_STREQ(lenet::Forward::operator_name(1000), "");
}

TEST(Application, State) {
  static state::Forward::Memory memory;
  state::Forward method(memory, scratch, sizeof(scratch));
  static_assert(state::Forward::kHasState);
  static_assert(!lenet::Forward::kHasState);
  const auto run = [&method] {
    std::memset(method.input0(), 0, state::Forward::kInput0Bytes);
    EXPECT_TRUE(method.run().ok());
    return method.output1()[0];
  };
  EXPECT_EQ(run(), 1);
  EXPECT_EQ(run(), 2);
  method.reset();
  EXPECT_EQ(run(), 1);
  // 0.75 of the initial content, whose first element is -1.
  EXPECT_FLOAT_EQ(method.output0()[0], -0.75f);
}

TEST(Application, TwoObjects) {
  static state::Forward::Memory memories[2];
  state::Forward first(memories[0], scratch, sizeof(scratch)), second(memories[1], scratch, sizeof(scratch));
  ASSERT_TRUE(first.run().ok());
  ASSERT_TRUE(first.run().ok());
  ASSERT_TRUE(second.run().ok());
  EXPECT_EQ(first.output1()[0], 2);
  EXPECT_EQ(second.output1()[0], 1);
}

TEST(Application, ConstantsByPointer) {
  std::ifstream file("tests/compiled/lenet_by_pointer.constants.bin", std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_GT(content.size(), 200'000u);
  std::vector<uint8_t> bytes(content.size() + 64);
  uint8_t* const aligned = bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64) % 64;
  std::memcpy(aligned, content.data(), content.size());

  static lenet::Forward::Memory memory;
  static lenet_by_pointer::Forward::Memory other_memory;
  lenet::Forward method(memory, scratch, sizeof(scratch));
  lenet_by_pointer::Forward other(other_memory, scratch, sizeof(scratch), aligned);
  for (int i = 0; i < 28 * 28; ++i) {
    method.input0()[i] = other.input0()[i] = static_cast<float>(i % 7) - 3;
  }
  ASSERT_TRUE(method.run().ok());
  ASSERT_TRUE(other.run().ok());
  EXPECT_EQ(std::memcmp(method.output0(), other.output0(), lenet::Forward::kOutput0Bytes), 0);
}

TEST(Application, ThreadsOfTheApplication) {
  using rules_executorch::ThreadFunction;
  static lenet::Forward::Memory memory;
  lenet::Forward method(memory, scratch, sizeof(scratch));
  const auto run = [&method] {
    for (int i = 0; i < 28 * 28; ++i) {
      method.input0()[i] = static_cast<float>(i % 5);
    }
    EXPECT_TRUE(method.run().ok());
    return std::vector<float>(method.output0(), method.output0() + 10);
  };
  const std::vector<float> expected = run();
  static int64_t parts_run = 0;
  const rules_executorch::ThreadPool pool = {[]() -> int64_t { return 3; },
                                             [](int64_t begin, int64_t end, int64_t parts, ThreadFunction function) {
                                               for (int64_t part = 0; part < parts; ++part, ++parts_run) {
                                                 function(part % 3,
                                                          rules_executorch::part_begin(begin, end, parts, part),
                                                          rules_executorch::part_begin(begin, end, parts, part + 1));
                                               }
                                             },
                                             /*use_threads=*/nullptr};
  rules_executorch::set_thread_pool(&pool);
  EXPECT_EQ(run(), expected);
  rules_executorch::set_thread_pool(nullptr);
  EXPECT_GT(parts_run, 0);
}

TEST(Application, Methods) {
  static methods::Encode::Memory encode_memory;
  static methods::DecodeFeatures::Memory decode_memory;
  methods::Encode encode(encode_memory, scratch, sizeof(scratch));
  methods::DecodeFeatures decode(decode_memory, scratch, sizeof(scratch));
  EXPECT_TRUE(encode.run().ok());
  EXPECT_TRUE(decode.run().ok());
}

}  // namespace
