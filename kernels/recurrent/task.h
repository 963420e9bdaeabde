#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/gemm/float_panels.h"
#include "kernels/gemm/row_by_panels.h"
#include "kernels/math/divide_up.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/recurrent/shape.h"

namespace rules_executorch::kernels {

/// The number of columns of a strip, which one thread computes: whole units for one, three and four gates, and whole
/// tiles.
inline constexpr int64_t kRecurrentStrip = 12 * kFloatPanelColumns;
/// The number of products that are added before they are added to a sum.
inline constexpr int64_t kRecurrentDepth = 384;
/// The products of the input are computed for so many steps at a time that they stay in the L2 cache.
inline constexpr int64_t kChunkBytes = 512 * 1024;

/// The weights of a direction of a layer, all in panels.
template <typename T>
struct RecurrentWeights {
  const T* input;
  const T* recurrent;
  const T* bias;        // null for none
  const T* projection;  // null for none
};

/// Where the state of a time step is. Strides are in elements.
template <typename T>
struct Sequence {
  T* data = nullptr;
  int64_t time = 0;
  int64_t batch = 0;

  T* at(int64_t step, int64_t row) const { return data + step * time + row * batch; }
};

/// One direction of a layer, for some rows of the batch.
template <typename T>
struct RecurrentTask {
  const ProductLoops& loops;
  const RecurrentShape& shape;
  RecurrentWeights<T> weights = {};
  int64_t inputs = 0;
  Sequence<const T> in = {};
  Sequence<T> out = {};
  const T* first = nullptr;  // the state before the first step
  int64_t first_stride = 0;  // 0 if all rows have the same state
  T* cells = nullptr;        // of an LSTM: blocks() * kUnits for each row
  int64_t rows = 0;
  bool is_reverse = false;
  bool is_alone = false;  // whether other threads have nothing to do
  // Memory: the products of the input of some steps, the products of a state, the states before a projection.
  T* of_input = nullptr;
  T* of_state = nullptr;
  T* unprojected = nullptr;

  /// The number of steps whose products of the input are computed together.
  static int64_t chunk_steps(const RecurrentShape& shape, int64_t rows) {
    const int64_t bytes = rows * shape.columns() * int64_t{sizeof(T)};
    return std::min(shape.steps, std::max<int64_t>(kChunkBytes / bytes, 1));
  }
  /// The number of elements of memory.
  static int64_t memory_size(const RecurrentShape& shape, int64_t rows) {
    const int64_t of_states = shape.projection > 0 ? rows * shape.blocks() * kUnits : 0;
    return (chunk_steps(shape, rows) + 1) * rows * shape.columns() + of_states;
  }

  void use_memory(T* memory) {
    of_input = memory;
    of_state = of_input + chunk_steps(shape, rows) * rows * shape.columns();
    unprojected = of_state + rows * shape.columns();
  }

  void compute() const {
    const int64_t chunk = chunk_steps(shape, rows);
    for (int64_t i = 0; i < shape.steps; i += chunk) {
      const int64_t count = std::min(chunk, shape.steps - i);
      const int64_t earliest = is_reverse ? shape.steps - i - count : i;
      multiply_inputs(earliest, count);
      for (int64_t j = i; j < i + count; ++j) {
        const int64_t step = is_reverse ? shape.steps - 1 - j : j;
        const int64_t previous = is_reverse ? step + 1 : step - 1;
        compute_step(step, of_input + (step - earliest) * rows * shape.columns(), j == 0 ? first : out.at(previous, 0),
                     j == 0 ? first_stride : out.batch);
      }
    }
  }

