#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/copy/copy.h"
#include "kernels/gemm/float_panels.h"
#include "kernels/gemm/layouts.h"
#include "kernels/math/divide_up.h"
#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"
#include "kernels/optimized/dim_orders.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/simd/run_time.h"
#include "kernels/simd/simd.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/memory_format.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The number of hidden units whose gates are computed together. The panels of their gates follow each other.
constexpr int64_t kUnits = kFloatPanelColumns;
/// The number of columns of a strip, which one thread computes: whole units for one, three and four gates, and whole
/// tiles.
constexpr int64_t kRecurrentStrip = 12 * kFloatPanelColumns;
/// The number of products that are added before they are added to a sum.
constexpr int64_t kRecurrentDepth = 384;
/// The products of the input are computed for so many steps at a time that they stay in the L2 cache.
constexpr int64_t kChunkBytes = 512 * 1024;
/// The number of vectors of sums of a product of one row, which hide the latency of additions.
constexpr int kRowVectors = 8;

enum class Cell : uint8_t { kLstm, kGru, kTanh, kRelu };

/// The sizes of a network of recurrent layers.
struct RecurrentShape {
  Cell cell;
  int64_t steps;
  int64_t batch;
  int64_t inputs;
  int64_t hidden;
  int64_t projection;  // the number of features of the projected state; 0 for none
  int64_t layers;
  int64_t directions;
  bool has_biases;
  bool batch_first;

  /// The number of features of the state.
  int64_t state() const { return projection > 0 ? projection : hidden; }
  int64_t features() const { return directions * state(); }
  int64_t inputs_of(int64_t layer) const { return layer == 0 ? inputs : features(); }
  int64_t gates() const { return cell == Cell::kLstm ? 4 : cell == Cell::kGru ? 3 : 1; }
  /// The new gate of a GRU has two biases.
  int64_t biases() const { return cell == Cell::kGru ? 4 : gates(); }
  int64_t blocks() const { return divide_up(hidden, kUnits); }
  int64_t columns() const { return blocks() * gates() * kUnits; }
  int64_t weights_of_direction() const { return 2 + (has_biases ? 1 : 0) + (projection > 0 ? 1 : 0); }
};

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

/// `sums[j] = sum over p < k of a[p] * panels[p][j]` for the columns of adjacent panels, in vectors of kBytes bytes.
template <typename T, int64_t kBytes, int... I>
KERNELS_ALWAYS_INLINE inline void multiply_row(const T* a, int64_t k, const T* panels, T* sums,
                                               std::integer_sequence<int, I...>) {
  using V = simd::Vector<T, kBytes>;
  constexpr int64_t kVectorColumns = kBytes / int64_t{sizeof(T)};
  constexpr int64_t kOfPanel = kFloatPanelColumns / kVectorColumns;
  const T* const at[] = {panels + I / kOfPanel * k * kFloatPanelColumns + I % kOfPanel * kVectorColumns...};
  V totals[] = {((void)I, V{})...};
  for (int64_t p = 0; p < k; ++p) {
    // Not load_as(): a function cannot return a vector that the file's instruction set lacks.
    V row[sizeof...(I)];
    (std::memcpy(&row[I], at[I] + p * kFloatPanelColumns, sizeof(V)), ...);
    ((totals[I] += a[p] * row[I]), ...);
  }
  (std::memcpy(sums + I * kVectorColumns, &totals[I], sizeof(V)), ...);
}

/// The same for `panels` panels, kVectors vectors at a time.
template <typename T, int64_t kBytes, int kVectors = kRowVectors>
KERNELS_ALWAYS_INLINE inline void multiply_row_by(const T* a, int64_t k, const T* panels, int64_t count, T* sums) {
  constexpr int kOfPanel = static_cast<int>(kFloatPanelColumns / (kBytes / int64_t{sizeof(T)}));
  constexpr int kPanels = kVectors / kOfPanel;
  for (; count >= kPanels; count -= kPanels) {
    multiply_row<T, kBytes>(a, k, panels, sums, std::make_integer_sequence<int, kVectors>());
    panels += kPanels * k * kFloatPanelColumns;
    sums += kPanels * kFloatPanelColumns;
  }
  if constexpr (kPanels > 1) {
    multiply_row_by<T, kBytes, kVectors / 2>(a, k, panels, count, sums);
  }
}

