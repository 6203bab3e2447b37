// LoadPlan: everything a load will do, as data, before the first byte is read or allocated.
//
//   Catalog + Distribution --bind--> Bindings --make_plan--> LoadPlan --load()--> arrays   (load.h)
//
// A variable's values are read from a tensor of the catalog or made by an initializer; one plan may hold both.
// Arithmetic only: no files, clocks, threads or devices are touched here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shardwise/bytes.h"
#include "shardwise/catalog.h"
#include "shardwise/initializer.h"
#include "shardwise/layout.h"
#include "shardwise/mesh.h"
#include "shardwise/placement.h"
#include "shardwise/view.h"

namespace shardwise {

// ---- Bindings: which variable comes from where -------------------------------------------------------------------

// Values that are made instead of read.
struct Generated {
  Shape shape;
  Initializer initializer;
  std::optional<Rounding> rounding = Rounding::kEager;  // nullopt = as Keras chooses on this mesh (keras_rounding)
  friend bool operator==(const Generated&, const Generated&) = default;
};

// A variable, and where its values come from: a stored tensor seen through a view, or an initializer. With both, the
// initializer serves only when the catalog lacks the tensor: nothing is made that a checkpoint would overwrite.
struct VariableSpec {
  std::string name = {};            // path that layout rules are matched with
  std::string tensor = {};          // name in the catalog; empty = none
  std::optional<DType> dtype = {};  // nullopt = as stored; of made values BindOptions::float_dtype, else float32
  std::optional<View> view = {};    // nullopt = as stored
  std::optional<Generated> generated = {};  // with a tensor: also the shape that its view must have
  std::optional<Placement> placement = {};  // nullopt = as the distribution says; of the whole mesh
};

struct BindOptions {
  std::optional<DType> float_dtype = {};                       // cast every floating tensor to this type
  std::vector<VariableSpec> variables = {};                    // empty = one variable per stored tensor, same name
  std::function<bool(const std::string& tensor)> select = {};  // with empty `variables`: which tensors; null = all
};

struct Binding {
  std::string name;
  DType dtype = DType::kFloat32;
  std::size_t tensor = 0;  // index into catalog->tensors; nothing when the values are made
  View view;
  Placement placement;
  std::optional<Generated> generated;  // set: the values are made, with this rounding
};

// A variable of 1 MiB or more that every device holds whole.
struct ReplicatedVariable {
  std::string name;
  std::uint64_t bytes = 0;        // of one copy
  std::uint64_t extra_bytes = 0;  // (copies - 1) * bytes over the mesh
};

struct Bindings {
  const Catalog* catalog = nullptr;  // borrowed; must outlive make_plan()
  DeviceMesh mesh;
  std::vector<Binding> bindings;
  std::vector<std::string> unmatched_rules;    // keys of the layout map that matched no variable
  std::vector<ReplicatedVariable> replicated;  // largest first
  std::vector<std::string> unused_tensors;     // stored tensors that no variable takes
  std::vector<std::string> notes;              // dimensions left whole by Uneven::kReplicate, catalog warnings
};

// Chooses a layout and a placement for every variable. All problems of all variables are reported together.
// Errors: INVALID_ARGUMENT (mesh, rules, placement, casts, initializers), NOT_FOUND (a tensor the catalog lacks).
Result<Bindings> bind(const Catalog& catalog, const Distribution& distribution, const BindOptions& options = {});

// ---- Options ------------------------------------------------------------------------------------------------------

// When two wanted runs of a file are read together with the gap between them: if
//   gap <= max(min_gap, gap_per_run * length of the shorter run).
// 2.0 means: a host that wants a third of every row or more reads whole rows. min_gap is where one more read costs as
// much as reading the gap (about 10 us at 3 GB/s).
struct CoalescePolicy {
  std::uint64_t min_gap = 32_KiB;
  double gap_per_run = 2.0;
};

inline constexpr std::uint64_t kMinStaging = 8_MiB;

enum class Retain : std::uint8_t {
  kKeep,     // all arrays live until the load ends
  kDiscard,  // each array is handed over as it completes and dropped: for checking more than fits
};

enum class Replicas : std::uint8_t {
  kCopy,   // every device that holds a box has a buffer of its own
  kShare,  // one buffer per box, which all its devices use: host memory that several of them may read
};

struct PlanOptions {
  // Host memory for bytes in flight between storage and devices; at least kMinStaging (smaller is refused).
  std::uint64_t staging = 64_MiB;
  Retain retain = Retain::kKeep;
  Replicas replicas = Replicas::kCopy;
  CoalescePolicy coalesce = {};
  std::vector<std::size_t> local_devices = {};  // devices of the mesh that this process fills; empty = all
};

// ---- The plan -------------------------------------------------------------------------------------------------------

struct PlannedVariable {
  std::string name;
  std::string tensor;                    // that its values are read from; its own name when they are made
  DType dtype = DType::kFloat32;         // of the array
  DType stored_dtype = DType::kFloat32;  // in the file
  Shape stored_shape;
  Placement placement;
  std::string view;         // text, empty = as stored
  std::string initializer;  // text, empty = the values are read
  std::uint64_t shard_bytes = 0;
  std::uint32_t first_shard = 0;   // shards of this variable: [first_shard, first_shard + boxes)
  bool reads_whole_tensor = true;  // a fingerprint of the stored tensor comes with the load
};

// One distinct box of one variable: a destination. `devices` (indices into LoadPlan::devices) all hold a copy; with
// Replicas::kShare it is the one whose memory the buffer is in.
struct Shard {
  std::uint32_t variable = 0;
  std::uint32_t box = 0;
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> devices;  // local ones only; empty = nobody here wants it
};

// Elements of a segment that go to one shard. Offsets in elements: of the segment's block, of the shard. Dimensions are
// LoadPlan::copy_dims[first_dim .. first_dim + dim_count), largest source stride first.
struct Copy {
  std::uint32_t shard = 0;
  std::uint32_t first_dim = 0;
  std::uint32_t dim_count = 0;
  std::uint64_t source_offset = 0;
  std::uint64_t target_offset = 0;
};

// One stretch of a file that belongs to one tensor: raw elements, or one encoded block; or no bytes at all, when the
// fill value is to be written. Or values to be made: then `range` counts bytes of the shard of its only copy (which has
// no dimensions: the shard is filled densely), or of the whole tensor when its initializer makes no part alone; that
// one has a copy for every shard.
struct Segment {
  std::uint32_t tensor = 0;               // index into LoadPlan::tensors
  std::uint32_t encoding = Extent::kRaw;  // index into LoadPlan::encodings
  std::uint32_t skipped_filters = 0;
  std::uint32_t box = kWhole;  // block: index into LoadPlan::boxes of the elements it holds
  ByteRange range;             // in the file; empty for fill
  // Raw: row-major index in the tensor of the first element at range.begin. Copies count from the tensor's element 0,
  // and only those elements of theirs that lie in the segment belong to it. Block: 0, copies count from the block's
  // element 0.
  std::uint64_t first_element = 0;
  std::uint64_t element_count = 0;  // raw: elements in range; block: elements of the decoded block
  std::uint32_t first_copy = 0;
  std::uint32_t copy_count = 0;
  // Raw, and every copy is one dense run without conversion, long enough that it pays to read straight into the shard.
  bool direct = false;
  bool generated = false;

