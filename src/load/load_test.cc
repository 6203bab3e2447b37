#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "io/faulty_file.h"
#include "load/load_testing.h"
#include "testing/matchers.h"
#include "testing/temporary_folder.h"

namespace shardwise {
namespace {

using Storage = MemoryCheckpoint::Storage;

// One plan over a checkpoint in memory, for 4 devices along "model".
class LoadTest : public testing::Test {
 protected:
  void plan(const BindOptions& bind_options = {}, const PlanOptions& plan_options = {},
            std::uint64_t memory = kUnlimited) {
    devices_ = host_devices(4, {.memory = memory});
    const DeviceMesh mesh({4}, {"model"}, devices_);
    LayoutMap layouts(mesh);
    layouts.set("rows.*", {"model"}).set("columns.*", {std::nullopt, "model"});
    auto made = make_plan(bind(checkpoint_.finish(), ModelParallel(layouts), bind_options), plan_options);
    ASSERT_THAT(made, IsOk());
    plan_.emplace(std::move(made).value());
  }

  Result<Loaded> load_with(const Faults& faults, LoadOptions options = {}) {
    options.open = [this, faults](const CatalogFile& file) -> Result<std::shared_ptr<const File>> {
      return std::shared_ptr<const File>(std::make_shared<FaultyFile>(*checkpoint_.open(file), faults));
    };
    return load(*plan_, options);
  }

  std::uint64_t in_use() const {
    std::uint64_t sum = 0;
    for (const MeshDevice& device : devices_) sum += device.device->memory().in_use;
    return sum;
  }

