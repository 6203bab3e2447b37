// Values that are made: on any mesh, in any layout, beside what is read, within the budget.
#include <gtest/gtest.h>

#include <atomic>

#include "load/load_testing.h"
#include "shardwise/initialize.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

const Catalog kNone{.format = "initializers", .path = "spec"};

VariableSpec made(const std::string& name, const Shape& shape, const Initializer& initializer,
                  std::optional<DType> dtype = std::nullopt) {
  return {name, {}, dtype, std::nullopt, Generated{shape, initializer}};
}

// The whole tensor, row-major.
std::string whole(const Initializer& initializer, const Shape& shape, DType dtype) {
  std::string bytes(byte_count(shape, dtype).value(), '\0');
  const auto generator = make_generator(initializer, shape, dtype);
  EXPECT_THAT(generator, IsOk());
  EXPECT_THAT(generator->generate(Box::whole(shape), std::as_writable_bytes(std::span(bytes))), IsOk());
  return bytes;
}

TEST(Generation, AnyPlacementAndThreadCountGivesTheWholeTensorsBits) {
  RandomViews random(11);
  const std::vector<std::pair<std::vector<std::int64_t>, std::vector<std::string>>> meshes = {
      {{1}, {"a"}}, {{3}, {"a"}}, {{8}, {"a"}}, {{2, 4}, {"a", "b"}}, {{2, 2, 2}, {"a", "b", "c"}}};
  const std::vector<Initializer> initializers = {glorot_uniform({.seed = 42}),
                                                 random_normal({.seed = 7}),
                                                 truncated_normal({.seed = 1}),
                                                 zeros(),
                                                 constant(2.5),
                                                 variance_scaling({.seed = 1 << 20})};
  const std::vector<DType> dtypes = {DType::kFloat32, DType::kBfloat16, DType::kFloat16, DType::kFloat64};
  const auto pick = [&](std::size_t n) {
    return static_cast<std::size_t>(random.number(0, static_cast<std::int64_t>(n) - 1));
  };
  for (int round = 0; round < 60; ++round) {
    const auto& [grid, axes] = meshes[pick(meshes.size())];
    std::size_t count = 1;
    for (const std::int64_t n : grid) count *= static_cast<std::size_t>(n);
    const DeviceMesh mesh(grid, axes, host_devices(count));
    LayoutMap layouts(mesh, {.uneven = Uneven::kReplicate});
    std::vector<VariableSpec> variables;
    for (std::size_t v = 0; v < 3; ++v) {
      const Shape shape = pick(4) == 0 ? Shape{12, random.number(1, 40000)} : random.shape(4, 12);
      variables.push_back(
          made("v" + std::to_string(v), shape, initializers[pick(initializers.size())], dtypes[pick(4)]));
      TensorLayout layout;
      for (std::size_t d = 0; d < std::min(shape.size(), axes.size()); ++d) layout.axes.emplace_back(axes[d]);
      if (pick(2) == 0) std::reverse(layout.axes.begin(), layout.axes.end());
      layouts.set("v" + std::to_string(v), layout);
    }
    const auto plan = make_plan(bind(kNone, ModelParallel(layouts), {.variables = variables}));
    ASSERT_THAT(plan, IsOk());
    const auto loaded = load(*plan, {.threads = static_cast<unsigned>(1 + pick(4))});
    ASSERT_THAT(loaded, IsOk());
    for (std::size_t v = 0; v < variables.size(); ++v) {
      const ShardedArray& array = loaded->arrays[v];
      const std::string expected = whole(variables[v].generated->initializer, array.shape(), array.dtype());
      for (std::size_t d = 0; d < count; ++d) {
        ASSERT_TRUE(shard_bytes(array, d) ==
                    expected_shard(expected, View::of(array.shape()), array.box(d), byte_width(array.dtype())))
            << plan->variables[v].initializer << " " << to_string(array.placement());
      }
      FingerprintSum sum;
      sum.add(0, std::as_bytes(std::span(expected)), byte_width(array.dtype()));
      EXPECT_EQ(loaded->fingerprints[v], sum.finish(array.dtype(), array.shape()));
    }
    EXPECT_EQ(loaded->statistics.bytes_generated, plan->generated_bytes);
    for (std::size_t d = 0; d < count; ++d) {
      EXPECT_EQ(loaded->statistics.device_peak_bytes[d], plan->devices[d].peak_bytes);
    }
  }
}

