// How stored tensors become segments.
//
// A tensor that is one raw extent is a row of elements. When the devices here want all of it, it is one segment; else
// the wanted runs are listed, joined by the coalescing policy, and each is a segment. All segments of a tensor share
// its copies: the loader cuts them to what it has just read. A tensor stored in blocks (HDF5 chunks) has one segment
// per block that somebody wants, with copies of its own. A tensor whose values are made has one segment per shard, or
// one in all when its initializer makes no part alone.
#include "plan/segments.h"

#include <algorithm>
#include <map>

#include "base/checked.h"
#include "base/format.h"
#include "plan/copies.h"
#include "plan/index_map.h"
#include "plan/runs.h"
#include "plan/strides.h"
#include "plan/windows.h"

namespace shardwise {
namespace {

// Shapes of a sub-byte tensor counted in packed bytes: the last dimension shrinks, or all becomes one row.
struct ByteShape {
  Shape shape;
  int bits = 8;
  bool flat = false;
};

class SegmentMaker {
 public:
  SegmentMaker(const Bindings& bindings, LoadPlan& plan)
      : bindings_(bindings), catalog_(*bindings.catalog), plan_(plan) {}

  Result<std::vector<FiledSegment>> run() {
    plan_.encodings = catalog_.encodings;
    std::vector<std::vector<std::uint32_t>> users(catalog_.tensors.size());
    for (std::uint32_t v = 0; v < bindings_.bindings.size(); ++v) {
      const Binding& binding = bindings_.bindings[v];
      add_variable(binding);
      if (!binding.generated) users[binding.tensor].push_back(v);
    }
    for (std::size_t t = 0; t < users.size(); ++t) {
      if (users[t].empty()) continue;
      SHARDWISE_RETURN_IF_ERROR(add_tensor(catalog_.tensors[t], std::move(users[t]))
                                    .with_context(format("tensor '{}'", printable(catalog_.tensors[t].name))));
    }
    for (std::uint32_t v = 0; v < bindings_.bindings.size(); ++v) {
      if (bindings_.bindings[v].generated) add_generated(v);
    }
    return std::move(segments_);
  }

 private:
  void add_variable(const Binding& binding) {
    PlannedVariable variable;
    variable.name = binding.name;
    variable.dtype = binding.dtype;
    if (binding.generated) {
      variable.tensor = binding.name;
      variable.stored_dtype = binding.dtype;
      variable.initializer = binding.generated->initializer.to_string();
    } else {
      variable.tensor = catalog_.tensors[binding.tensor].name;
      variable.stored_dtype = catalog_.tensors[binding.tensor].dtype;
    }
    variable.stored_shape = binding.view.source_shape();
    variable.placement = binding.placement;
    variable.view = binding.view.to_string();
    variable.first_shard = static_cast<std::uint32_t>(plan_.shards.size());
    const std::uint64_t bits = static_cast<std::uint64_t>(bit_width(binding.dtype));
    const auto index = static_cast<std::uint32_t>(plan_.variables.size());
    for (std::uint32_t b = 0; b < binding.placement.boxes.size(); ++b) {
      plan_.shards.push_back({index, b, binding.placement.boxes[b].elements() * bits / 8, {}});
    }
    for (std::uint32_t d = 0; d < binding.placement.device_box.size(); ++d) {
      const std::uint32_t box = binding.placement.device_box[d];
      if (!plan_.devices[d].local || box == Placement::kNoBox) continue;
      auto& devices = plan_.shards[variable.first_shard + box].devices;
      if (devices.empty() || plan_.options.replicas == Replicas::kCopy) devices.push_back(d);
    }
    variable.shard_bytes = plan_.shards[variable.first_shard].bytes;
    plan_.variables.push_back(std::move(variable));
  }

  Status add_tensor(const TensorInfo& info, std::vector<std::uint32_t> users) {
    PlannedTensor tensor{info.name, info.dtype, info.shape, info.bytes(), info.fill, std::move(users), true, {}};
    const bool raw = info.extents.size() == 1 && info.extents[0].encoding == Extent::kRaw;
    const std::uint32_t first_copy = static_cast<std::uint32_t>(plan_.copies.size());
    Status status = raw ? add_raw(info, tensor, first_copy) : add_blocks(info, tensor);
    for (std::uint32_t v : tensor.variables) plan_.variables[v].reads_whole_tensor = tensor.read_whole;
    plan_.tensors.push_back(std::move(tensor));
    return status;
  }

  std::uint32_t tensor_index() const { return static_cast<std::uint32_t>(plan_.tensors.size()); }

  // ---- One row of elements ----