  MemoryCheckpoint checkpoint_{7};
  DeviceList devices_;
  std::optional<LoadPlan> plan_;
};

TEST_F(LoadTest, FreesEverythingWhenAReadFails) {
  for (int t = 0; t < 8; ++t) checkpoint_.add("rows" + std::to_string(t), DType::kFloat32, {1024, 256});
  plan();
  const auto failed = load_with({.io_error = ByteRange{5 << 20, (5 << 20) + 1}});
  EXPECT_THAT(failed, FailsWith(Code::kUnavailable, "tensor 'rows5'"));
  EXPECT_EQ(in_use(), 0u);
  EXPECT_THAT(load_with({}), IsOk());
}

TEST_F(LoadTest, NoticesAFileThatShrinksWhileItIsRead) {
  for (int t = 0; t < 8; ++t) checkpoint_.add("columns" + std::to_string(t), DType::kFloat32, {1024, 256});
  plan();
  EXPECT_THAT(load_with({.shrinks_at = 3, .shrunk_size = 100}), FailsWith(Code::kDataLoss, "file0"));
  EXPECT_EQ(in_use(), 0u);
}

TEST_F(LoadTest, FindsAFlippedByteByItsFingerprint) {
  checkpoint_.add("rows", DType::kFloat32, {1024, 256});
  plan();
  const auto good = load_with({});
  const auto bad = load_with({.flipped_byte = 12345});
  ASSERT_THAT(good, IsOk());
  ASSERT_THAT(bad, IsOk());
  EXPECT_NE(good->fingerprints[0], bad->fingerprints[0]);
  EXPECT_EQ(*fingerprint(good->arrays[0]), *good->fingerprints[0]);
  EXPECT_EQ(*fingerprint(bad->arrays[0]), *bad->fingerprints[0]);
}

TEST_F(LoadTest, StopsInTheMiddleAndLeavesNothingBehind) {
  for (int t = 0; t < 16; ++t) checkpoint_.add("rows" + std::to_string(t), DType::kFloat32, {1024, 256});
  plan();
  std::stop_source stop;
  const Faults faults{.on_read = [&](std::uint64_t number) {
    if (number == 5) stop.request_stop();
  }};
  EXPECT_THAT(load_with(faults, {.stop = stop.get_token()}), FailsWith(Code::kCancelled, ""));
  EXPECT_EQ(in_use(), 0u);
}

TEST_F(LoadTest, AnErrorOfTheReceiverFailsTheLoad) {
  for (int t = 0; t < 4; ++t) checkpoint_.add("rows" + std::to_string(t), DType::kFloat32, {64, 4});
  plan();
  const auto refuse = [](const ShardedArray& array) {
    return array.name() == "rows2" ? invalid_argument("no thanks") : Status();
  };
  EXPECT_THAT(load_with({}, {.on_array = refuse}), FailsWith(Code::kInvalidArgument, "no thanks"));
  EXPECT_EQ(in_use(), 0u);
}

TEST_F(LoadTest, ArraysOutliveTheLoadAndFreeTheirMemoryLast) {
  checkpoint_.add("rows", DType::kFloat32, {1024, 256});
  plan();
  std::optional<ShardedArray> kept;
  {
    auto loaded = load_with({});
    ASSERT_THAT(loaded, IsOk());
    kept = loaded->arrays[0];
  }
  EXPECT_EQ(in_use(), 1024u * 256 * 4);
  EXPECT_EQ(shard_bytes(*kept, 3), checkpoint_.values("rows").substr(768UL * 256 * 4));
  kept.reset();
  EXPECT_EQ(in_use(), 0u);
}

TEST_F(LoadTest, RefusesWhatDoesNotFitBeforeItAllocates) {
  checkpoint_.add("rows", DType::kFloat32, {1024, 256});
  checkpoint_.add("whole", DType::kFloat32, {1024, 256});
  plan({}, {}, 1_MiB);
  const auto refused = load_with({});
  EXPECT_THAT(refused, FailsWith(Code::kResourceExhausted, "host:0 needs 1.25 MiB (1310720 bytes)"));
  EXPECT_THAT(refused, FailsWith(Code::kResourceExhausted, "'whole'"));
  for (const MeshDevice& device : devices_) EXPECT_EQ(device.device->memory().peak, 0u);
}

TEST_F(LoadTest, DiscardingHoldsNoMoreThanPlannedAndDeliversEverything) {
  for (int t = 0; t < 40; ++t) {
    checkpoint_.add((t % 2 ? "rows" : "columns") + std::to_string(t), DType::kFloat32, {512, 256},
                    t % 5 == 0 ? Storage::kBlocks : Storage::kRaw);
  }
  checkpoint_.add("empty", DType::kFloat32, {0, 4});
  // 20 MiB in all, 5 MiB a device: with 512 KiB each, a few arrays at a time.
  plan({}, {.retain = Retain::kDiscard}, 512_KiB);
  std::map<std::string, bool> right;
  const auto loaded =
      load_with({}, {.on_array = [&](const ShardedArray& array) {
                  bool equal = true;
                  for (std::size_t d = 0; d < 4; ++d) {
                    const View view = View::of(array.shape());
                    equal = equal && shard_bytes(array, d) ==
                                         expected_shard(checkpoint_.values(array.name()), view, array.box(d), 4);
                  }
                  right[array.name()] = equal;
                  return Status();
                }});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(right.size(), 41u);
  for (const auto& [name, equal] : right) EXPECT_TRUE(equal) << name;
  EXPECT_TRUE(loaded->arrays.empty());
  EXPECT_EQ(in_use(), 0u);
  for (std::size_t d = 0; d < 4; ++d) {
    EXPECT_LE(loaded->statistics.device_peak_bytes[d], plan_->devices[d].peak_bytes);
    EXPECT_LE(plan_->devices[d].peak_bytes, 512_KiB);
  }
}

TEST_F(LoadTest, OnlyLocalDevicesAreFilledAndOnlyTheirBytesRead) {
  checkpoint_.add("rows", DType::kFloat32, {4096, 256});
  checkpoint_.add("columns", DType::kFloat32, {64, 65536});
  plan({}, {.local_devices = {2}});
  EXPECT_EQ(plan_->reads_total.wanted_bytes, (4096u * 256 + 64 * 65536) * 4 / 4);
  EXPECT_EQ(plan_->reads_total.bytes, plan_->reads_total.wanted_bytes) << "runs of 64 KiB, gaps of 192 KiB: not joined";
  const auto loaded = load_with({});
  ASSERT_THAT(loaded, IsOk());
  for (const ShardedArray& array : *loaded) {
    for (std::size_t d = 0; d < 4; ++d) EXPECT_EQ(array.buffers()[d] != nullptr, d == 2);
    EXPECT_EQ(shard_bytes(array, 2),
              expected_shard(checkpoint_.values(array.name()), View::of(array.shape()), array.box(2), 4));
  }
  EXPECT_EQ(loaded->fingerprints[0], std::nullopt) << "a part of a tensor has no fingerprint of the whole";
}

TEST_F(LoadTest, EveryByteIsReadOnceAndMirroredToReplicas) {
  checkpoint_.add("whole", DType::kFloat32, {1024, 1024});
  checkpoint_.add("columns", DType::kFloat32, {1024, 256});
  plan();
  const auto file = std::make_shared<FaultyFile>(*checkpoint_.open(plan_->files[0]));
  const auto loaded =
      load(*plan_, {.open = [&](const CatalogFile&) -> Result<std::shared_ptr<const File>> { return {file}; }});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(file->bytes_read(), 1024u * 1024 * 4 + 1024 * 256 * 4);
  for (std::size_t d = 0; d < 4; ++d) EXPECT_EQ(shard_bytes(loaded->arrays[0], d), checkpoint_.values("whole"));
}

TEST_F(LoadTest, ReplicasThatShareHaveOneBlock) {
  checkpoint_.add("whole", DType::kFloat32, {1024, 64});
  checkpoint_.add("columns", DType::kFloat32, {1024, 256});
  plan({}, {.replicas = Replicas::kShare});
  const auto loaded = load_with({});
  ASSERT_THAT(loaded, IsOk());
  const auto& whole = loaded->arrays[0].buffers();
  for (std::size_t d = 0; d < 4; ++d) {
    EXPECT_EQ(shard_bytes(loaded->arrays[0], d), checkpoint_.values("whole"));
    EXPECT_EQ(whole[d], whole[0]);
    EXPECT_EQ(loaded->arrays[1].buffers()[d]->size(), 1024u * 64 * 4);
  }
  EXPECT_EQ(in_use(), 1024u * 64 * 4 + 1024 * 256 * 4);
}

TEST_F(LoadTest, ArraysOnSomeDevicesOnly) {
  checkpoint_.add("x", DType::kFloat32, {8, 64});
  const auto placement =
      place_boxes("x", {8, 64}, {std::nullopt, Box{{4, 0}, {4, 64}}, std::nullopt, Box{{0, 0}, {4, 64}}});
  ASSERT_THAT(placement, IsOk());
  plan({.variables = {{.name = "x", .tensor = "x", .placement = *placement}}});
  EXPECT_EQ(plan_->devices[0].bytes, 0u);
  EXPECT_EQ(plan_->devices[3].bytes, 4u * 64 * 4);
  const auto loaded = load_with({});
  ASSERT_THAT(loaded, IsOk());
  const auto& array = loaded->arrays[0];
  EXPECT_EQ(array.buffers()[0], nullptr);
  EXPECT_EQ(shard_bytes(array, 3), checkpoint_.values("x").substr(0, 1024));
  EXPECT_EQ(shard_bytes(array, 1), checkpoint_.values("x").substr(1024));
  EXPECT_EQ(*fingerprint(array), *loaded->fingerprints[0]);
}

TEST_F(LoadTest, AnIntegerThatDoesNotFitFailsTheLoad) {
  checkpoint_.add("rows", DType::kInt64, {64});
  plan({.variables = {{"rows", "rows", DType::kInt8, std::nullopt}}});
  EXPECT_THAT(load_with({}), FailsWith(Code::kInvalidArgument, "tensor 'rows'"));
  EXPECT_EQ(in_use(), 0u);
}

TEST_F(LoadTest, ADescriptionOfDevicesCannotBeLoadedInto) {
  checkpoint_.add("rows", DType::kFloat32, {64, 4});
  const DeviceMesh mesh({4}, {"model"}, abstract_devices(4));
  const auto plan = make_plan(bind(checkpoint_.finish(), DataParallel(mesh)));
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(load(*plan), FailsWith(Code::kFailedPrecondition, "host_devices()"));
}

TEST_F(LoadTest, ProgressEndsAtTheTotal) {
  for (int t = 0; t < 8; ++t) checkpoint_.add("rows" + std::to_string(t), DType::kFloat32, {1024, 256});
  plan();
  std::vector<Progress> seen;
  ASSERT_THAT(load_with({.delay = std::chrono::milliseconds(30)},
                        {.progress = [&](const Progress& p) { seen.push_back(p); }, .threads = 2}),
              IsOk());
  ASSERT_GE(seen.size(), 2u);
  EXPECT_EQ(seen.back().bytes_done, seen.back().bytes_total);
  EXPECT_EQ(seen.back().tensors_done, 8u);
  for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_GE(seen[i].bytes_done, seen[i - 1].bytes_done);
  EXPECT_LT(seen.front().bytes_done, seen.front().bytes_total);
}

// ---- Blocks beyond the budget
// ------------------------------------------------------------------------------------------

TEST_F(LoadTest, ABlockLargerThanTheStagingIsDecodedPieceByPiece) {
  // One block of 24 MiB decoded, shuffled and deflated, with 8 MiB of staging.
  const Shape shape{3072, 2048};
  MemoryCheckpoint raw(9);
  raw.add("columns", DType::kFloat32, shape);
  const std::string values = raw.values("columns");
  filter_testing::Bytes block(values.size());
  std::memcpy(block.data(), values.data(), values.size());
  block = filter_testing::deflate(filter_testing::shuffle(block, 4));
  Catalog catalog;
  catalog.files.push_back({.path = "big", .size = block.size()});
  catalog.encodings.push_back({{{Filter::Kind::kShuffle, 4}, {Filter::Kind::kDeflate, 0}}, shape});
  catalog.tensors.push_back({"columns", DType::kFloat32, shape, {{0, 0, 0, {0, block.size()}, Box::whole(shape)}}, {}});
  const DeviceMesh mesh({4}, {"model"}, host_devices(4));
  LayoutMap layouts(mesh);
  layouts.set("columns", {std::nullopt, "model"});
  const auto plan = make_plan(bind(catalog, ModelParallel(layouts)), {.staging = kMinStaging});
  ASSERT_THAT(plan, IsOk());
  const std::string_view bytes(reinterpret_cast<const char*>(block.data()), block.size());
  const auto loaded = load(*plan, {.open = [&](const CatalogFile&) -> Result<std::shared_ptr<const File>> {
    return std::shared_ptr<const File>(std::make_shared<MemoryFile>("big", bytes));
  }});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_LE(loaded->statistics.staging_peak_bytes, kMinStaging);
  for (std::size_t d = 0; d < 4; ++d) {
    std::string expected;
    for (std::size_t row = 0; row < 3072; ++row) expected += values.substr((row * 2048 + d * 512) * 4, 512UL * 4);
    EXPECT_TRUE(shard_bytes(loaded->arrays[0], d) == expected) << "device " << d;
  }
  EXPECT_EQ(*fingerprint(loaded->arrays[0]), *loaded->fingerprints[0]);
}

// ---- Devices that the host cannot address ---------------------------------------------------------------------------

TEST_F(LoadTest, DevicesWithoutHostAddressesAreFilledThroughTheSeam) {
  checkpoint_.add("rows", DType::kFloat32, {4096, 256});
  checkpoint_.add("columns", DType::kFloat32, {96, 64});
  checkpoint_.add("whole", DType::kInt16, {33});
  const DeviceList devices = opaque_devices(4);
  const DeviceMesh mesh({4}, {"model"}, devices);
  LayoutMap layouts(mesh);
  layouts.set("rows", {"model"}).set("columns_t", {"model"});
  const View transposed = View::of({96, 64}).transpose({1, 0}).value();
  const auto plan = make_plan(bind(checkpoint_.finish(), ModelParallel(layouts),
                                   {.variables = {{"rows", "rows", DType::kBfloat16, std::nullopt},
                                                  {"columns_t", "columns", std::nullopt, transposed},
                                                  {"whole", "whole", std::nullopt, std::nullopt}}}));
  ASSERT_THAT(plan, IsOk());
  const auto loaded = load(*plan, {.open = [this](const CatalogFile& file) { return checkpoint_.open(file); }});
  ASSERT_THAT(loaded, IsOk());
  const std::string rows = MemoryCheckpoint::convert(checkpoint_.values("rows"), DType::kFloat32, DType::kBfloat16);
  for (std::size_t d = 0; d < 4; ++d) {
    EXPECT_TRUE(read_back(devices, loaded->arrays[0], d) == rows.substr(d * 1024 * 256 * 2, 1024UL * 256 * 2));
    EXPECT_EQ(read_back(devices, loaded->arrays[1], d),
              expected_shard(checkpoint_.values("columns"), transposed, loaded->arrays[1].box(d), 4));
    EXPECT_EQ(read_back(devices, loaded->arrays[2], d), checkpoint_.values("whole"));
  }
}

// ---- Files on disk
// -----------------------------------------------------------------------------------------------------

class DiskLoadTest : public testing::Test {
 protected:
  DiskLoadTest() {
    // An odd place to begin and an odd end, so that no alignment helps.
    values_.resize(5'000'003UL * 4);
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<char>((i * 2654435761u) >> 13);
    path_ = folder_.write("weights", std::string(13, 'h') + values_);
    catalog_.format = "test";
    catalog_.path = path_;
    CatalogFile file{.path = path_, .size = values_.size() + 13};
    catalog_.files.push_back(file);
    catalog_.tensors.push_back({"t",
                                DType::kFloat32,
                                {5'000'003},
                                {{0, Extent::kRaw, 0, {13, values_.size() + 13}, Box::whole({5'000'003})}},
                                {}});
  }

