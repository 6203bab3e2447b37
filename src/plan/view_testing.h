// A naive View for tests: every index followed through every step, one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "plan/strides.h"
#include "shardwise/view.h"

namespace shardwise {

inline std::vector<std::int64_t> unravel(std::int64_t linear, const Shape& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = linear % shape[d];
    linear /= shape[d];
  }
  return index;
}

inline std::int64_t ravel(const std::vector<std::int64_t>& index, const Shape& shape) {
  std::int64_t linear = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) linear = linear * shape[d] + index[d];
  return linear;
}

// Row-major index in the source of the element at `index` of the view.
inline std::int64_t naive_source(const View& view, std::vector<std::int64_t> index) {
  for (std::size_t s = view.steps().size(); s-- > 0;) {
    const View::Step& step = view.steps()[s];
    std::vector<std::int64_t> before(step.input_shape.size());
    switch (step.kind) {
      case View::Step::Kind::kReshape:
        before = unravel(ravel(index, step.output_shape), step.input_shape);
        break;
      case View::Step::Kind::kTranspose:
        for (std::size_t d = 0; d < index.size(); ++d) before[static_cast<std::size_t>(step.a[d])] = index[d];
        break;
      case View::Step::Kind::kSlice:
        for (std::size_t d = 0; d < index.size(); ++d) before[d] = step.a[d] + index[d] * step.b[d];
        break;
    }
    index = std::move(before);
  }
  return ravel(index, view.source_shape());
}

// A random view of up to `steps` steps, also such that cut through earlier ones.
class RandomViews {
 public:
  explicit RandomViews(std::uint64_t seed) : random_(seed) {}

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  Shape shape(std::size_t max_rank, std::int64_t max_extent) {
    Shape out;
    const auto rank = static_cast<std::size_t>(number(0, static_cast<std::int64_t>(max_rank)));
    for (std::size_t d = 0; d < rank; ++d) out.push_back(number(1, max_extent));
    return out;
  }
  View view(const Shape& source, int steps) {
    View view = View::of(source);
    for (int s = 0; s < steps; ++s) view = step(view);
    return view;
  }
  std::mt19937_64& engine() { return random_; }

 private:
  View step(const View& view) {
    const Shape& shape = view.shape();
    switch (number(0, 2)) {
      case 0: {
        std::vector<int> permutation(shape.size());
        for (std::size_t d = 0; d < shape.size(); ++d) permutation[d] = static_cast<int>(d);
        std::shuffle(permutation.begin(), permutation.end(), random_);
        return view.transpose(permutation).value();
      }
      case 1: {
        std::int64_t left = static_cast<std::int64_t>(element_count(shape).value());
        Shape out;
        while (left > 1 && out.size() < 4) {
          std::vector<std::int64_t> divisors;
          for (std::int64_t k = 1; k <= left; ++k) {
            if (left % k == 0) divisors.push_back(k);
          }
          out.push_back(divisors[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(divisors.size()) - 1))]);
          left /= out.back();
        }
        out.push_back(left);
        return view.reshape(out).value();
      }
      default: {
        std::vector<std::int64_t> begin, end, by;
        for (const std::int64_t extent : shape) {
          begin.push_back(number(0, extent - 1));
          end.push_back(number(begin.back() + 1, extent));
          by.push_back(number(1, 3));
        }
        return view.slice(begin, end, by).value();
      }
    }
  }

  std::mt19937_64 random_;
};

}  // namespace shardwise
