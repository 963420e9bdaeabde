#pragma once

#include <cstdint>

#include "kernels/gemm/layouts.h"
#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"

namespace rules_executorch::kernels {

/// The number of hidden units whose gates are computed together. The panels of their gates follow each other.
inline constexpr int64_t kUnits = kFloatPanelColumns;

enum class Cell : uint8_t { kLstm, kGru, kTanh, kRelu };

/// The values of kUnits hidden units in one step: rows of kUnits values, one for each gate.
template <typename T>
struct Units {
  const T* of_input;  // the products of the input
  const T* of_state;  // the products of the previous state
  const T* bias;
  T* cell;          // the state of the cells of an LSTM
  const T* before;  // the previous state
  T* after;
};

template <Cell kCell, typename T>
void compute_units(const Units<T>& units) {
  const T* const x = units.of_input;
  const T* const h = units.of_state;
  const T* const b = units.bias;
  T* const after = units.after;
  if constexpr (kCell == Cell::kLstm) {
    T* const cell = units.cell;
    wide_vectorized_for(kUnits, [=](int64_t j) KERNELS_ALWAYS_INLINE {
      const T input = math::sigmoid(x[j] + h[j] + b[j]);
      const T forget = math::sigmoid(x[kUnits + j] + h[kUnits + j] + b[kUnits + j]);
      const T value = math::tanh(x[2 * kUnits + j] + h[2 * kUnits + j] + b[2 * kUnits + j]);
      const T output = math::sigmoid(x[3 * kUnits + j] + h[3 * kUnits + j] + b[3 * kUnits + j]);
      const T now = forget * cell[j] + input * value;
      cell[j] = now;
      after[j] = output * math::tanh(now);
    });
  } else if constexpr (kCell == Cell::kGru) {
    const T* const before = units.before;
    wide_vectorized_for(kUnits, [=](int64_t j) KERNELS_ALWAYS_INLINE {
      const T reset = math::sigmoid(x[j] + h[j] + b[j]);
      const T update = math::sigmoid(x[kUnits + j] + h[kUnits + j] + b[kUnits + j]);
      const T of_input = x[2 * kUnits + j] + b[2 * kUnits + j];
      const T value = math::tanh(of_input + reset * (h[2 * kUnits + j] + b[3 * kUnits + j]));
      after[j] = (before[j] - value) * update + value;
    });
  } else if constexpr (kCell == Cell::kTanh) {
    wide_vectorized_for(kUnits, [=](int64_t j) KERNELS_ALWAYS_INLINE { after[j] = math::tanh(x[j] + h[j] + b[j]); });
  } else {
    vectorized_for(kUnits, [=](int64_t j) {
      const T sum = x[j] + h[j] + b[j];
      after[j] = sum < 0 ? T(0) : sum;
    });
  }
}

}  // namespace rules_executorch::kernels
