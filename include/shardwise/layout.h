// TensorLayout, LayoutMap and the two distributions of keras.distribution, with Keras 3.15's rules and error texts.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shardwise/mesh.h"
#include "shardwise/shape.h"
#include "shardwise/status.h"

namespace shardwise {

// The mesh axis that splits a dimension; nullopt (Keras's None) leaves the dimension whole.
using Axis = std::optional<std::string>;

// Mesh axis per tensor dimension. Fewer entries than dimensions: the rest stay whole (JAX's rule).
struct TensorLayout {
  std::vector<Axis> axes;

  TensorLayout() = default;
  TensorLayout(std::initializer_list<Axis> list) : axes(list) {}
  explicit TensorLayout(std::vector<Axis> list) : axes(std::move(list)) {}

  bool is_replicated() const;
  friend bool operator==(const TensorLayout&, const TensorLayout&) = default;
};
// "('model', None)", "('model',)", "()": as Python prints the tuple.
std::string to_string(const TensorLayout& layout);

// How a rule's key is compared with a path. A key equal to the path always wins over patterns.
enum class MatchDialect : std::uint8_t {
  kFullMatch,  // Keras 3.14 and later: re.fullmatch
  kSearch,     // Keras 3.0 to 3.13: re.search
};

// What happens to a variable when a dimension is not divisible by the axes of its layout.
enum class Uneven : std::uint8_t {
  kRefuse,     // as JAX: an error that says which dimension, which axis, which numbers and what would divide
  kReplicate,  // that dimension stays whole; reported
};

// Whether a rule that matches no variable is worth saying.
enum class UnmatchedRules : std::uint8_t {
  kReport,
  kIgnore,  // built-in maps: they hold rules for several families of names, of which a checkpoint uses one
};

struct LayoutMapOptions {
  MatchDialect dialect = MatchDialect::kFullMatch;
  Uneven uneven = Uneven::kRefuse;
  UnmatchedRules unmatched = UnmatchedRules::kReport;
};

class Distribution;
struct AutoRule;

// Ordered rules path pattern -> layout, as keras.distribution.LayoutMap. Patterns are Python regular expressions
// (through PCRE2 with match limits; a pattern that exceeds them is an error, never a hang; stop asking at the first
// such error). Patterns and paths are at most 4096 bytes of UTF-8, maps at most 4096 rules; a byte of a path that is
// not UTF-8 counts as one character that is no letter, digit or space.
//
// Thread-compatible while rules are set; then immutable and safe to share. Copies are cheap and independent: setting a
// rule of one does not change the other.
class LayoutMap {
 public:
  explicit LayoutMap(DeviceMesh mesh, LayoutMapOptions options = {});

  // Adds a rule. A duplicate key, an unknown axis or an invalid pattern is recorded and makes status() an error that
  // lists all such problems together; bind() returns it.
  LayoutMap& set(const std::string& key, TensorLayout layout);

  // The problems of all rules so far (Keras's texts, one per line), and of the mesh.
  Status status() const;

  // The layout of `path`: exact key first, else the only pattern that matches, else nullopt. Thread-safe.
  // Errors: status()'s; INVALID_ARGUMENT with Keras's text when several patterns match; RESOURCE_EXHAUSTED for a match
  // limit or a path that is too long.
  Result<std::optional<TensorLayout>> find(const std::string& path) const;
  // As find(), with the index of the rule that matched instead of its layout.
  Result<std::optional<std::size_t>> find_rule(const std::string& path) const;

  struct Rule {
    std::string key;
    TensorLayout layout;
  };
  const std::vector<Rule>& rules() const;
  const DeviceMesh& mesh() const;
  const LayoutMapOptions& options() const;

 private:
  // Whether an entry such as "batch+model" may split one dimension by several axes.
  enum class AxisSyntax : std::uint8_t { kKeras, kCombined };
  friend Result<Distribution> parse_layout(const std::string& json, const DeviceMesh& mesh, LayoutMapOptions options);

  Status add(const std::string& key, TensorLayout layout, AxisSyntax syntax);

  struct State;
  std::shared_ptr<State> state_;
};

// Which layout each variable gets: what bind() asks. Value type; copies are cheap. Immutable, thread-safe.
class Distribution {
 public:
  enum class Kind : std::uint8_t { kDataParallel, kModelParallel, kAuto };

  Kind kind() const { return kind_; }
  const DeviceMesh& mesh() const { return *mesh_; }
  Status status() const;

  struct Choice {
    TensorLayout layout;
    std::optional<std::size_t> rule;  // index into rules().rules() that matched
  };
  // Layout of a variable: the matching rule of a LayoutMap, or `auto`'s choice, else replicated.
  Result<Choice> variable_layout(const std::string& path, const Shape& shape, DType dtype) const;
  // Keras's get_data_layout: (batch, None, ...), of the given rank.
  TensorLayout data_layout(std::size_t rank) const;
  const LayoutMap* rules() const { return rules_ ? &*rules_ : nullptr; }
  Uneven uneven() const;

 protected:
  Distribution(Kind kind, DeviceMesh mesh) : kind_(kind), mesh_(std::make_shared<const DeviceMesh>(std::move(mesh))) {}

  Kind kind_;
  std::shared_ptr<const DeviceMesh> mesh_;
  std::optional<LayoutMap> rules_;
  std::string batch_axis_;
  Status problem_;                        // of the distribution itself, beside its mesh's and rules'
  std::shared_ptr<const AutoRule> auto_;  // kAuto
};

// Every variable whole on every device. Keras: the mesh is meant to be 1-D.
class DataParallel : public Distribution {
 public:
  explicit DataParallel(DeviceMesh mesh);
};

// Variables by the rules of a LayoutMap; what matches nothing is replicated (and reported by the plan).
class ModelParallel : public Distribution {
 public:
  // batch_dim_name: the axis that data is split over; empty = the mesh's first axis, as Keras.
  explicit ModelParallel(LayoutMap layout_map, std::string batch_dim_name = {});
};

// `--layout auto`: tensors of `min_bytes` or more are split along one dimension: over all devices along the largest
// dimension that divides by their number, else over the largest product of axes that divides some dimension; smaller
// tensors and those that nothing divides are replicated. Of equal dimensions the first is taken. Shards of sub-byte
// types fill whole bytes.
class AutoParallel : public Distribution {
 public:
  explicit AutoParallel(DeviceMesh mesh, std::uint64_t min_bytes = 1u << 20);
};

// A layout of the CLI's --layout (docs/layouts.md): a built-in name ("gemma", "llama", "bert", "replicated", "auto") or
// JSON text:
//   {"rules": {"decoder_block.*query.kernel": ["model", "batch", null]}, "dialect": "fullmatch" | "search",
//    "uneven": "refuse" | "replicate"}
// or just the object of rules. A list entry such as "batch+model" splits its dimension by several axes, outermost
// first; "dialect" and "uneven" of the text win over `options`. Errors: INVALID_ARGUMENT naming line and column.
//
// Built-in maps hold rules for the Keras paths, the paths of Keras checkpoints and the Hugging Face names; they use the
// mesh's axes "model" and "batch" (or "data"): dimensions of an axis that the mesh lacks stay whole, a mesh that has
// none of them is refused. They are full matches whatever options.dialect says.
Result<Distribution> builtin_layout(const std::string& name, const DeviceMesh& mesh, LayoutMapOptions options = {});
Result<Distribution> parse_layout(const std::string& json, const DeviceMesh& mesh, LayoutMapOptions options = {});
// The names builtin_layout() knows.
std::vector<std::string> builtin_layout_names();

}  // namespace shardwise