  static constexpr std::uint32_t kWhole = 0xffffffffu;
  bool is_block() const { return encoding != Extent::kRaw; }
  bool is_fill() const { return range.empty(); }
};

// Segments [first_segment, first_segment + segment_count) read as one range of one file, in file order. The loader cuts
// it into windows of at most LoadPlan::window bytes.
struct Read {
  std::uint32_t file = Extent::kNoFile;  // index into LoadPlan::files; kNoFile = fill values, or values to be made
  ByteRange range;
  std::uint32_t first_segment = 0;
  std::uint32_t segment_count = 0;
};

// What the planner keeps of a stored tensor, or of one whose values are made.
struct PlannedTensor {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::uint64_t bytes = 0;
  std::string fill;
  std::vector<std::uint32_t> variables;  // that take values from it
  bool read_whole = true;                // every element is read or made, so a fingerprint can be made
  std::optional<Generated> generated;    // set: nothing is read
};

struct DevicePlan {
  DeviceInfo info;
  bool local = true;
  std::uint64_t bytes = 0;       // of its own shards, shared ones too, with the allocator's rounding
  std::uint64_t load_bytes = 0;  // most of them that the load keeps at a time (all, unless it discards)
  std::uint64_t peak_bytes =
      0;  // predicted highest use, with the allocator's rounding; includes what was in use before
};

struct HostPlan {
  std::uint64_t staging_bytes = 0;   // the budget
  std::uint64_t whole_bytes = 0;     // most that one initializer takes of it which cannot make a shard alone
  std::uint64_t metadata_bytes = 0;  // catalog and plan
  std::uint64_t peak_bytes = 0;      // predicted: all of the host's memory that is not in a device's arena
};

struct ReadTotals {
  std::uint64_t count = 0;  // windows: calls that ask storage for bytes
  std::uint64_t bytes = 0;
  std::uint64_t wanted_bytes = 0;
  double over_read() const { return wanted_bytes == 0 ? 1.0 : double(bytes) / double(wanted_bytes); }
};

// What loading each tensor whole on device 0 and cutting it there needs (Keras 3.15, issue 21634).
struct LoadThenShard {
  std::uint64_t device0_peak_bytes = 0;
  std::uint64_t host_peak_bytes = 0;
  std::string largest;                   // the variable that takes most of device 0
  std::uint64_t largest_peak_bytes = 0;  // what it takes there alone: itself whole, its slices, and its shard
};

// Plain data; immutable once made, safe to share between threads. Carries the mesh's device objects for load().
struct LoadPlan {
  std::string format;
  std::string path;
  PlanOptions options;
  std::uint64_t window = 0;  // largest single read, bytes