  Result<Loaded> run(const LoadOptions& options) {
    const DeviceMesh mesh({2}, {"model"}, host_devices(2));
    auto plan = make_plan(bind(catalog_, DataParallel(mesh)), {.staging = kMinStaging});
    return load(*plan, options);
  }

  TemporaryFolder folder_{"/var/tmp"};
  std::string path_;
  std::string values_;
  Catalog catalog_;
};

TEST_F(DiskLoadTest, DirectAndBufferedReadsGiveTheSameBytes) {
  for (const ReadMethod method : {ReadMethod::kBuffered, ReadMethod::kDirect}) {
    const auto loaded = run({.threads = 3, .method = method});
    ASSERT_THAT(loaded, IsOk());
    for (std::size_t d = 0; d < 2; ++d) EXPECT_TRUE(shard_bytes(loaded->arrays[0], d) == values_) << to_string(method);
    EXPECT_LE(loaded->statistics.staging_peak_bytes, kMinStaging);
  }
}

TEST_F(DiskLoadTest, RefusesAFileThatChangedSinceItWasPlanned) {
  std::ofstream(path_, std::ios::binary | std::ios::app) << "x";
  EXPECT_THAT(run({}), FailsWith(Code::kFailedPrecondition, "plan again"));
  std::filesystem::remove(path_);
  EXPECT_THAT(run({}), FailsWith(Code::kNotFound, path_));
}

}  // namespace
}  // namespace shardwise