 private:
  /// Calls `function(first column, columns)` for all strips of `columns` columns, whose products have `k` additions.
  template <typename Function>
  void for_strips(int64_t columns, int64_t products, int64_t k, const Function& function) const {
    const int64_t strips = divide_up(columns, kRecurrentStrip);
    const int64_t weights_of_strip = kRecurrentStrip * k;
    const int64_t grain =
        is_alone ? grain_of(products * weights_of_strip / kProductsOfAddition, weights_of_strip * int64_t{sizeof(T)})
                 : strips;
    const auto compute_strips = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        function(i * kRecurrentStrip, std::min(kRecurrentStrip, columns - i * kRecurrentStrip));
      }
    };
    if (is_alone) {
      parallel_for(0, strips, grain, compute_strips);
    } else {
      compute_strips(0, strips);
    }
  }

  /// Multiplies rows of `k` features by `columns` columns of panels.
  void multiply(const T* a, int64_t a_stride, int64_t count, int64_t k, const T* panels, int64_t columns, T* totals,
                int64_t stride) const {
    // The sums of a row do not depend on the division of the batch: it has one row for all numbers of threads.
    if (shape.batch == 1 && count == 1 && columns % kFloatPanelColumns == 0) {
      multiply_row_by_panels(a, k, panels, columns / kFloatPanelColumns, totals);
      return;
    }
    for (int64_t j = 0; j < columns; j += kStripColumns) {
      PanelProduct product{};
      product.totals = totals + j;
      product.totals_stride = stride;
      product.a_stride = a_stride;
      product.rows = count;
      product.columns = std::min(kStripColumns, columns - j);
      product.replaces_totals = true;
      for (int64_t start = 0; start < k; start += kRecurrentDepth, product.replaces_totals = false) {
        product.a = a + start;
        product.b = panels + j * k + start * kFloatPanelColumns;
        product.k = std::min(kRecurrentDepth, k - start);
        add_panels<T>(loops.add_panel, product, k * kFloatPanelColumns);
      }
    }
  }

  /// Multiplies the input of `count` steps by its weights, for all gates.
  void multiply_inputs(int64_t earliest, int64_t count) const {
    const int64_t width = shape.columns();
    for_strips(width, count * rows, inputs, [&](int64_t column, int64_t columns) {
      const T* const panels = weights.input + column * inputs;
      T* const totals = of_input + column;
      if (rows == 1 || in.time == rows * in.batch) {
        multiply(in.at(earliest, 0), rows == 1 ? in.time : in.batch, count * rows, inputs, panels, columns, totals,
                 width);
      } else if (count >= rows) {
        for (int64_t row = 0; row < rows; ++row) {
          multiply(in.at(earliest, row), in.time, count, inputs, panels, columns, totals + row * width, rows * width);
        }
      } else {
        for (int64_t step = 0; step < count; ++step) {
          multiply(in.at(earliest + step, 0), in.batch, rows, inputs, panels, columns, totals + step * rows * width,
                   width);
        }
      }
    });
  }

  void compute_step(int64_t step, const T* of_inputs, const T* before, int64_t before_stride) const {
    const int64_t state = shape.state();
    const bool is_projected = shape.projection > 0;
    const Sequence<T> after = is_projected ? Sequence<T>{unprojected, 0, shape.blocks() * kUnits}
                                           : Sequence<T>{out.at(step, 0), 0, out.batch};
    for_strips(shape.columns(), rows, state, [&](int64_t column, int64_t columns) {
      multiply(before, before_stride, rows, state, weights.recurrent + column * state, columns, of_state + column,
               shape.columns());
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t start = row * shape.columns();
        const T* const before_row = is_projected ? nullptr : before + row * before_stride;
        switch (shape.cell) {
          case Cell::kLstm:
            compute_blocks<Cell::kLstm>(column, columns, start, of_inputs, row, before_row, after.at(0, row));
            break;
          case Cell::kGru:
            compute_blocks<Cell::kGru>(column, columns, start, of_inputs, row, before_row, after.at(0, row));
            break;
          case Cell::kTanh:
            compute_blocks<Cell::kTanh>(column, columns, start, of_inputs, row, before_row, after.at(0, row));
            break;
          case Cell::kRelu:
            compute_blocks<Cell::kRelu>(column, columns, start, of_inputs, row, before_row, after.at(0, row));
            break;
        }
      }
    });
    if (is_projected) {
      for_strips(state, rows, shape.hidden, [&](int64_t column, int64_t columns) {
        multiply(unprojected, after.batch, rows, shape.hidden, weights.projection + column * shape.hidden, columns,
                 out.at(step, 0) + column, out.batch);
      });
    }
  }

  /// Computes the hidden units of some columns of a row, from the products at `start`.
  template <Cell kCell>
  void compute_blocks(int64_t column, int64_t columns, int64_t start, const T* of_inputs, int64_t row, const T* before,
                      T* after) const {
    static constexpr T kNoBias[4 * kUnits] = {};
    const int64_t width = shape.gates() * kUnits;
    const bool writes_whole_blocks = shape.projection > 0;
    for (int64_t j = column; j < column + columns; j += width) {
      const int64_t block = j / width;
      const int64_t unit = block * kUnits;
      Units<T> units{of_inputs + start + j,
                     of_state + start + j,
                     weights.bias == nullptr ? kNoBias : weights.bias + unit * shape.biases(),
                     cells == nullptr ? nullptr : cells + row * shape.blocks() * kUnits + unit,
                     before == nullptr ? nullptr : before + unit,
                     after + unit};
      const int64_t count = std::min(kUnits, shape.hidden - unit);
      if (count == kUnits || writes_whole_blocks) {
        compute_units<kCell>(units);
        continue;
      }
      T before_units[kUnits] = {};
      T after_units[kUnits];
      if (before != nullptr) {
        std::copy_n(units.before, count, before_units);
      }
      units.before = before_units;
      units.after = after_units;
      compute_units<kCell>(units);
      std::copy_n(after_units, count, after + unit);
    }
  }
};

}  // namespace rules_executorch::kernels
