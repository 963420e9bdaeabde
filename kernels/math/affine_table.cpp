#include "kernels/math/affine_table.h"

#include <algorithm>
#include <cmath>

namespace rules_executorch::kernels {
namespace {

/// The least distance between a line of slope 1 and the middle of two integers, for x up to 255. The rounding of scale,
/// offset and result to floats is less. For steeper lines, the rounding and the distance grow with the slope.
constexpr double kMargin = 1e-4;
constexpr int kMostSteps = 24;

/// The results of x from `first` to `last`. Between these, the results are not clamped.
class Results {
 public:
  Results(const uint8_t* table, bool is_signed, int first, int last) : table_(table), is_signed_(is_signed) {
    while (first < last && (*this)[first + 1] == (*this)[first]) {
      ++first;
    }
    while (last > first && (*this)[last - 1] == (*this)[last]) {
      --last;
    }
    first_ = first;
    last_ = last;
  }

  int operator[](int x) const {
    const uint8_t bits = table_[static_cast<uint8_t>(x)];
    return is_signed_ ? static_cast<int8_t>(bits) : bits;
  }

  int first() const { return first_; }
  int last() const { return last_; }

  /// Whether all results are close to the line through the second and the last but one.
  bool are_straight() const {
    const double scale = slope();
    for (int x = first_ + 1; x < last_; ++x) {
      if (std::abs((*this)[first_ + 1] + scale * (x - first_ - 1) - (*this)[x]) > 1) {
        return false;
      }
    }
    return true;
  }

  /// The slope of the line through the second result and the last but one.
  double slope() const {
    const int count = last_ - first_ - 2;
    return count > 0 ? static_cast<double>((*this)[last_ - 1] - (*this)[first_ + 1]) / count : 0;
  }

 private:
  const uint8_t* table_;
  bool is_signed_;
  int first_;
  int last_;
};

}  // namespace

bool find_affine(const uint8_t* table, bool is_signed, int first, int last, AffineTable& line) {
  const Results results(table, is_signed, first, last);
  const int min = results[results.first()];
  const int max = results[results.last()];
  line = {0, static_cast<float>(min), static_cast<float>(min), static_cast<float>(max)};
  if (results.first() == results.last()) {
    return true;
  }
  if (max < min || !results.are_straight()) {
    return false;
  }
  // The true slope differs from the slope of two rounded results by less than 1 over their distance.
  const int distance = results.last() - results.first() - 2;
  double least = distance > 0 ? std::max(results.slope() - 1.0 / distance, 0.0) : 0;
  double most = distance > 0 ? results.slope() + 1.0 / distance : max - min + 1;
  for (int step = 0; step < kMostSteps; ++step) {
    // For a slope, the offset must be above all of one bounds, and below all of the others. The first and the last
    // result may be clamped, so the line may be below the first and above the last.
    const double scale = (least + most) / 2;
    double above = -INFINITY;
    double below = INFINITY;
    int x_above = 0;
    int x_below = 0;
    for (int x = results.first(); x <= results.last(); ++x) {
      const double offset = results[x] - scale * x;
      if (x > results.first() && offset - 0.5 > above) {
        above = offset - 0.5;
        x_above = x;
      }
      if (x < results.last() && offset + 0.5 < below) {
        below = offset + 0.5;
        x_below = x;
      }
    }
    if (below - above > 2 * kMargin * std::max(scale, 1.0)) {
      line.scale = static_cast<float>(scale);
      line.offset = static_cast<float>((below + above) / 2);
      return true;
    }
    // The distance of the two bounds is a concave function of the slope.
    (x_above > x_below ? least : most) = scale;
  }
  return false;
}

}  // namespace rules_executorch::kernels
