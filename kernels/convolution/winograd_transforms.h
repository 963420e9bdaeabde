#pragma once

#include <cstddef>
#include <cstdint>

namespace rules_executorch::kernels {

/// The number of rows and of columns of a kernel.
constexpr int64_t kWinogradKernelSize = 3;
/// The points at which polynomials are evaluated, without infinity, by the outputs of a tile in each dimension. With
/// the points of tiles of 4, sums are three times as exact as with 0, 1, -1, 2 and -2.
constexpr double kWinogradPointsOf2[] = {0, 1, -1};
constexpr double kWinogradPointsOf4[] = {0, 0.625, -0.625, 1.5, -1.5};

/// The transforms of one dimension for tiles of kOutputs outputs. Source: Lavin and Gray, "Fast Algorithms for
/// Convolutional Neural Networks" (2016), where inputs are multiplied by the matrix B^T, kernels by G and sums by A^T.
/// The functions accept vectors of floats and single numbers, and may run at compile time. The values of a kernel's
/// polynomial are divided by the product of the point's distances to the other points (Toom and Cook), so that the
/// transforms of inputs and sums need no division.
template <int kOutputs>
struct WinogradTransform;

namespace internal {

template <typename T>
constexpr T difference(T a, T b) {
  return a + -1.0f * b;
}

}  // namespace internal

template <>
struct WinogradTransform<2> {
  static constexpr int kInputs = 4;

  template <typename T>
  static constexpr void of_inputs(const T* x, T* y) {
    using internal::difference;
    y[0] = difference(x[2], x[0]);
    y[1] = x[2] + x[1];
    y[2] = difference(x[2], x[1]);
    y[3] = difference(x[3], x[1]);
  }

  template <typename T>
  static constexpr void of_kernels(const T* x, T* y) {
    using internal::difference;
    const T even = 0.5f * (x[0] + x[2]);
    const T odd = 0.5f * x[1];
    y[0] = -1.0f * x[0];
    y[1] = even + odd;
    y[2] = difference(even, odd);
    y[3] = x[2];
  }

  template <typename T>
  static constexpr void of_sums(const T* x, T* y) {
    using internal::difference;
    y[0] = x[0] + x[1] + x[2];
    y[1] = difference(x[1], x[2]) + x[3];
  }
};

template <>
struct WinogradTransform<4> {
  static constexpr int kInputs = 6;

  template <typename T>
  static constexpr void of_inputs(const T* x, T* y) {
    using internal::difference;
    const T even = x[4] + -kFar * kFar * x[2];
    const T odd = kNear * (x[3] + -kFar * kFar * x[1]);
    const T far_even = x[4] + -kNear * kNear * x[2];
    const T far_odd = kFar * (x[3] + -kNear * kNear * x[1]);
    y[0] = x[4] + kProduct * x[0] + -kSum * x[2];
    y[1] = even + odd;
    y[2] = difference(even, odd);
    y[3] = far_even + far_odd;
    y[4] = difference(far_even, far_odd);
    y[5] = x[5] + kProduct * x[1] + -kSum * x[3];
  }

  template <typename T>
  static constexpr void of_kernels(const T* x, T* y) {
    using internal::difference;
    const T even = kOfNear * x[0] + kNear * kNear * kOfNear * x[2];
    const T odd = kNear * kOfNear * x[1];
    const T far_even = kOfFar * x[0] + kFar * kFar * kOfFar * x[2];
    const T far_odd = kFar * kOfFar * x[1];
    y[0] = 1 / kProduct * x[0];
    y[1] = even + odd;
    y[2] = difference(even, odd);
    y[3] = far_even + far_odd;
    y[4] = difference(far_even, far_odd);
    y[5] = x[2];
  }

  template <typename T>
  static constexpr void of_sums(const T* x, T* y) {
    using internal::difference;
    const T even = x[1] + x[2];
    const T odd = difference(x[1], x[2]);
    const T far_even = x[3] + x[4];
    const T far_odd = difference(x[3], x[4]);
    y[0] = x[0] + even + far_even;
    y[1] = kNear * odd + kFar * far_odd;
    y[2] = kNear * kNear * even + kFar * kFar * far_even;
    y[3] = x[5] + kNear * kNear * kNear * odd + kFar * kFar * kFar * far_odd;
  }

 private:
  // The points are 0, kNear, -kNear, kFar, -kFar and infinity.
  static constexpr float kNear = static_cast<float>(kWinogradPointsOf4[1]);
  static constexpr float kFar = static_cast<float>(kWinogradPointsOf4[3]);
  static constexpr float kProduct = kNear * kNear * kFar * kFar;
  static constexpr float kSum = kNear * kNear + kFar * kFar;
  // One divided by the distances of a point to the others.
  static constexpr float kOfNear = 1 / (2 * kNear * kNear * (kNear * kNear - kFar * kFar));
  static constexpr float kOfFar = 1 / (2 * kFar * kFar * (kFar * kFar - kNear * kNear));
};

namespace internal {

constexpr bool is_close(double a, double b) {
  const double difference = a - b;
  return difference * difference <= 1e-13 * b * b;
}

/// Whether the transforms are those of the given points. The transforms of unit vectors are the columns of the
/// matrices.
template <int kOutputs, size_t kPoints>
constexpr bool is_of(const double (&points)[kPoints]) {
  constexpr int kInputs = WinogradTransform<kOutputs>::kInputs;
  static_assert(kInputs == kPoints + 1 && kInputs == kOutputs + kWinogradKernelSize - 1);
  for (int column = 0; column < kInputs; ++column) {
    double unit[kInputs] = {};
    double inputs[kInputs] = {};
    double kernels[kInputs] = {};
    double sums[kOutputs] = {};
    unit[column] = 1;
    WinogradTransform<kOutputs>::of_inputs(unit, inputs);
    WinogradTransform<kOutputs>::of_kernels(unit, kernels);
    WinogradTransform<kOutputs>::of_sums(unit, sums);
    for (int row = 0; row < kInputs; ++row) {
      // The coefficients of the product of (x - point) over all points except the row's own point.
      double coefficients[kInputs] = {1};
      for (int i = 0; i < kInputs - 1; ++i) {
        for (int power = i + 1; i != row && power >= 0; --power) {
          coefficients[power] = (power > 0 ? coefficients[power - 1] : 0) - points[i] * coefficients[power];
        }
      }
      if (inputs[row] != coefficients[column]) {
        return false;
      }
    }
    // The column's power of each point, divided by the distances. For infinity, only the last power is 1.
    for (int row = 0; column < kWinogradKernelSize && row < kInputs; ++row) {
      double expected = column == kWinogradKernelSize - 1 ? 1 : 0;
      if (row < kInputs - 1) {
        expected = 1;
        for (int i = 0; i < column; ++i) {
          expected *= points[row];
        }
        for (int i = 0; i < kInputs - 1; ++i) {
          expected /= i == row ? 1 : points[row] - points[i];
        }
      }
      if (!is_close(kernels[row], expected)) {
        return false;
      }
    }
    // The powers of the column's point. For the point infinity, only the last power is 1, the others are 0.
    double power = 1;
    for (int row = 0; row < kOutputs; ++row) {
      const bool is_infinity = column == kInputs - 1;
      if (sums[row] != (is_infinity ? row == kOutputs - 1 : power)) {
        return false;
      }
      power *= is_infinity ? 1 : points[column];
    }
  }
  return true;
}

static_assert(is_of<2>(kWinogradPointsOf2) && is_of<4>(kWinogradPointsOf4));

}  // namespace internal

}  // namespace rules_executorch::kernels