  Status add_raw(const TensorInfo& info, PlannedTensor& tensor, std::uint32_t first_copy) {
    const Extent& extent = info.extents[0];
    bool whole = false;
    for (std::uint32_t v : tensor.variables) {
      bool all = true;
      SHARDWISE_RETURN_IF_ERROR(add_raw_copies(info, bindings_.bindings[v], plan_.variables[v], all));
      whole = whole || all;
    }
    const std::uint64_t width = unit_width(info.dtype);
    const std::uint64_t total = tensor.bytes / width;
    Segment segment;
    segment.tensor = tensor_index();
    segment.first_copy = first_copy;
    segment.copy_count = static_cast<std::uint32_t>(plan_.copies.size()) - first_copy;
    const bool fill = extent.file == Extent::kNoFile;
    tensor.read_whole = whole;
    if (segment.copy_count == 0 || total == 0) return Status();
    segment.direct = !fill && is_direct(segment, width);
    if (whole || fill) {
      segment.element_count = total;
      if (!fill) segment.range = extent.range;
      segments_.push_back({extent.file, tensor_index(), segment});
      return Status();
    }
    for (const ElementRun& run : wanted_runs(plan_, segment, width)) {
      segment.first_element = run.first;
      segment.element_count = run.last - run.first;
      segment.range = {extent.range.begin + run.first * width, extent.range.begin + run.last * width};
      segments_.push_back({extent.file, tensor_index(), segment});
    }
    tensor.read_whole = segments_.back().segment.element_count == total;
    return Status();
  }

  // Copies of one variable out of the row; `all` tells whether they take every element of it.
  Status add_raw_copies(const TensorInfo& info, const Binding& binding, const PlannedVariable& variable, bool& all) {
    SHARDWISE_ASSIGN_OR_RETURN(const ByteShape packed, byte_shape(info, binding));
    const std::vector<std::int64_t> strides = row_major_strides(packed.shape);
    const bool identity = binding.view.is_identity();
    if (!identity) map_ = IndexMap::of(binding.view, IndexMap::Base::kLinear);
    std::uint64_t taken = 0;
    for (std::uint32_t b = 0; b < binding.placement.boxes.size(); ++b) {
      const std::uint32_t shard = variable.first_shard + b;
      if (plan_.shards[shard].devices.empty()) continue;
      const Box box = packed_box(packed, binding.placement.boxes[b]);
      taken += box.elements();
      if (box.elements() == 0) continue;
      if (identity) {
        add_copy(shard, identity_copy(box, strides));
        continue;
      }
      std::vector<Piece> pieces;
      SHARDWISE_RETURN_IF_ERROR(map_->pieces(box, pieces));
      const std::int64_t one = 1;
      for (const Piece& piece : pieces) add_copy(shard, whole_piece(piece, {&one, 1}));
    }
    // Reshape and transpose are one to one: as many elements taken as there are means all of them.
    all = taken == info.bytes() / unit_width(info.dtype);
    return Status();
  }

  static CopyLoops identity_copy(const Box& box, const std::vector<std::int64_t>& strides) {
    CopyLoops copy;
    std::int64_t target = 1;
    copy.dims.resize(box.rank());
    for (std::size_t d = box.rank(); d-- > 0;) {
      copy.source_offset += static_cast<std::uint64_t>(box.origin[d] * strides[d]);
      copy.dims[d] = {static_cast<std::uint64_t>(box.extent[d]), strides[d], target};
      target *= box.extent[d];
    }
    normalise(copy.dims);
    return copy;
  }

  bool is_direct(const Segment& segment, std::uint64_t width) const {
    std::uint64_t end = 0;
    for (std::uint32_t c = 0; c < segment.copy_count; ++c) {
      const Copy& copy = plan_.copies[segment.first_copy + c];
      const PlannedVariable& variable = plan_.variables[plan_.shards[copy.shard].variable];
      const std::span<const CopyDim> dims(plan_.copy_dims.data() + copy.first_dim, copy.dim_count);
      const std::uint64_t count = elements(dims);
      if (variable.dtype != variable.stored_dtype || !is_contiguous(dims)) return false;
      if (count * width < kMinDirectBytes || copy.source_offset < end) return false;  // short; or taken twice
      end = copy.source_offset + count;
    }
    return true;
  }

  // ---- Blocks ----

  Status add_blocks(const TensorInfo& info, PlannedTensor& tensor) {
    if (info.extents.empty()) return Status();  // no elements
    if (!is_byte_sized(info.dtype)) return unimplemented("{} stored in blocks", to_string(info.dtype));
    struct Wanted {
      std::uint32_t shard;
      Piece piece;
    };
    std::vector<Wanted> wanted;
    for (std::uint32_t v : tensor.variables) {
      const Binding& binding = bindings_.bindings[v];
      map_ = IndexMap::of(binding.view, IndexMap::Base::kByDimension);
      for (std::uint32_t b = 0; b < binding.placement.boxes.size(); ++b) {
        const std::uint32_t shard = plan_.variables[v].first_shard + b;
        if (plan_.shards[shard].devices.empty()) continue;
        std::vector<Piece> pieces;
        SHARDWISE_RETURN_IF_ERROR(map_->pieces(binding.placement.boxes[b], pieces));
        for (Piece& piece : pieces) wanted.push_back({shard, std::move(piece)});
      }
    }
    for (const Extent& extent : info.extents) {
      const Shape& block =
          extent.encoding == Extent::kRaw ? extent.box.extent : catalog_.encodings[extent.encoding].block_shape;
      Segment segment;
      segment.tensor = tensor_index();
      segment.first_copy = static_cast<std::uint32_t>(plan_.copies.size());
      std::vector<CopyLoops> parts;
      for (const Wanted& want : wanted) {
        parts.clear();
        piece_in_box(want.piece, extent.box, block, parts);
        for (CopyLoops& part : parts) add_copy(want.shard, std::move(part));
      }
      segment.copy_count = static_cast<std::uint32_t>(plan_.copies.size()) - segment.first_copy;
      if (segment.copy_count == 0) {
        tensor.read_whole = false;
        continue;
      }
      segment.encoding = extent.encoding == Extent::kRaw ? plain_encoding(block) : extent.encoding;
      segment.skipped_filters = extent.skipped_filters;
      segment.range = extent.file == Extent::kNoFile ? ByteRange{} : extent.range;
      segment.element_count = 1;
      for (std::int64_t e : block) segment.element_count *= static_cast<std::uint64_t>(e);
      segment.box = static_cast<std::uint32_t>(plan_.boxes.size());
      plan_.boxes.push_back(extent.box);
      segments_.push_back({extent.file, tensor_index(), segment});
    }
    return Status();
  }

