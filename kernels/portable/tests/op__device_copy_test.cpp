// Tests of et_copy::_h2d_copy.out and et_copy::_d2h_copy.out, with a fake device that uses the host's memory.

#include <executorch/runtime/core/device_allocator.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::aten::TensorShapeDynamism;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Result;
using executorch::runtime::Span;
using executorch::runtime::etensor::DeviceIndex;
using executorch::runtime::etensor::DeviceType;

/// Records the last copy, and fails if a test requests a failure.
class FakeDevice final : public executorch::runtime::DeviceAllocator {
 public:
  Result<void*> allocate(size_t, DeviceIndex, size_t) override { return Error::NotSupported; }
  void deallocate(void*, DeviceIndex) override {}
  Error copy_host_to_device(void* to, const void* from, size_t size, DeviceIndex index) override {
    return copy('h', to, from, size, index);
  }
  Error copy_device_to_host(void* to, const void* from, size_t size, DeviceIndex index) override {
    return copy('d', to, from, size, index);
  }
  DeviceType device_type() const override { return DeviceType::CUDA; }

  char source = ' ';  // 'h' for the host, 'd' for the device
  size_t size = 0;
  int index = -1;
  int copies = 0;
  bool fails = false;

 private:
  Error copy(char from_where, void* to, const void* from, size_t bytes, DeviceIndex of_device) {
    source = from_where;
    size = bytes;
    index = of_device;
    ++copies;
    if (fails) {
      return Error::AccessFailed;
    }
    std::memcpy(to, from, bytes);
    return Error::Ok;
  }
};

FakeDevice device;

/// A matrix that claims to be on a device.
template <typename T>
struct Matrix {
  Matrix(int rows, int columns, DeviceType type, DeviceIndex index = 0, bool transposed = false)
      : sizes{rows, columns},
        dim_order{static_cast<uint8_t>(transposed), static_cast<uint8_t>(!transposed)},
        strides{transposed ? 1 : columns, transposed ? rows : 1},
        data(rows * columns),
        impl(torch::executor::CppTypeToScalarType<T>::value, 2, sizes, data.data(), dim_order, strides,
             TensorShapeDynamism::DYNAMIC_BOUND, type, index) {}

  Matrix& fill() {
    for (size_t i = 0; i < data.size(); ++i) {
      data[i] = static_cast<T>(i + 1);
    }
    return *this;
  }

  int sizes[2];
  uint8_t dim_order[2];
  int strides[2];
  std::vector<T> data;
  TensorImpl impl;
};

Error call(const char* name, TensorImpl& in, TensorImpl& out) {
  executorch::runtime::runtime_init();
  const auto kernel = executorch::runtime::get_op_function_from_registry(name);
  EXPECT_TRUE(kernel.ok());
  EValue values[] = {EValue(Tensor(&in)), EValue(Tensor(&out)), EValue(Tensor(&out))};
  EValue* stack[] = {&values[0], &values[1], &values[2]};
  KernelRuntimeContext context;
  (*kernel)(context, Span<EValue*>(stack, 3));
  return context.failure_state();
}

constexpr const char* kToDevice = "et_copy::_h2d_copy.out";
constexpr const char* kToHost = "et_copy::_d2h_copy.out";

class DeviceCopyTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Matrix<float> host(1, 1, DeviceType::CPU), on_device(1, 1, DeviceType::CUDA);
    EXPECT_EQ(call(kToDevice, host.impl, on_device.impl), Error::NotFound) << "without a device";
    EXPECT_EQ(call(kToHost, on_device.impl, host.impl), Error::NotFound) << "without a device";
    executorch::runtime::register_device_allocator(&device);
  }
  void SetUp() override {
    device.copies = 0;
    device.fails = false;
  }
};

