// Random checkpoints, views, casts, meshes, layouts and budgets: every shard on every device equals the naive slice.
#include <gtest/gtest.h>

#include "load/load_testing.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using Storage = MemoryCheckpoint::Storage;

struct MeshCase {
  std::vector<std::int64_t> shape;
  std::vector<std::string> axes;
};
const std::vector<MeshCase> kMeshes = {{{1}, {"a"}},         {{2}, {"a"}},         {{8}, {"a"}},
                                       {{2, 4}, {"a", "b"}}, {{1, 8}, {"a", "b"}}, {{2, 2, 2}, {"a", "b", "c"}},
                                       {{3}, {"a"}},         {{2, 3}, {"a", "b"}}};

const std::vector<DType> kFloats = {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBfloat16};

class RandomLoad {
 public:
  explicit RandomLoad(std::uint64_t seed) : random_(seed), checkpoint_(seed, static_cast<std::size_t>(1 + seed % 3)) {}

  void run() {
    make_tensors();
    const MeshCase& mesh_case = kMeshes[pick(kMeshes.size())];
    std::int64_t count = 1;
    for (const std::int64_t n : mesh_case.shape) count *= n;
    const DeviceMesh mesh(mesh_case.shape, mesh_case.axes, host_devices(static_cast<std::size_t>(count)));
    LayoutMap layouts(mesh, {.uneven = Uneven::kReplicate});
    for (const VariableSpec& variable : variables_) layouts.set(variable.name, random_layout(variable, mesh));
    const Catalog& catalog = checkpoint_.finish();
    const auto bindings = bind(catalog, ModelParallel(layouts), {.variables = variables_});
    ASSERT_THAT(bindings, IsOk());
    const auto plan = make_plan(bindings, {.staging = 8_MiB << pick(3), .coalesce = {.min_gap = pick(2) * 64}});
    ASSERT_THAT(plan, IsOk());
    LoadOptions options;
    options.threads = static_cast<unsigned>(1 + pick(4));
    options.open = [this](const CatalogFile& file) { return checkpoint_.open(file); };
    const auto loaded = load(*plan, options);
    ASSERT_THAT(loaded, IsOk());
    check(*plan, *loaded);
  }

 private:
  std::size_t pick(std::size_t n) {
    return static_cast<std::size_t>(random_.number(0, static_cast<std::int64_t>(n) - 1));
  }

  void make_tensors() {
    const std::size_t count = 1 + pick(6);
    for (std::size_t t = 0; t < count; ++t) {
      const std::string name = "t" + std::to_string(t);
      const Shape shape = pick(4) == 0 ? random_.shape(2, 64) : random_.shape(4, 8);
      const bool cast = pick(2) == 0;
      const DType dtype = cast ? kFloats[pick(4)]
                               : std::vector<DType>{DType::kUint8, DType::kInt16, DType::kFloat32, DType::kInt64,
                                                    DType::kComplex128}[pick(5)];
      checkpoint_.add(name, dtype, shape, static_cast<Storage>(pick(3)));
      if (pick(3) == 0) checkpoint_.gap(pick(300));
      const std::size_t uses = pick(5) == 0 ? 2 : 1;  // sometimes two variables share a tensor
      for (std::size_t u = 0; u < uses; ++u) {
        View view = random_.view(shape, static_cast<int>(pick(4)));
        std::optional<DType> target;
        if (cast && pick(2) == 0) target = kFloats[pick(4)];
        variables_.push_back({name + "_" + std::to_string(u), name, target, view});
        dtypes_.push_back(dtype);
      }
    }
  }

  TensorLayout random_layout(const VariableSpec& variable, const DeviceMesh& mesh) {
    std::vector<std::string> free = mesh.axis_names();
    TensorLayout layout;
    for (std::size_t d = 0; d < variable.view->shape().size(); ++d) {
      if (!free.empty() && pick(2) == 0) {
        const std::size_t a = pick(free.size());
        layout.axes.push_back(free[a]);
        free.erase(free.begin() + static_cast<std::ptrdiff_t>(a));
      } else {
        layout.axes.push_back(std::nullopt);
      }
    }
    return layout;
  }

  void check(const LoadPlan& plan, const Loaded& loaded) {
    ASSERT_EQ(loaded.arrays.size(), variables_.size());
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      const ShardedArray& array = loaded.arrays[v];
      const std::string stored = checkpoint_.values(variables_[v].tensor);
      const std::string values =
          array.dtype() == dtypes_[v] ? stored : MemoryCheckpoint::convert(stored, dtypes_[v], array.dtype());
      for (std::size_t d = 0; d < plan.devices.size(); ++d) {
        ASSERT_EQ(shard_bytes(array, d),
                  expected_shard(values, *variables_[v].view, array.box(d), byte_width(array.dtype())))
            << array.name() << variables_[v].view->to_string() << " on device " << d << " " << to_string(array.box(d));
      }
    }
    for (std::size_t t = 0; t < plan.tensors.size(); ++t) check_fingerprint(plan.tensors[t], loaded.fingerprints[t]);
    for (std::size_t d = 0; d < plan.devices.size(); ++d) {
      EXPECT_EQ(loaded.statistics.device_peak_bytes[d], plan.devices[d].peak_bytes);
    }
    EXPECT_EQ(loaded.statistics.bytes_read, plan.reads_total.bytes);
    EXPECT_EQ(loaded.statistics.reads, plan.reads_total.count);
    EXPECT_LE(loaded.statistics.staging_peak_bytes, plan.options.staging);
    EXPECT_GE(plan.reads_total.bytes, plan.reads_total.wanted_bytes);
  }

  void check_fingerprint(const PlannedTensor& tensor, const std::optional<Fingerprint>& got) {
    if (!tensor.read_whole) {
      EXPECT_EQ(got, std::nullopt);
      return;
    }
    const std::string& values = checkpoint_.values(tensor.name);
    FingerprintSum sum;
    sum.add(0, std::as_bytes(std::span(values)), unit_width(tensor.dtype));
    EXPECT_EQ(got, sum.finish(tensor.dtype, tensor.shape)) << tensor.name;
  }

  RandomViews random_;
  MemoryCheckpoint checkpoint_;
  std::vector<VariableSpec> variables_;
  std::vector<DType> dtypes_;
};

TEST(LoadProperty, EveryShardEqualsTheNaiveSlice) {
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomLoad(seed).run();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace shardwise