#if defined(KERNELS_MAY_HAVE_WIDE_VECTORS)

template <typename T>
KERNELS_WIDE_VECTORS void multiply_row_wide(const T* a, int64_t k, const T* panels, int64_t count, T* sums) {
  multiply_row_by<T, 2 * kVectorBytes>(a, k, panels, count, sums);
}

#endif

template <typename T>
void multiply_row_by_panels(const T* a, int64_t k, const T* panels, int64_t count, T* sums) {
#if defined(KERNELS_MAY_HAVE_WIDE_VECTORS)
  if (simd::has_wide_vectors()) {
    multiply_row_wide(a, k, panels, count, sums);
    return;
  }
#endif
  multiply_row_by<T, kVectorBytes>(a, k, panels, count, sums);
}

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

/// One direction of a layer, for some rows of the batch.
template <typename T>
struct RecurrentTask {
  const ProductLoops& loops;
  const RecurrentShape& shape;
  RecurrentWeights<T> weights;
  int64_t inputs;
  Sequence<const T> in;
  Sequence<T> out;
  const T* first;        // the state before the first step
  int64_t first_stride;  // 0 if all rows have the same state
  T* cells;              // of an LSTM: blocks() * kUnits for each row
  int64_t rows;
  bool is_reverse;
  bool is_alone;  // whether other threads have nothing to do
  // Memory: the products of the input of some steps, the products of a state, the states before a projection.
  T* of_input;
  T* of_state;
  T* unprojected;

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

/// A network of recurrent layers of elements E. For 16-bit elements, all values between input and result are floats.
template <typename E>
class RecurrentNetwork {
 public:
  using T = std::conditional_t<is_reduced_floating_point<E>::value, float, E>;

  RecurrentNetwork(KernelRuntimeContext& ctx, const RecurrentShape& shape, const TensorList& weights)
      : ctx_(ctx), shape_(shape), weights_(weights), loops_(product_loops<T>()) {}

