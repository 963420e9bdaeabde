#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "kernels/copy/copy.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/recurrent/task.h"
#include "kernels/tensors/convert.h"
#include "kernels/views/memory_format.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

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
    const T* source = nullptr;
    if (!load(in, source) || (h_0.has_value() && !load(*h_0, states_)) || (c_0.has_value() && !load(*c_0, cells_)) ||
        !allocate_all()) {
      return false;
    }
    // The results of a layer are the input of the next one.
    for (int64_t layer = 0; layer < shape_.layers; ++layer) {
      T* target = results_[layer % 2];
      if constexpr (!kIsConverted) {
        target = layer == shape_.layers - 1 ? static_cast<T*>(out.mutable_data_ptr()) : target;
      }
      compute_layer(layer, source, target);
      const int64_t cells_stride = shape_.blocks() * kUnits;
      for (int64_t d = 0; d < shape_.directions; ++d) {
        const int64_t last = d == 1 ? 0 : shape_.steps - 1;
        const int64_t index = layer * shape_.directions + d;
        store_states(sequence_of(target).at(last, 0) + d * shape_.state(), batch_stride(shape_.features()),
                     shape_.state(), index, h_n);
        if (c_n != nullptr) {
          store_states(cell_memory_ + d * cell_size(), cells_stride, shape_.hidden, index, *c_n);
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
  static constexpr bool kIsConverted = !std::is_same_v<E, T>;

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

  /// Allocates the memory that the layers share.
  bool allocate_all() {
    // The batch is divided among threads. Without rows for all threads, they share each step.
    const int64_t threads = std::clamp<int64_t>(thread_count() / shape_.directions, 1, shape_.batch);
    part_rows_ = divide_up(shape_.batch, threads);
    parts_ = divide_up(shape_.batch, part_rows_);
    const int64_t of_tasks = parts_ * shape_.directions * RecurrentTask<T>::memory_size(shape_, part_rows_);
    const int64_t of_cells = shape_.directions * cell_size();
    task_memory_ = allocate(of_tasks + of_cells + shape_.state());
    if (task_memory_ == nullptr) {
      return false;
    }
    cell_memory_ = task_memory_ + of_tasks;
    zeros_ = cell_memory_ + of_cells;
    std::fill_n(zeros_, shape_.state(), T(0));
    const int64_t needed = std::min<int64_t>(shape_.layers - (kIsConverted ? 0 : 1), 2);
    for (int64_t i = 0; i < needed; ++i) {
      results_[i] = allocate(shape_.steps * shape_.batch * shape_.features());
      if (results_[i] == nullptr) {
        return false;
      }
    }
    if constexpr (kIsConverted) {
      converted_ = allocate(shape_.directions * weights_size());
      return converted_ != nullptr;
    }
    return true;
  }

  /// Computes all steps of a layer, from its input `source` to its results `target`.
  void compute_layer(int64_t layer, const T* source, T* target) {
    const int64_t inputs = shape_.inputs_of(layer);
    const Sequence<const T> in{source, time_stride(inputs), batch_stride(inputs)};
    const Sequence<T> out = sequence_of(target);
    RecurrentWeights<T> weights[2];
    for (int64_t d = 0; d < shape_.directions; ++d) {
      weights[d] = load_weights(layer, d, converted_ + (kIsConverted ? d * weights_size() : 0));
      load_cells(cells_, layer * shape_.directions + d, cell_memory_ + d * cell_size());
    }
    const int64_t tasks = parts_ * shape_.directions;
    const int64_t task_size = RecurrentTask<T>::memory_size(shape_, part_rows_);
    const int64_t products = shape_.steps * part_rows_ * shape_.columns() * (inputs + shape_.state());
    parallel_for(0, tasks, grain_of(products / kProductsOfAddition, 0), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t d = i / parts_;
        const int64_t row = i % parts_ * part_rows_;
        RecurrentTask<T> task{loops_, shape_};
        task.weights = weights[d];
        task.inputs = inputs;
        task.in = {in.at(0, row), in.time, in.batch};
        task.out = {out.at(0, row) + d * shape_.state(), out.time, out.batch};
        if (states_ == nullptr) {
          task.first = zeros_;
        } else {
          task.first = states_ + ((layer * shape_.directions + d) * shape_.batch + row) * shape_.state();
          task.first_stride = shape_.state();
        }
        if (cell_size() > 0) {
          task.cells = cell_memory_ + d * cell_size() + row * shape_.blocks() * kUnits;
        }
        task.rows = std::min(part_rows_, shape_.batch - row);
        task.is_reverse = d == 1;
        task.is_alone = tasks == 1;
        task.use_memory(task_memory_ + i * task_size);
        task.compute();
      }
    });
  }

  /// The number of elements of the states of cells of a direction.
  int64_t cell_size() const { return shape_.cell == Cell::kLstm ? shape_.batch * shape_.blocks() * kUnits : 0; }

  Sequence<T> sequence_of(T* results) const {
    return {results, time_stride(shape_.features()), batch_stride(shape_.features())};
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
  const T* states_ = nullptr;  // the initial state; null for zeros
  const T* cells_ = nullptr;   // the initial state of the cells; null for zeros
  int64_t parts_ = 0;          // of the batch
  int64_t part_rows_ = 0;
  T* task_memory_ = nullptr;
  T* cell_memory_ = nullptr;
  T* zeros_ = nullptr;
  T* results_[2] = {};
  T* converted_ = nullptr;  // the weights of a layer as T
};

}  // namespace rules_executorch::kernels
