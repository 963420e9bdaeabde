#pragma once

#include <cstdint>

#include "kernels/math/divide_up.h"
#include "kernels/recurrent/cell.h"

namespace rules_executorch::kernels {

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

}  // namespace rules_executorch::kernels