  /// Returns false if there is too little temporary memory. `c_n` is null except for an LSTM.
  bool compute(const Tensor& in, const std::optional<Tensor>& h_0, const std::optional<Tensor>& c_0, Tensor& out,
               Tensor& h_n, Tensor* c_n) {
    const int64_t rows = shape_.steps * shape_.batch;
    const int64_t directions = shape_.directions;
    const T* source = nullptr;
    const T* states = nullptr;
    const T* cells = nullptr;
    if (!load(in, source) || (h_0.has_value() && !load(*h_0, states)) || (c_0.has_value() && !load(*c_0, cells))) {
      return false;
    }

    // The batch is divided among threads. Without rows for all threads, they share each step.
    const int64_t threads = thread_count();
    const int64_t part_rows = divide_up(shape_.batch, std::clamp<int64_t>(threads / directions, 1, shape_.batch));
    const int64_t parts = divide_up(shape_.batch, part_rows);
    const int64_t tasks = parts * directions;
    const int64_t task_size = RecurrentTask<T>::memory_size(shape_, part_rows);
    const int64_t cell_size = shape_.cell == Cell::kLstm ? shape_.batch * shape_.blocks() * kUnits : 0;
    T* const memory = allocate(tasks * task_size + directions * cell_size + shape_.state());
    if (memory == nullptr) {
      return false;
    }
    T* const cell_memory = memory + tasks * task_size;
    T* const zeros = cell_memory + directions * cell_size;
    std::fill_n(zeros, shape_.state(), T(0));

    // The results of a layer are the input of the next one.
    constexpr bool kIsConverted = !std::is_same_v<E, T>;
    T* results[2] = {};
    const int64_t needed = std::min<int64_t>(shape_.layers - (kIsConverted ? 0 : 1), 2);
    for (int64_t i = 0; i < needed; ++i) {
      results[i] = allocate(rows * shape_.features());
      if (results[i] == nullptr) {
        return false;
      }
    }
    T* converted = nullptr;
    if (kIsConverted) {
      converted = allocate(directions * weights_size());
      if (converted == nullptr) {
        return false;
      }
    }

    for (int64_t layer = 0; layer < shape_.layers; ++layer) {
      const bool is_last = layer == shape_.layers - 1;
      T* target = results[layer % 2];
      if constexpr (!kIsConverted) {
        target = is_last ? static_cast<T*>(out.mutable_data_ptr()) : target;
      }
      const int64_t inputs = shape_.inputs_of(layer);
      const Sequence<const T> from{source, time_stride(inputs), batch_stride(inputs)};
      const Sequence<T> to{target, time_stride(shape_.features()), batch_stride(shape_.features())};
      RecurrentWeights<T> weights[2];
      for (int64_t d = 0; d < directions; ++d) {
        weights[d] = load_weights(layer, d, converted + (kIsConverted ? d * weights_size() : 0));
        load_cells(cells, layer * directions + d, cell_memory + d * cell_size);
      }
      const int64_t products = shape_.steps * part_rows * shape_.columns() * (inputs + shape_.state());
      parallel_for(0, tasks, grain_of(products / kProductsOfAddition, 0), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t d = i / parts;
          const int64_t row = i % parts * part_rows;
          const int64_t state = ((layer * directions + d) * shape_.batch + row) * shape_.state();
          const Sequence<const T> in_rows{from.at(0, row), from.time, from.batch};
          const Sequence<T> out_rows{to.at(0, row) + d * shape_.state(), to.time, to.batch};
          T* const cells_of_rows =
              cell_size == 0 ? nullptr : cell_memory + d * cell_size + row * shape_.blocks() * kUnits;
          RecurrentTask<T> task{loops_,
                                shape_,
                                weights[d],
                                inputs,
                                in_rows,
                                out_rows,
                                states == nullptr ? zeros : states + state,
                                states == nullptr ? 0 : shape_.state(),
                                cells_of_rows,
                                std::min(part_rows, shape_.batch - row),
                                d == 1,
                                tasks == 1,
                                nullptr,
                                nullptr,
                                nullptr};
          task.use_memory(memory + i * task_size);
          task.compute();
        }
      });
      for (int64_t d = 0; d < directions; ++d) {
        const int64_t last = d == 1 ? 0 : shape_.steps - 1;
        store_states(to.at(last, 0) + d * shape_.state(), to.batch, shape_.state(), layer * directions + d, h_n);
        if (c_n != nullptr) {
          store_states(cell_memory + d * cell_size, shape_.blocks() * kUnits, shape_.hidden, layer * directions + d,
                       *c_n);
        }
      }
      source = target;
    }
    if constexpr (kIsConverted) {
      convert_elements(kComputed, source, kStored, out.mutable_data_ptr(), out.numel());
    }
    return true;
  }

 private:
  static constexpr ScalarType kStored = CppTypeToScalarType<E>::value;
  static constexpr ScalarType kComputed = CppTypeToScalarType<T>::value;

  T* allocate(int64_t count) {
    const auto memory = ctx_.allocate_temp(std::max<int64_t>(count, 1) * sizeof(T), /*alignment=*/64);
    return memory.ok() ? static_cast<T*>(*memory) : nullptr;
  }

  /// Sets `data` to the contiguous elements of a tensor: its own memory, or a copy.
  bool load(const Tensor& tensor, const T*& data) {
    if (is_contiguous(tensor) && kStored == kComputed) {
      data = static_cast<const T*>(tensor.const_data_ptr());
      return true;
    }
    T* const memory = allocate(tensor.numel());
    if (memory == nullptr) {
      return false;
    }
    StridedView copied;
    static_cast<StridedShape&>(copied) = ConstStridedView(tensor).contiguous(kComputed);
    copied.data = reinterpret_cast<char*>(memory);
    copy(ConstStridedView(tensor), copied);
    data = memory;
    return true;
  }

  int64_t time_stride(int64_t features) const { return shape_.batch_first ? features : shape_.batch * features; }
  int64_t batch_stride(int64_t features) const { return shape_.batch_first ? shape_.steps * features : features; }

  /// The largest number of elements of the weights of a direction, without biases.
  int64_t weights_size() const {
    const int64_t most_inputs = std::max(shape_.inputs, shape_.layers > 1 ? shape_.features() : 0);
    return shape_.columns() * (most_inputs + shape_.state()) + filled_columns(shape_.projection) * shape_.hidden;
  }

  RecurrentWeights<T> load_weights(int64_t layer, int64_t direction, T* memory) const {
    size_t index = static_cast<size_t>((layer * shape_.directions + direction) * shape_.weights_of_direction());
    RecurrentWeights<T> weights{};
    weights.input = load_panels(weights_[index++], memory);
    weights.recurrent = load_panels(weights_[index++], memory);
    weights.bias = shape_.has_biases ? static_cast<const T*>(weights_[index++].const_data_ptr()) : nullptr;
    weights.projection = shape_.projection > 0 ? load_panels(weights_[index], memory) : nullptr;
    return weights;
  }

  /// Returns the panels of a weight: in the program, or converted at `memory`, which then moves behind them.
  const T* load_panels(const Tensor& weight, [[maybe_unused]] T*& memory) const {
    if constexpr (std::is_same_v<E, T>) {
      return static_cast<const T*>(weight.const_data_ptr());
    } else {
      T* const panels = memory;
      memory += weight.numel();
      const E* const from = static_cast<const E*>(weight.const_data_ptr());
      parallel_for(0, weight.numel(), kGrain, [&](int64_t begin, int64_t end) {
        convert_elements(kStored, from + begin, kComputed, panels + begin, end - begin);
      });
      return panels;
    }
  }

  /// Fills the states of cells in blocks of kUnits: with those of `from`, or with zeros.
  void load_cells(const T* from, int64_t index, T* cells) const {
    if (shape_.cell != Cell::kLstm) {
      return;
    }
    const int64_t stride = shape_.blocks() * kUnits;
    for (int64_t row = 0; row < shape_.batch; ++row, cells += stride) {
      std::fill_n(cells, stride, T(0));
      if (from != nullptr) {
        std::copy_n(from + (index * shape_.batch + row) * shape_.hidden, shape_.hidden, cells);
      }
    }
  }

  /// Writes the states of a direction of a layer to a result [directions of all layers, batch, features].
  void store_states(const T* rows, int64_t stride, int64_t features, int64_t index, Tensor& result) const {
    E* const to = static_cast<E*>(result.mutable_data_ptr()) + index * shape_.batch * features;
    for (int64_t row = 0; row < shape_.batch; ++row) {
      convert_elements(kComputed, rows + row * stride, kStored, to + row * features, features);
    }
  }

  KernelRuntimeContext& ctx_;
  const RecurrentShape& shape_;
  const TensorList& weights_;
  const ProductLoops& loops_;
};

