#include "kernels/fourier/roots.h"

#include <cmath>

namespace rules_executorch::kernels {

Root root_of_unity(int64_t k, int64_t n) {
  constexpr double kEighthOfTurn = 0.78539816339744830962;
  // The octant, and the rest of the angle from the nearer of the octant's axes, are exact.
  const int64_t octant = 8 * k / n;
  const int64_t rest = 8 * k - octant * n;
  const double angle = kEighthOfTurn * static_cast<double>(octant % 2 == 0 ? rest : n - rest) / static_cast<double>(n);
  const double cosine = std::cos(angle);
  const double sine = std::sin(angle);
  const bool is_steep = (octant + 1) / 2 % 2 != 0;  // nearer to the imaginary axis
  const bool is_left = octant >= 2 && octant < 6;
  const double re = is_steep ? sine : cosine;
  const double im = is_steep ? cosine : sine;
  return {is_left ? -re : re, octant < 4 ? -im : im};
}

template <typename T>
void write_roots(int64_t n, Signal<T> roots) {
  // Symmetry gives the powers after the first eighth, quarter or half of the circle.
  const int64_t computed = n % 4 == 0 ? n / 8 : n % 2 == 0 ? n / 4 : n / 2;
  for (int64_t k = 0; k < n; ++k) {
    if (k <= computed) {
      const Root root = root_of_unity(k, n);
      roots.re[k] = static_cast<T>(root.re);
      roots.im[k] = static_cast<T>(root.im);
    } else if (2 * k > n) {
      roots.re[k] = roots.re[n - k];
      roots.im[k] = -roots.im[n - k];
    } else if (4 * k > n) {
      roots.re[k] = -roots.re[n / 2 - k];
      roots.im[k] = roots.im[n / 2 - k];
    } else {
      roots.re[k] = -roots.im[n / 4 - k];
      roots.im[k] = -roots.re[n / 4 - k];
    }
  }
}

template void write_roots(int64_t n, Signal<float> roots);
template void write_roots(int64_t n, Signal<double> roots);

}  // namespace rules_executorch::kernels