TEST(Generation, SomeVariablesAreReadAndTheRestIsMade) {
  MemoryCheckpoint checkpoint(5);
  checkpoint.add("kernel", DType::kFloat32, {256, 64});
  checkpoint.add("fill", DType::kFloat32, {16}, MemoryCheckpoint::Storage::kFill);
  std::atomic<int> calls = 0;
  const Initializer counting =
      custom_per_box("counting", [&](const Shape&, DType, const Box&, std::span<std::byte> out) {
        ++calls;
        std::fill(out.begin(), out.end(), std::byte{7});
        return Status();
      });
  VariableSpec kernel = made("kernel", {256, 64}, counting);
  kernel.tensor = "kernel";
  const DeviceMesh mesh({4}, {"model"}, host_devices(4));
  LayoutMap layouts(mesh);
  layouts.set("kernel", {std::nullopt, "model"}).set("head", {"model"});
  const auto plan =
      make_plan(bind(checkpoint.finish(), ModelParallel(layouts),
                     {.variables = {kernel, {"fill", "fill"}, made("head", {64, 8}, glorot_uniform({.seed = 3}))}}));
  ASSERT_THAT(plan, IsOk());
  const auto loaded = load(*plan, {.open = [&](const CatalogFile& file) { return checkpoint.open(file); }});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(calls, 0) << "an initializer ran although the checkpoint has the values";
  const std::string head = whole(glorot_uniform({.seed = 3}), {64, 8}, DType::kFloat32);
  for (std::size_t d = 0; d < 4; ++d) {
    EXPECT_EQ(shard_bytes(loaded->arrays[0], d),
              expected_shard(checkpoint.values("kernel"), View::of({256, 64}), loaded->arrays[0].box(d), 4));
    EXPECT_EQ(shard_bytes(loaded->arrays[1], d), checkpoint.values("fill"));
    EXPECT_EQ(shard_bytes(loaded->arrays[2], d), head.substr(d * 16 * 8 * 4, 16UL * 8 * 4));
  }
}

TEST(Generation, AMatrixMadeWholeStaysWithinTheBudgetAndIsCut) {
  const DeviceMesh mesh({4}, {"model"}, host_devices(4, {.memory = 512_KiB}));
  LayoutMap layouts(mesh);
  layouts.set("q.*", {std::nullopt, "model"});
  std::vector<VariableSpec> variables;
  for (int i = 0; i < 3; ++i) variables.push_back(made("q" + std::to_string(i), {256, 256}, orthogonal({.seed = i})));
  const auto plan = make_plan(bind(kNone, ModelParallel(layouts), {.variables = variables}), {.staging = 9_MiB});
  ASSERT_THAT(plan, IsOk());
  const auto loaded = load(*plan, {.threads = 4});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_LE(loaded->statistics.staging_peak_bytes, plan->host.staging_bytes);
  for (int i = 0; i < 3; ++i) {
    const std::string expected = whole(orthogonal({.seed = i}), {256, 256}, DType::kFloat32);
    for (std::size_t d = 0; d < 4; ++d) {
      const ShardedArray& array = loaded->arrays[static_cast<std::size_t>(i)];
      EXPECT_EQ(shard_bytes(array, d), expected_shard(expected, View::of({256, 256}), array.box(d), 4));
    }
  }
  const auto tight = make_plan(
      bind(kNone, ModelParallel(LayoutMap(mesh)), {.variables = {made("q", {2048, 2048}, orthogonal({.seed = 1}))}}),
      {.staging = 8_MiB});
  ASSERT_THAT(tight, IsOk());
  EXPECT_THAT(load(*tight), FailsWith(Code::kResourceExhausted, "variable 'q'"));
}

TEST(Generation, DevicesWithoutHostAddressesAreFilledThroughTheSeam) {
  const DeviceList devices = opaque_devices(4);
  LayoutMap layouts(DeviceMesh({2, 2}, {"batch", "model"}, devices));
  layouts.set("columns", {std::nullopt, "model"});
  const auto plan = make_plan(bind(kNone, ModelParallel(layouts),
                                   {.variables = {made("columns", {3000, 512}, random_normal({.seed = 9})),
                                                  made("q", {64, 64}, orthogonal({.seed = 2}))}}));
  ASSERT_THAT(plan, IsOk());
  const auto loaded = load(*plan);
  ASSERT_THAT(loaded, IsOk());
  const std::string columns = whole(random_normal({.seed = 9}), {3000, 512}, DType::kFloat32);
  for (std::size_t d = 0; d < 4; ++d) {
    EXPECT_TRUE(read_back(devices, loaded->arrays[0], d) ==
                expected_shard(columns, View::of({3000, 512}), loaded->arrays[0].box(d), 4));
    EXPECT_EQ(read_back(devices, loaded->arrays[1], d), whole(orthogonal({.seed = 2}), {64, 64}, DType::kFloat32));
  }
}

