#include "kernels/gemm/product_loops.h"
#include "tools/bench/highway/routines.h"

namespace kernels = rules_executorch::kernels;

namespace {

// Not product_loops(), which adds a tile of wide vectors to the baseline. Those are for compiler vectors only.
constexpr kernels::ProductLoops kLoops = kernels::internal::make_product_loops<kernels::internal::BaseTile, float>();

}  // namespace

void multiply_floats(const float* a, const float* b, float* totals, int64_t rows, int64_t k, int64_t columns) {
  constexpr int64_t kColumns = kernels::kTileBytes / sizeof(float);
  for (int64_t j = 0; j < columns; j += kColumns) {
    kLoops.add_panel({totals + j, columns, a, k, b + j * k, kColumns, rows, kColumns, k, /*replaces_totals=*/true});
  }
}

void add_row(const float* a, const float* b, float* totals, int64_t k, int64_t columns) {
  kLoops.rows.add_rows(totals, a, b, columns, k, columns);
}
