// Makes values of the random room, for tests written in Python: one question a line on standard input, a JSON object:
//
//   {"initializer": {"class_name": ..., "config": {...}}, ...}   or   {"distribution": "normal", "key": [0, 42],
//   "parameters": {"stddev": 2.0}, ...}   with   "shape", "dtype", "rounding", "out" (a file for the raw values), and
//   either "box": [origin, extent] or "range": [first, count]; "target": one of the names that "targets" gives
//   {"permutation": n, "key": ...}, {"shuffle": rows, "row_bytes": n, "in": file, "out": file, "key": ...}
//   {"split": n, "key": ...}, {"fold_in": data, "key": ...}, {"python_seed": s, "draws": n}, {"seed_generator": state,
//   "draws": n, "ordered": true}, {"fans": shape, "axes": [...]}, {"describe": config}, {"targets": true}
//
// The answer is a JSON object; {"error": ...} when the library refuses.
#include <hwy/highway.h>

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "shardwise/initializer.h"

namespace {

using namespace shardwise;
using Json = nlohmann::json;
using Bytes = std::vector<std::byte>;

RandomKey key_of(const Json& json) { return {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>()}; }
Json to_json(RandomKey key) { return {key.a, key.b}; }
Json error(const Status& status) { return {{"error", status.to_string()}}; }

InitializerConfig config_of(const Json& json) {
  if (json.is_string()) return {json.get<std::string>(), {}};
  InitializerConfig config{json.at("class_name").get<std::string>(), {}};
  for (const auto& [name, value] : json.at("config").items()) {
    InitializerConfig::Value parsed;
    if (value.is_boolean()) parsed = value.get<bool>();
    if (value.is_number_integer()) parsed = value.get<std::int64_t>();
    if (value.is_number_float()) parsed = value.get<double>();
    if (value.is_string()) parsed = value.get<std::string>();
    if (value.is_array()) {
      bool whole = true;
      for (const Json& one : value) whole = whole && one.is_number_integer();
      if (whole) {
        parsed = value.get<std::vector<std::int64_t>>();
      } else {
        parsed = value.get<std::vector<double>>();
      }
    }
    config.config[name] = parsed;
  }
  return config;
}

random::Distribution distribution_of(const Json& json) {
  const auto name = json.at("distribution").get<std::string>();
  const Json of = json.value("parameters", Json::object());
  if (name == "bits") return random::Bits{};
  if (name == "uniform") return random::Uniform{of.value("minval", 0.0), of.value("maxval", 1.0)};
  if (name == "normal") return random::Normal{of.value("mean", 0.0), of.value("stddev", 1.0)};
  if (name == "bernoulli") return random::Bernoulli{of.value("p", 0.5)};
  if (name == "randint") return random::RandInt{of.at("minval"), of.at("maxval")};
  return random::TruncatedNormal{of.value("mean", 0.0), of.value("stddev", 1.0), of.value("lower", -2.0),
                                 of.value("upper", 2.0)};
}

Result<Generator> generator_of(const Json& ask) {
  const auto shape = ask.at("shape").get<Shape>();
  const DType dtype = parse_dtype(ask.at("dtype").get<std::string>()).value();
  SHARDWISE_ASSIGN_OR_RETURN(const Rounding rounding, parse_rounding(ask.value("rounding", "eager")));
  if (ask.contains("distribution")) {
    return random::make_generator(key_of(ask.at("key")), distribution_of(ask), shape, dtype, rounding);
  }
  SHARDWISE_ASSIGN_OR_RETURN(const Initializer initializer, make_initializer(config_of(ask.at("initializer"))));
  return make_generator(initializer, shape, dtype, rounding);
}

void write(const std::string& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

Json make_values(const Json& ask) {
  const Result<Generator> generator = generator_of(ask);
  if (!generator.ok()) return error(generator.status());
  Bytes out;
  Status status;
  if (ask.contains("range")) {
    out.resize(ask.at("range").at(1).get<std::size_t>() * byte_width(generator->dtype()));
    status = generator->generate_range(ask.at("range").at(0).get<std::uint64_t>(), out);
  } else {
    Box box = Box::whole(generator->shape());
    if (ask.contains("box")) box = {ask.at("box").at(0), ask.at("box").at(1)};
    out.resize(box.elements() * byte_width(generator->dtype()));
    status = generator->generate(box, out);
  }
  if (!status.ok()) return error(status);
  write(ask.at("out"), out);
  return {{"bytes", out.size()}};
}

Json describe(const Json& ask) {
  const auto initializer = make_initializer(config_of(ask.at("describe")));
  if (!initializer.ok()) return error(initializer.status());
  return {{"text", initializer->to_string()}, {"whole", initializer->needs_whole_tensor()}};
}

Json shuffled(const Json& ask) {
  std::ifstream file(ask.at("in").get<std::string>(), std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  Bytes bytes(data, data + text.size());
  const Status status = random::shuffle(key_of(ask.at("key")), bytes, ask.at("row_bytes"));
  if (!status.ok()) return error(status);
  write(ask.at("out"), bytes);
  return Json::object();
}

Json drawn(const Json& ask) {
  Json out = Json::array();
  if (ask.contains("python_seed")) {
    PythonRandom python(ask.at("python_seed").get<std::uint64_t>());
    for (int i = 0; i < ask.at("draws"); ++i) out.push_back(python.default_seed());
  } else {
    SeedGenerator generator(key_of(ask.at("seed_generator")));
    for (int i = 0; i < ask.at("draws"); ++i) {
      out.push_back(to_json(ask.at("ordered") ? generator.next() : generator.next_unordered()));
    }
  }
  return {{"values", out}};
}

Json targets() {
  Json names = Json::array();
  const auto all = static_cast<std::uint64_t>(hwy::SupportedTargets());
  for (std::uint64_t left = all; left != 0; left &= left - 1) {
    names.push_back(hwy::TargetName(static_cast<std::int64_t>(left & -left)));
  }
  return {{"values", names}};
}

void choose(const std::string& name) {
  const auto all = static_cast<std::uint64_t>(hwy::SupportedTargets());
  for (std::uint64_t left = all; left != 0; left &= left - 1) {
    const auto one = static_cast<std::int64_t>(left & -left);
    if (name == hwy::TargetName(one)) hwy::GetChosenTarget().Update(one);
  }
}

Json answer(const Json& ask) {
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  if (ask.contains("target")) choose(ask.at("target"));
  if (ask.contains("targets")) return targets();
  if (ask.contains("describe")) return describe(ask);
  if (ask.contains("shuffle")) return shuffled(ask);
  if (ask.contains("draws")) return drawn(ask);
  if (ask.contains("permutation")) {
    const auto order = random::permutation(key_of(ask.at("key")), ask.at("permutation"));
    return order.ok() ? Json{{"values", *order}} : error(order.status());
  }
  if (ask.contains("split")) {
    Json out = Json::array();
    for (const RandomKey key : random::split(key_of(ask.at("key")), ask.at("split"))) out.push_back(to_json(key));
    return {{"values", out}};
  }
  if (ask.contains("fold_in")) return {{"values", to_json(random::fold_in(key_of(ask.at("key")), ask.at("fold_in")))}};
  return make_values(ask);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer(Json::parse(line)).dump() << std::endl;
  }
}
