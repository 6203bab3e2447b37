// Answers questions about meshes, layouts, patterns and placements: one JSON object per line of standard input, one
// answer per line of standard output. test_mesh_oracle.py and its neighbours compare the answers with Keras, JAX and
// Python's re.
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "mesh/pattern.h"
#include "shardwise/layout.h"
#include "shardwise/mesh.h"
#include "shardwise/placement.h"

namespace shardwise {
namespace {

using Json = nlohmann::json;

Json error(const Status& status) { return {{"code", to_string(status.code())}, {"error", status.message()}}; }

DeviceMesh to_mesh(const Json& json) {
  return DeviceMesh(json["shape"].get<std::vector<std::int64_t>>(), json["axes"].get<std::vector<std::string>>(),
                    abstract_devices(json["devices"].get<std::size_t>()));
}

TensorLayout to_layout(const Json& json) {
  TensorLayout layout;
  for (const Json& axis : json) layout.axes.push_back(axis.is_null() ? Axis() : Axis(axis.get<std::string>()));
  return layout;
}

Json to_json(const TensorLayout& layout) {
  Json out = Json::array();
  for (const Axis& axis : layout.axes) out.push_back(axis ? Json(*axis) : Json());
  return out;
}

MatchDialect to_dialect(const Json& question) {
  return question.value("dialect", "fullmatch") == "search" ? MatchDialect::kSearch : MatchDialect::kFullMatch;
}

Uneven to_uneven(const Json& question) {
  return question.value("uneven", "refuse") == "replicate" ? Uneven::kReplicate : Uneven::kRefuse;
}

Json answer_mesh(const Json& question) {
  const DeviceMesh mesh = to_mesh(question["mesh"]);
  if (!mesh.status().ok()) return error(mesh.status());
  return {{"repr", mesh.to_string()}};
}

Json answer_map(const Json& question) {
  LayoutMap map(to_mesh(question["mesh"]), {.dialect = to_dialect(question)});
  for (const Json& rule : question["rules"]) map.set(rule[0].get<std::string>(), to_layout(rule[1]));
  if (!map.status().ok()) return error(map.status());
  Json found = Json::array();
  for (const Json& path : question["paths"]) {
    const auto layout = map.find(path.get<std::string>());
    if (!layout.ok()) {
      found.push_back(error(layout.status()));
    } else {
      found.push_back(*layout ? to_json(**layout) : Json());
    }
  }
  return {{"found", found}};
}

Json answer_pattern(const Json& question) {
  const auto pattern = Pattern::compile(question["pattern"].get<std::string>(), to_dialect(question));
  if (!pattern.ok()) return error(pattern.status());
  Json matches = Json::array();
  MatchScratch scratch;
  for (const Json& text : question["texts"]) {
    const std::string subject = text.get<std::string>();
    const auto result = pattern->matches(subject, scratch);
    // The cheap test must never deny a match.
    const bool consistent = !result.ok() || !*result || pattern->may_match(subject);
    matches.push_back(!consistent ? Json("may_match is wrong") : result.ok() ? Json(*result) : error(result.status()));
  }
  return {{"matches", matches}};
}

Json answer_place(const Json& question) {
  const DeviceMesh mesh = to_mesh(question["mesh"]);
  const auto placement = place(question.value("path", "x"), question["shape"].get<Shape>(),
                               to_layout(question["layout"]), mesh, to_uneven(question));
  if (!placement.ok()) return error(placement.status());
  Json devices = Json::array();
  for (std::uint32_t index : placement->device_box) {
    devices.push_back({{"origin", placement->boxes[index].origin}, {"extent", placement->boxes[index].extent}});
  }
  return {{"devices", devices},
          {"boxes", placement->boxes.size()},
          {"replicas", placement->replicas()},
          {"shard_shape", placement->shard_shape},
          {"layout", to_json(placement->layout)},
          {"notes", placement->notes},
          {"text", to_string(*placement)}};
}

// Layout and placement of every variable, by a built-in layout or a JSON text.
Json answer_distribution(const Json& question) {
  const DeviceMesh mesh = to_mesh(question["mesh"]);
  const LayoutMapOptions options{.uneven = to_uneven(question)};
  const auto distribution = question.contains("builtin")
                                ? builtin_layout(question["builtin"].get<std::string>(), mesh, options)
                                : parse_layout(question["json"].get<std::string>(), mesh, options);
  if (!distribution.ok()) return error(distribution.status());
  Json variables = Json::array();
  for (const Json& variable : question["variables"]) {
    const std::string path = variable[0].get<std::string>();
    const Shape shape = variable[1].get<Shape>();
    const auto choice = distribution->variable_layout(path, shape, DType::kFloat32);
    if (!choice.ok()) {
      variables.push_back(error(choice.status()));
      continue;
    }
    const auto placement = place(path, shape, choice->layout, mesh, distribution->uneven());
    Json item = placement.ok() ? Json{{"boxes", placement->boxes.size()}} : error(placement.status());
    item["layout"] = to_json(choice->layout);
    item["has_rule"] = choice->rule.has_value();
    variables.push_back(item);
  }
  return {{"variables", variables}};
}

int run() {
  const std::map<std::string, std::function<Json(const Json&)>> answers = {{"mesh", answer_mesh},
                                                                           {"map", answer_map},
                                                                           {"pattern", answer_pattern},
                                                                           {"place", answer_place},
                                                                           {"distribution", answer_distribution}};
  for (std::string line; std::getline(std::cin, line);) {
    const Json question = Json::parse(line);
    std::cout << answers.at(question["ask"].get<std::string>())(question).dump(-1, ' ', true) << '\n';
  }
  return 0;
}

}  // namespace
}  // namespace shardwise

int main() { return shardwise::run(); }