TEST_F(DeviceCopyTest, CopiesToTheDevice) {
  Matrix<float> host(2, 3, DeviceType::CPU), on_device(4, 5, DeviceType::CUDA, 3);
  host.fill();
  EXPECT_EQ(call(kToDevice, host.impl, on_device.impl), Error::Ok);
  EXPECT_EQ(device.source, 'h');
  EXPECT_EQ(device.index, 3);
  EXPECT_EQ(device.size, 24u);
  EXPECT_EQ(on_device.impl.sizes()[0], 2);
  EXPECT_EQ(on_device.impl.sizes()[1], 3);
  EXPECT_TRUE(std::equal(host.data.begin(), host.data.end(), on_device.data.begin()));
  EXPECT_EQ(on_device.data[6], 0);
}

TEST_F(DeviceCopyTest, CopiesToTheHost) {
  Matrix<int64_t> on_device(2, 3, DeviceType::CUDA, 1), host(2, 3, DeviceType::CPU);
  on_device.fill();
  EXPECT_EQ(call(kToHost, on_device.impl, host.impl), Error::Ok);
  EXPECT_EQ(device.source, 'd');
  EXPECT_EQ(device.index, 1);
  EXPECT_EQ(host.data, on_device.data);
}

TEST_F(DeviceCopyTest, CopiesTheBytesOfOneDimOrder) {
  Matrix<int16_t> host(2, 3, DeviceType::CPU, 0, true), on_device(2, 3, DeviceType::CUDA, 0, true);
  host.fill();
  EXPECT_EQ(call(kToDevice, host.impl, on_device.impl), Error::Ok);
  EXPECT_EQ(on_device.data, host.data);
  Matrix<int16_t> contiguous(2, 3, DeviceType::CUDA);
  EXPECT_EQ(call(kToDevice, host.impl, contiguous.impl), Error::InvalidArgument);
}

TEST_F(DeviceCopyTest, CopiesNothingOfAnEmptyTensor) {
  Matrix<float> host(0, 3, DeviceType::CPU), on_device(2, 3, DeviceType::CUDA);
  EXPECT_EQ(call(kToDevice, host.impl, on_device.impl), Error::Ok);
  EXPECT_EQ(on_device.impl.sizes()[0], 0);
  EXPECT_EQ(device.copies, 0);
}

TEST_F(DeviceCopyTest, RefusesTheWrongPlace) {
  Matrix<float> host(2, 3, DeviceType::CPU), other_host(2, 3, DeviceType::CPU);
  Matrix<float> on_device(2, 3, DeviceType::CUDA), other_on_device(2, 3, DeviceType::CUDA);
  for (const char* name : {kToDevice, kToHost}) {
    EXPECT_EQ(call(name, host.impl, other_host.impl), Error::InvalidArgument);
    EXPECT_EQ(call(name, on_device.impl, other_on_device.impl), Error::InvalidArgument);
  }
  EXPECT_EQ(call(kToDevice, on_device.impl, host.impl), Error::InvalidArgument);
  EXPECT_EQ(call(kToHost, host.impl, on_device.impl), Error::InvalidArgument);
  EXPECT_EQ(device.copies, 0);
}

TEST_F(DeviceCopyTest, RefusesAnotherDtypeOrTooSmallAnOutput) {
  Matrix<double> host(2, 3, DeviceType::CPU);
  Matrix<float> of_floats(2, 3, DeviceType::CUDA);
  Matrix<double> small(1, 3, DeviceType::CUDA);
  EXPECT_EQ(call(kToDevice, host.impl, of_floats.impl), Error::InvalidArgument);
  EXPECT_EQ(call(kToDevice, host.impl, small.impl), Error::InvalidArgument);
  EXPECT_EQ(device.copies, 0);
}

TEST_F(DeviceCopyTest, ReportsWhatTheDeviceReports) {
  Matrix<float> host(2, 3, DeviceType::CPU), on_device(2, 3, DeviceType::CUDA);
  device.fails = true;
  EXPECT_EQ(call(kToDevice, host.impl, on_device.impl), Error::Internal);
  EXPECT_EQ(call(kToHost, on_device.impl, host.impl), Error::Internal);
}

}  // namespace