/// Whether a weight has the panels of `columns` columns with a row for each of `k` features. Without ET_LOG, nothing
/// reads `what`.
bool check_recurrent_panels(const Tensor& weight, int64_t columns, int64_t k, [[maybe_unused]] const char* what) {
  ET_CHECK_OR_RETURN_FALSE(
      has_panels(weight, 0, columns, k, /*has_pairs=*/false) && is_contiguous(weight),
      "the weights of the %s are not in panels of %d columns for %d features: the input has another number of "
      "features, "
      "or the program was exported by another version of rules_executorch; then export the program again",
      what, int(kFloatPanelColumns), int(k));
  return true;
}

/// Whether the weights are those of the network.
bool check_recurrent_weights(const RecurrentShape& shape, const TensorList& weights, ScalarType type) {
  const int64_t count = shape.layers * shape.directions * shape.weights_of_direction();
  ET_CHECK_OR_RETURN_FALSE(static_cast<int64_t>(weights.size()) == count, "expected %d weights, got %d", int(count),
                           int(weights.size()));
  const ScalarType bias_type = type == ScalarType::Double ? type : ScalarType::Float;
  for (int64_t i = 0; i < count; i += shape.weights_of_direction()) {
    const int64_t layer = i / shape.weights_of_direction() / shape.directions;
    const Tensor* weight = weights.begin() + i;
    ET_LOG_AND_RETURN_IF_FALSE(check_recurrent_panels(*weight, shape.columns(), shape.inputs_of(layer), "input"));
    ET_LOG_AND_RETURN_IF_FALSE(weight->scalar_type() == type);
    ++weight;
    ET_LOG_AND_RETURN_IF_FALSE(check_recurrent_panels(*weight, shape.columns(), shape.state(), "state"));
    ET_LOG_AND_RETURN_IF_FALSE(weight->scalar_type() == type);
    if (shape.has_biases) {
      ++weight;
      ET_CHECK_OR_RETURN_FALSE(weight->dim() == 3 && weight->size(0) == shape.blocks() &&
                                   weight->size(1) == shape.biases() && weight->size(2) == kUnits &&
                                   is_contiguous(*weight) && weight->scalar_type() == bias_type,
                               "the biases are not in blocks of %d units", int(kUnits));
    }
    if (shape.projection > 0) {
      ++weight;
      ET_LOG_AND_RETURN_IF_FALSE(check_recurrent_panels(*weight, shape.projection, shape.hidden, "projection"));
      ET_LOG_AND_RETURN_IF_FALSE(weight->scalar_type() == type);
    }
  }
  return true;
}