TEST(Generation, StopsInTheMiddleAndLeavesNothingBehind) {
  const DeviceList devices = host_devices(2);
  LayoutMap layouts(DeviceMesh({2}, {"model"}, devices));
  layouts.set("v.*", {"model"});
  std::vector<VariableSpec> variables;
  std::stop_source stop;
  std::atomic<int> calls = 0;
  const Initializer stopping = custom_per_box("stopping", [&](const Shape&, DType, const Box&, std::span<std::byte>) {
    if (++calls == 40) stop.request_stop();
    return Status();
  });
  for (int v = 0; v < 64; ++v) variables.push_back(made("v" + std::to_string(v), {2, 1 << 19}, stopping));
  const auto plan = make_plan(bind(kNone, ModelParallel(layouts), {.variables = variables}));
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(load(*plan, {.stop = stop.get_token(), .threads = 2}), FailsWith(Code::kCancelled, "stopped"));
  EXPECT_LT(calls, 64 * 2 * 8);
  for (const MeshDevice& device : devices) EXPECT_EQ(device.device->memory().in_use, 0u);
}

TEST(Generation, AnInitializerThatFailsFailsTheLoadAndFreesEverything) {
  const DeviceList devices = host_devices(2);
  const DeviceMesh mesh({2}, {"model"}, devices);
  const Initializer failing = custom_per_box("failing", [](const Shape&, DType, const Box& box, std::span<std::byte>) {
    return box.origin[0] > 100 ? data_loss("no row 100") : Status();
  });
  const auto plan =
      make_plan(bind(kNone, ModelParallel(LayoutMap(mesh)),
                     {.variables = {made("good", {1024, 256}, ones()), made("bad", {1024, 256}, failing)}}));
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(load(*plan), FailsWith(Code::kDataLoss, "variable 'bad': no row 100"));
  for (const MeshDevice& device : devices) EXPECT_EQ(device.device->memory().in_use, 0u);
}

TEST(Generation, ProgressCountsWhatIsMadeAndDiscardingStaysBelowTheLimit) {
  const DeviceMesh mesh({2}, {"model"}, host_devices(2, {.memory = 3_MiB}));
  LayoutMap layouts(mesh);
  layouts.set("v.*", {"model"});
  std::vector<VariableSpec> variables;
  for (int v = 0; v < 16; ++v) variables.push_back(made("v" + std::to_string(v), {512, 1024}, ones()));
  const auto plan =
      make_plan(bind(kNone, ModelParallel(layouts), {.variables = variables}), {.retain = Retain::kDiscard});
  ASSERT_THAT(plan, IsOk());
  Progress last;
  std::size_t seen = 0;
  const auto loaded = load(*plan, {.progress = [&](const Progress& progress) { last = progress; },
                                   .on_array =
                                       [&](const ShardedArray&) {
                                         ++seen;
                                         return Status();
                                       }});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(seen, 16u);
  EXPECT_EQ(last.bytes_total, 32_MiB);
  EXPECT_EQ(last.bytes_done, 32_MiB);
  EXPECT_EQ(last.tensors_done, 16u);
  for (const std::uint64_t peak : loaded->statistics.device_peak_bytes) EXPECT_LE(peak, 3_MiB);
}

TEST(Generation, ArraysAreBornInTheirShards) {
  const DeviceMesh mesh({4}, {"model"}, host_devices(4));
  const Sharding columns{mesh, {std::nullopt, "model"}};
  const Initializer initializer = glorot_uniform({.seed = 42});
  const auto kernel = initializer({32, 64}, DType::kFloat32, columns);
  ASSERT_THAT(kernel, IsOk());
  EXPECT_EQ(shard_bytes(*kernel, 2),
            expected_shard(whole(initializer, {32, 64}, DType::kFloat32), View::of({32, 64}), kernel->box(2), 4));
  const auto noise = random::normal(jax_key(7), {32, 64}, {.stddev = 0.02, .layout = columns});
  ASSERT_THAT(noise, IsOk());
  std::string expected(32UL * 64 * 4, '\0');
  ASSERT_THAT(random::normal(jax_key(7), {32, 64}, DType::kFloat32, {.stddev = 0.02}, Box::whole({32, 64}),
                             std::as_writable_bytes(std::span(expected))),
              IsOk());
  EXPECT_EQ(shard_bytes(*noise, 1), expected_shard(expected, View::of({32, 64}), noise->box(1), 4));
  const auto words = random::bits(jax_key(7), {8}, {.dtype = DType::kUint64, .layout = {mesh, {"model"}}});
  ASSERT_THAT(words, IsOk());
  EXPECT_EQ(words->buffers()[3]->size(), 16u);
  EXPECT_THAT(initialize(zeros(), {3}, DType::kFloat32, {mesh, {"model"}}),
              FailsWith(Code::kInvalidArgument, "the dimension size is 3"));
}

}  // namespace
}  // namespace shardwise