  DeviceMesh mesh;
  std::vector<DevicePlan> devices;
  HostPlan host;
  ReadTotals reads_total;
  std::uint64_t generated_bytes = 0;  // of values that are made, each once: replicas are copies
  LoadThenShard load_then_shard;

  std::vector<CatalogFile> files;
  std::vector<Encoding> encodings;
  std::vector<PlannedTensor> tensors;
  std::vector<PlannedVariable> variables;
  std::vector<Shard> shards;
  std::vector<Read> reads;  // in file order
  std::vector<Segment> segments;
  std::vector<Box> boxes;  // of blocks
  std::vector<Copy> copies;
  std::vector<CopyDim> copy_dims;

  std::vector<std::string> unmatched_rules;
  std::vector<ReplicatedVariable> replicated;
  std::vector<std::string> unused_tensors;
  std::vector<std::string> notes;
};

// Errors: those of bind() when handed its failed result; INVALID_ARGUMENT for bad options. A plan that does not fit its
// devices is still returned, so that it can be printed: check_fits() refuses it, and load() calls that first.
Result<LoadPlan> make_plan(const Bindings& bindings, const PlanOptions& options = {});
Result<LoadPlan> make_plan(const Result<Bindings>& bindings, const PlanOptions& options = {});

// RESOURCE_EXHAUSTED when a device cannot hold its shards: names the device, wanted, limit, its largest shards, and
// what would fit (memory per device; more devices; layouts of replicated tensors); or when the staging cannot hold a
// tensor that its initializer makes whole.
Status check_fits(const LoadPlan& plan);

// The plan for people: per device and host bytes and peaks, reads, over-read, tensors, warnings.
struct PrintOptions {
  std::size_t max_tensors = 20;  // largest first; 0 = none, SIZE_MAX = all
};
std::string to_string(const LoadPlan& plan, const PrintOptions& options = {});
// The plan for programs; the documented schema of `shardwise plan --json`.
std::string to_json(const LoadPlan& plan);

}  // namespace shardwise