/// Whether an initial state, if given, has a row of `features` elements for each direction of a layer and each row of
/// the batch.
bool check_state(const RecurrentShape& shape, const std::optional<Tensor>& state, int64_t features, ScalarType type) {
  ET_CHECK_OR_RETURN_FALSE(
      !state.has_value() ||
          (state->dim() == 3 && state->size(0) == shape.layers * shape.directions && state->size(1) == shape.batch &&
           state->size(2) == features && state->scalar_type() == type),
      "the initial state does not have the shape [%d, %d, %d] and the dtype of the input",
      int(shape.layers * shape.directions), int(shape.batch), int(features));
  return true;
}

/// Checks the input and sets the sizes of `shape` that the input determines.
bool check_sequence(const Tensor& in, RecurrentShape& shape) {
  const bool has_sizes = shape.hidden > 0 && shape.layers > 0 && shape.projection >= 0;
  ET_CHECK_OR_RETURN_FALSE(has_sizes, "a network of %d layers of %d hidden units", int(shape.layers),
                           int(shape.hidden));
  ET_CHECK_OR_RETURN_FALSE(in.dim() == 3, "the input has %d dimensions, not 3", int(in.dim()));
  shape.steps = in.size(shape.batch_first ? 1 : 0);
  shape.batch = in.size(shape.batch_first ? 0 : 1);
  shape.inputs = in.size(2);
  ET_CHECK_OR_RETURN_FALSE(shape.steps > 0, "the input is a sequence of no steps");
  ET_CHECK_OR_RETURN_FALSE(shape.inputs > 0, "the input has no features");
  return true;
}

bool resize_to_rows(Tensor& out, int64_t first, int64_t second, int64_t features) {
  const Tensor::SizesType sizes[] = {static_cast<Tensor::SizesType>(first), static_cast<Tensor::SizesType>(second),
                                     static_cast<Tensor::SizesType>(features)};
  return resize_to(out, {sizes, 3});
}

