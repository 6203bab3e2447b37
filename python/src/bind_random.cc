// Values that are made: Keras's initializers and JAX's distributions.
#include "convert.h"
#include "shardwise/initializer.h"
#include "shardwise/random.h"

namespace shardwise::python {
namespace {

using Key = std::pair<std::uint32_t, std::uint32_t>;

// In the order of variants: an int is no bool and no double.
Initializer from_config(const std::string& class_name, const nb::dict& config) {
  InitializerConfig out{.class_name = class_name};
  for (const auto& [key, value] : config) {
    const auto name = nb::cast<std::string>(key);
    if (value.is_none()) {
      out.config[name] = std::monostate();
    } else if (nb::isinstance<nb::bool_>(value)) {
      out.config[name] = nb::cast<bool>(value);
    } else if (nb::isinstance<nb::int_>(value)) {
      out.config[name] = nb::cast<std::int64_t>(value);
    } else if (nb::isinstance<nb::float_>(value)) {
      out.config[name] = nb::cast<double>(value);
    } else if (nb::isinstance<nb::str>(value)) {
      out.config[name] = nb::cast<std::string>(value);
    } else {
      out.config[name] = nb::cast<std::vector<std::int64_t>>(value);
    }
  }
  return take(make_initializer(out), Missing::kKey);
}

random::Distribution to_distribution(const std::string& kind, const std::vector<double>& of) {
  const auto at = [&](std::size_t k) { return of.at(k); };
  if (kind == "bits") return random::Bits{};
  if (kind == "uniform") return random::Uniform{at(0), at(1)};
  if (kind == "normal") return random::Normal{at(0), at(1)};
  if (kind == "truncated_normal") return random::TruncatedNormal{at(0), at(1), at(2), at(3)};
  if (kind == "bernoulli") return random::Bernoulli{at(0)};
  raise(invalid_argument("unknown distribution '" + kind + "'"));
}

// Any part of what a key gives, as a source of values for a plan.
Initializer from_distribution(const std::string& name, RandomKey key, random::Distribution of) {
  return custom_per_box(
      name,
      [key, of = std::move(of)](const Shape& shape, DType dtype, const Box& box, std::span<std::byte> out) -> Status {
        SHARDWISE_ASSIGN_OR_RETURN(const Generator values, random::make_generator(key, of, shape, dtype));
        return values.generate(box, out);
      });
}

}  // namespace

void bind_random(nb::module_& m) {
  nb::class_<Initializer>(m, "Initializer", "A class of Keras's initializers and its parameters. Immutable.")
      .def_prop_ro("class_name", &Initializer::class_name)
      .def_prop_ro("needs_whole_tensor", &Initializer::needs_whole_tensor,
                   "Whether a shard cannot be made without the whole tensor (Orthogonal).")
      .def(
          "check",
          [](const Initializer& i, const Shape& shape, const std::string& dtype) {
            check(shardwise::check(i, shape, to_dtype(dtype)));
          },
          nb::arg("shape"), nb::arg("dtype"), "Raises ValueError when it cannot make such a tensor.")
      .def("__repr__", &Initializer::to_string);
  m.def("make_initializer", &from_config, nb::arg("class_name"), nb::arg("config"),
        "From Keras's class name and get_config(); a seed is an int. Raises KeyError for a class that is none of "
        "Keras's, "
        "ValueError for its parameters.");
  m.def(
      "random_values",
      [](const std::string& kind, const std::vector<double>& parameters, Key key) {
        return from_distribution(kind, RandomKey{key.first, key.second}, to_distribution(kind, parameters));
      },
      nb::arg("kind"), nb::arg("parameters"), nb::arg("key"),
      "jax.random's 'bits', 'uniform' (minval, maxval), 'normal' (mean, stddev), 'truncated_normal' (mean, stddev, "
      "lower, upper) or 'bernoulli' (p) of the two words of a key, as a source of values for a plan.");
  m.def(
      "random_integers",
      [](std::int64_t minval, std::int64_t maxval, Key key) {
        return from_distribution("randint", RandomKey{key.first, key.second}, random::RandInt{minval, maxval});
      },
      nb::arg("minval"), nb::arg("maxval"), nb::arg("key"), "jax.random.randint, in the same way.");
  m.def(
      "keras_rounding",
      [](const Shape& shape, std::uint64_t devices) { return to_string(keras_rounding(shape, devices)); },
      nb::arg("shape"), nb::arg("devices"), "'eager' or 'jit': how Keras 3.15 computes a variable's first value.");
}

}  // namespace shardwise::python