  // The encoding "no filters" for a block of this shape.
  std::uint32_t plain_encoding(const Shape& block) {
    const auto [at, added] = plain_.try_emplace(block, static_cast<std::uint32_t>(plan_.encodings.size()));
    if (added) plan_.encodings.push_back({{}, block});
    return at->second;
  }

  // ---- Values that are made ----

  void add_generated(std::uint32_t v) {
    const Binding& binding = bindings_.bindings[v];
    PlannedVariable& variable = plan_.variables[v];
    const std::uint64_t bytes = byte_count(binding.placement.shape, binding.dtype).value();
    PlannedTensor tensor{binding.name, binding.dtype, binding.placement.shape, bytes, {}, {v}, true, binding.generated};
    const bool alone = !binding.generated->initializer.needs_whole_tensor();
    Segment segment;
    segment.tensor = tensor_index();
    segment.generated = true;
    segment.first_copy = static_cast<std::uint32_t>(plan_.copies.size());
    for (std::uint32_t b = 0; b < binding.placement.boxes.size(); ++b) {
      const Shard& shard = plan_.shards[variable.first_shard + b];
      if (shard.devices.empty()) tensor.read_whole = false;
      if (shard.devices.empty() || shard.bytes == 0) continue;
      add_copy(variable.first_shard + b, CopyLoops{});
      ++segment.copy_count;
      if (!alone) continue;
      segment.range = {0, shard.bytes};
      segments_.push_back({Extent::kNoFile, tensor_index(), segment});
      segment.first_copy = static_cast<std::uint32_t>(plan_.copies.size());
      segment.copy_count = 0;
    }
    if (segment.copy_count != 0) {
      segment.range = {0, bytes};
      segments_.push_back({Extent::kNoFile, tensor_index(), segment});
    }
    variable.reads_whole_tensor = tensor.read_whole;
    plan_.tensors.push_back(std::move(tensor));
  }

  // ---- All ----

  void add_copy(std::uint32_t shard, CopyLoops loops) {
    const auto first = static_cast<std::uint32_t>(plan_.copy_dims.size());
    plan_.copies.push_back(
        {shard, first, static_cast<std::uint32_t>(loops.dims.size()), loops.source_offset, loops.target_offset});
    plan_.copy_dims.insert(plan_.copy_dims.end(), loops.dims.begin(), loops.dims.end());
  }

  static Result<ByteShape> byte_shape(const TensorInfo& info, const Binding& binding) {
    ByteShape out{info.shape, bit_width(info.dtype), false};
    if (is_byte_sized(info.dtype)) return ByteShape{info.shape, 8, false};
    if (!binding.view.is_identity()) return unimplemented("a view of {} elements", to_string(info.dtype));
    if (binding.placement.boxes.size() == 1) {
      out.shape = {static_cast<std::int64_t>(info.bytes())};
      out.flat = true;
      return out;
    }
    const std::int64_t row = info.shape.back() * out.bits;
    const std::int64_t part = binding.placement.shard_shape.back() * out.bits;
    if (row % 8 != 0 || part % 8 != 0) {
      return invalid_argument("layout {} of {} {} would cut inside a byte: split another dimension",
                              to_string(binding.placement.layout), to_string(info.dtype), to_string(info.shape));
    }
    out.shape.back() = row / 8;
    return out;
  }

  static Box packed_box(const ByteShape& packed, const Box& box) {
    if (packed.flat) return Box::whole(packed.shape);
    Box out = box;
    if (packed.bits % 8 != 0) {
      out.origin.back() = out.origin.back() * packed.bits / 8;
      out.extent.back() = out.extent.back() * packed.bits / 8;
    }
    return out;
  }

  const Bindings& bindings_;
  const Catalog& catalog_;
  LoadPlan& plan_;
  std::vector<FiledSegment> segments_;
  std::optional<IndexMap> map_;
  std::map<Shape, std::uint32_t> plain_;
};

}  // namespace

Result<std::vector<FiledSegment>> make_segments(const Bindings& bindings, LoadPlan& plan) {
  return SegmentMaker(bindings, plan).run();
}

}  // namespace shardwise