/// Runs a network. On an error, the context has it.
template <const char* op_name, typename Fits>
void run_network(KernelRuntimeContext& ctx, RecurrentShape shape, const Tensor& in, const std::optional<Tensor>& h_0,
                 const std::optional<Tensor>& c_0, const TensorList& weights, Tensor& out, Tensor& h_n, Tensor* c_n,
                 const Fits& dim_orders_fit) {
  // Check
  const ScalarType type = in.scalar_type();
  ET_KERNEL_CHECK(ctx, is_supported(type) && isFloatingType(type), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out, h_n), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, c_n == nullptr || tensors_have_same_dtype(in, *c_n), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, check_sequence(in, shape), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, check_recurrent_weights(shape, weights, type), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, check_state(shape, h_0, shape.state(), type), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, check_state(shape, c_0, shape.hidden, type), InvalidArgument, );

  // Resize
  const int64_t states = shape.layers * shape.directions;
  ET_KERNEL_CHECK(ctx, resize_to_rows(out, in.size(0), in.size(1), shape.features()), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, resize_to_rows(h_n, states, shape.batch, shape.state()), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, c_n == nullptr || resize_to_rows(*c_n, states, shape.batch, shape.hidden), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, dim_orders_fit(), InvalidArgument, );
  if (shape.batch == 0) {
    return;
  }

  // Compute
  ET_SWITCH_FLOATHBF16_TYPES(type, ctx, op_name, CTYPE, [&] {
    const bool has_memory = RecurrentNetwork<CTYPE>(ctx, shape, weights).compute(in, h_0, c_0, out, h_n, c_n);
    ET_KERNEL_CHECK_MSG(ctx, has_memory, MemoryAllocationFailed, , "not enough temporary memory for recurrent layers");
  });
}

}  // namespace

std::tuple<Tensor&, Tensor&> packed_gru_out(KernelRuntimeContext& ctx, const Tensor& in,
                                            const std::optional<Tensor>& h_0, TensorList weights, int64_t hidden_size,
                                            int64_t num_layers, bool has_biases, bool bidirectional, bool batch_first,
                                            Tensor& out, Tensor& h_n) {
  ET_DEFINE_OPERATOR_NAME(op_name, "packed_gru.out");
  const RecurrentShape shape{Cell::kGru, 0,          0, 0, hidden_size, 0, num_layers, bidirectional ? 2 : 1,
                             has_biases, batch_first};
  run_network<op_name>(ctx, shape, in, h_0, std::nullopt, weights, out, h_n, nullptr,
                       [&] { return packed_gru_dim_orders_fit(in, h_0, out, h_n); });
  return {out, h_n};
}

std::tuple<Tensor&, Tensor&, Tensor&> packed_lstm_out(KernelRuntimeContext& ctx, const Tensor& in,
                                                      const std::optional<Tensor>& h_0,
                                                      const std::optional<Tensor>& c_0, TensorList weights,
                                                      int64_t hidden_size, int64_t proj_size, int64_t num_layers,
                                                      bool has_biases, bool bidirectional, bool batch_first,
                                                      Tensor& out, Tensor& h_n, Tensor& c_n) {
  ET_DEFINE_OPERATOR_NAME(op_name, "packed_lstm.out");
  const RecurrentShape shape{Cell::kLstm,           0,          0,          0, hidden_size, proj_size, num_layers,
                             bidirectional ? 2 : 1, has_biases, batch_first};
  run_network<op_name>(ctx, shape, in, h_0, c_0, weights, out, h_n, &c_n,
                       [&] { return packed_lstm_dim_orders_fit(in, h_0, c_0, out, h_n, c_n); });
  return {out, h_n, c_n};
}

std::tuple<Tensor&, Tensor&> packed_rnn_out(KernelRuntimeContext& ctx, const Tensor& in,
                                            const std::optional<Tensor>& h_0, TensorList weights, int64_t hidden_size,
                                            int64_t num_layers, bool has_biases, bool bidirectional, bool batch_first,
                                            std::string_view nonlinearity, Tensor& out, Tensor& h_n) {
  ET_DEFINE_OPERATOR_NAME(op_name, "packed_rnn.out");
  std::tuple<Tensor&, Tensor&> results(out, h_n);
  ET_KERNEL_CHECK_MSG(ctx, nonlinearity == "tanh" || nonlinearity == "relu", InvalidArgument, results,
                      "the nonlinearity is neither tanh nor relu");
  const RecurrentShape shape{nonlinearity == "tanh" ? Cell::kTanh : Cell::kRelu,
                             0,
                             0,
                             0,
                             hidden_size,
                             0,
                             num_layers,
                             bidirectional ? 2 : 1,
                             has_biases,
                             batch_first};
  run_network<op_name>(ctx, shape, in, h_0, std::nullopt, weights, out, h_n, nullptr,
                       [&] { return packed_rnn_dim_orders_fit(in, h_0, out, h_n); });
  return results;
}

}  // namespace torch::executor::native
