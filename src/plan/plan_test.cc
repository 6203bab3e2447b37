#include "shardwise/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "plan/windows.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A catalog of raw float32 tensors, one after the other in one file.
Catalog catalog_of(const std::vector<std::pair<std::string, Shape>>& tensors, DType dtype = DType::kFloat32) {
  Catalog catalog;
  catalog.format = "safetensors";
  catalog.path = "model.safetensors";
  std::uint64_t at = 100;
  for (const auto& [name, shape] : tensors) {
    TensorInfo tensor{name, dtype, shape, {}, {}};
    if (tensor.bytes() != 0)
      tensor.extents.push_back({0, Extent::kRaw, 0, {at, at + tensor.bytes()}, Box::whole(shape)});
    at += tensor.bytes();
    catalog.tensors.push_back(std::move(tensor));
  }
  catalog.files.push_back({.path = "model.safetensors", .size = at});
  return catalog;
}

DeviceMesh mesh_of(std::int64_t n, std::uint64_t memory = kUnlimited) {
  return DeviceMesh({1, n}, {"batch", "model"}, abstract_devices(static_cast<std::size_t>(n), memory));
}

LoadPlan plan_of(const Catalog& catalog, const LayoutMap& layouts, const PlanOptions& options = {},
                 const BindOptions& bind_options = {}) {
  auto plan = make_plan(bind(catalog, ModelParallel(layouts), bind_options), options);
  EXPECT_THAT(plan, IsOk());
  return std::move(plan).value();
}

TEST(Plan, BuiltInLayoutsReportRulesOnlyWhenNoneMatched) {
  const auto mesh = mesh_of(2);
  const auto gemma = builtin_layout("gemma", mesh);
  ASSERT_THAT(gemma, IsOk());
  const Catalog known = catalog_of({{"token_embedding/embeddings", {8, 8}}});
  const auto some = bind(known, *gemma);
  ASSERT_THAT(some, IsOk());
  EXPECT_TRUE(some->unmatched_rules.empty());
  const Catalog foreign = catalog_of({{"x", {8, 8}}});
  const auto none = bind(foreign, *gemma);
  ASSERT_THAT(none, IsOk());
  EXPECT_EQ(none->unmatched_rules.size(), gemma->rules()->rules().size());
}

TEST(Plan, RowShardsAreReadInPlaceAndColumnShardsInWholeRows) {
  const Catalog catalog = catalog_of({{"rows", {4096, 1024}}, {"columns", {1024, 4096}}});
  LayoutMap layouts(mesh_of(8));
  layouts.set("rows", {"model"}).set("columns", {std::nullopt, "model"});
  const LoadPlan plan = plan_of(catalog, layouts);
  ASSERT_EQ(plan.segments.size(), 2u);
  EXPECT_TRUE(plan.segments[0].direct);
  EXPECT_FALSE(plan.segments[1].direct);
  EXPECT_EQ(plan.reads_total.bytes, 32_MiB);
  EXPECT_EQ(plan.reads_total.wanted_bytes, 32_MiB);
  for (const DevicePlan& device : plan.devices) {
    EXPECT_EQ(device.bytes, 4_MiB);
    EXPECT_EQ(device.peak_bytes, 4_MiB);
  }
}

TEST(Plan, WindowsCoverEveryReadInOrderAndAreNoLargerThanTheirLimit) {
  const Catalog catalog = catalog_of({{"a", {3000, 1000}}, {"b", {7}}, {"c", {2048, 3072}}, {"d", {}}});
  LayoutMap layouts(mesh_of(8));
  layouts.set("a", {"model"}).set("c", {std::nullopt, "model"});
  const LoadPlan plan = plan_of(catalog, layouts, {.staging = kMinStaging});
  WindowCursor cursor(plan);
  std::uint64_t at = 100;
  std::uint64_t count = 0;
  for (Window window; cursor.next(window); ++count) {
    EXPECT_EQ(window.range.begin, at);
    EXPECT_LE(window.range.size(), plan.window);
    EXPECT_GT(window.range.size(), 0u);
    at = window.range.end;
  }
  EXPECT_EQ(at, catalog.files[0].size);
  EXPECT_EQ(count, plan.reads_total.count);
}

TEST(Plan, AFewRowsOfAFewDevicesAreAllThatIsRead) {
  const Catalog catalog = catalog_of({{"rows", {4096, 1024}}, {"columns", {1024, 65536}}});
  LayoutMap layouts(mesh_of(8));
  layouts.set("rows", {"model"}).set("columns", {std::nullopt, "model"});
  const LoadPlan exact = plan_of(catalog, layouts, {.local_devices = {3}});
  // Rows: an eighth. Columns: runs of 32 KiB, 224 KiB apart.
  EXPECT_EQ(exact.reads_total.wanted_bytes, 2_MiB + 32_MiB);
  EXPECT_EQ(exact.reads_total.bytes, exact.reads_total.wanted_bytes);
  EXPECT_DOUBLE_EQ(exact.reads_total.over_read(), 1.0);
  const LoadPlan joined = plan_of(catalog, layouts, {.coalesce = {.min_gap = 256_KiB}, .local_devices = {3}});
  EXPECT_GT(joined.reads_total.over_read(), 7.0);
  EXPECT_LT(joined.reads_total.count, exact.reads_total.count);
  EXPECT_EQ(joined.reads_total.wanted_bytes, exact.reads_total.wanted_bytes);
  EXPECT_FALSE(joined.devices[2].local);
  EXPECT_EQ(joined.devices[2].bytes, 0u);
}

TEST(Plan, AHostThatWantsAThirdOfEveryRowReadsWholeRows) {
  const Catalog catalog = catalog_of({{"columns", {1024, 65536}}});
  LayoutMap layouts(mesh_of(8));
  layouts.set("columns", {std::nullopt, "model"});
  EXPECT_DOUBLE_EQ(plan_of(catalog, layouts, {.local_devices = {0, 1}}).reads_total.over_read(), 1.0);
  EXPECT_GT(plan_of(catalog, layouts, {.local_devices = {0, 1, 2}}).reads_total.over_read(), 2.5);
}

TEST(Plan, ReportsRulesReplicasLeftoversAndNotes) {
  const Catalog catalog = catalog_of({{"big", {1024, 1024}}, {"odd", {1022, 3}}, {"small", {4}}, {"extra", {2}}});
  LayoutMap layouts(mesh_of(4), {.uneven = Uneven::kReplicate});
  layouts.set("nothing.*", {"model"}).set("odd", {"model"});
  const LoadPlan plan =
      plan_of(catalog, layouts, {}, {.select = [](const std::string& name) { return name != "extra"; }});
  EXPECT_THAT(plan.unmatched_rules, ElementsAre("nothing.*"));
  ASSERT_EQ(plan.replicated.size(), 1u);
  EXPECT_EQ(plan.replicated[0].name, "big");
  EXPECT_EQ(plan.replicated[0].extra_bytes, 12_MiB);
  EXPECT_THAT(plan.unused_tensors, ElementsAre("extra"));
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_THAT(plan.notes[0], HasSubstr("1022"));
  const std::string text = to_string(plan);
  for (const char* part : {"nothing.*", "big", "12 MiB more than one copy", "extra", "over-read 1.000"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(Plan, AllProblemsOfAllVariablesComeTogether) {
  const Catalog catalog = catalog_of({{"a", {10, 3}}, {"b", {9}}, {"c", {8}}});
  LayoutMap layouts(mesh_of(4));
  layouts.set("a", {"model"}).set("b", {"model"}).set("c", {"model"});
  const auto bindings = bind(catalog, ModelParallel(layouts));
  EXPECT_THAT(bindings, FailsWith(Code::kInvalidArgument, "'a'"));
  EXPECT_THAT(bindings, FailsWith(Code::kInvalidArgument, "'b'"));
  EXPECT_THAT(bind(catalog, ModelParallel(LayoutMap(mesh_of(2))), {.variables = {{"x", "missing", {}, {}}}}),
              FailsWith(Code::kNotFound, "has no tensor 'missing'"));
  EXPECT_THAT(bind(catalog, ModelParallel(LayoutMap(mesh_of(2))), {.variables = {{"x", "a", DType::kInt32, {}}}}),
              FailsWith(Code::kInvalidArgument, "float32 cannot be converted to int32"));
  EXPECT_THAT(bind(catalog, ModelParallel(LayoutMap(mesh_of(2))), {.variables = {{"x", "a", {}, View::of({3, 10})}}}),
              FailsWith(Code::kInvalidArgument, "starts from shape (3, 10)"));
}

TEST(Plan, RefusesOptionsThatCannotWork) {
  const Catalog catalog = catalog_of({{"a", {8}}});
  const auto bindings = bind(catalog, DataParallel(mesh_of(2)));
  EXPECT_THAT(make_plan(bindings, {.staging = 1_MiB}), FailsWith(Code::kInvalidArgument, "least of 8 MiB"));
  EXPECT_THAT(make_plan(bindings, {.local_devices = {2}}), FailsWith(Code::kInvalidArgument, "device number 2"));
}

// keras issue 21634: a 1000 MiB embedding on 8 devices, and 64 MiB of others, peaks at 2133 MiB on device 0.
TEST(Plan, LoadThenShardIsWhatKerasWasMeasuredToNeed) {
  const Catalog catalog = catalog_of({{"embedding", {256000, 1024}}, {"rest", {16384, 1024}}});
  LayoutMap layouts(mesh_of(8));
  layouts.set(".*", {"model"});
  const LoadPlan plan = plan_of(catalog, layouts);
  EXPECT_EQ(plan.load_then_shard.device0_peak_bytes, 2133_MiB);
  EXPECT_EQ(plan.load_then_shard.host_peak_bytes, 1000_MiB);
  const LoadPlan half = plan_of(catalog, layouts, {}, {.float_dtype = DType::kBfloat16});
  EXPECT_EQ(half.load_then_shard.device0_peak_bytes, 1000_MiB + 500_MiB + 66_MiB + 512_KiB);
}

TEST(Plan, ATooSmallDeviceIsNamedWithWhatWouldHelp) {
  const Catalog catalog = catalog_of({{"embedding", {30522, 384}}, {"kernel", {384, 384}}});
  LayoutMap layouts(mesh_of(8, 4_MiB));
  layouts.set("embedding", {std::nullopt, "model"});
  const Status status = check_fits(plan_of(catalog, layouts));
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  for (const char* part : {"8 of 8 devices", "host:0", "6450048 bytes", "4194304 bytes", "'embedding'", "6.15 MiB"}) {
    EXPECT_THAT(status.message(), HasSubstr(part));
  }
  EXPECT_TRUE(check_fits(plan_of(catalog, LayoutMap(mesh_of(8)))).ok());
}

TEST(Plan, JsonHasTheDocumentedFields) {
  const Catalog catalog = catalog_of({{"embedding", {64, 32}}});
  LayoutMap layouts(mesh_of(8, 1_MiB));
  layouts.set("embedding", {"model"}).set("none", {"model"});
  const auto json = nlohmann::json::parse(to_json(plan_of(catalog, layouts)));
  EXPECT_EQ(json["devices"].size(), 8u);
  EXPECT_EQ(json["devices"][7],
            (nlohmann::json{{"id", "host:7"}, {"bytes", 1024}, {"peak_bytes", 1024}, {"limit_bytes", 1_MiB}}));
  EXPECT_EQ(json["host"]["staging_bytes"], 64_MiB);
  EXPECT_GT(json["host"]["peak_bytes"], 64_MiB);
  EXPECT_EQ(json["reads"]["bytes"], 8192);
  EXPECT_EQ(json["reads"]["wanted_bytes"], 8192);
  EXPECT_EQ(json["reads"]["count"], 1);
  const auto& tensor = json["tensors"][0];
  EXPECT_EQ(tensor["name"], "embedding");
  EXPECT_EQ(tensor["dtype"], "float32");
  EXPECT_EQ(tensor["shape"], (nlohmann::json{64, 32}));
  EXPECT_EQ(tensor["layout"], (nlohmann::json{"model", nullptr}));
  EXPECT_EQ(tensor["shard_shape"], (nlohmann::json{8, 32}));
  EXPECT_EQ(tensor["shard_bytes"], 1024);
  EXPECT_EQ(tensor["replicas"], 1);
  EXPECT_EQ(json["unmatched_rules"], (nlohmann::json{"none"}));
  EXPECT_EQ(json["load_then_shard"]["device0_peak_bytes"], 2 * 8192 + 1024);
}

TEST(Plan, SubByteTensorsAreCutAtWholeBytesOnly) {
  const Catalog catalog = catalog_of({{"packed", {8, 16}}}, DType::kFloat4E2m1fn);
  LayoutMap layouts(mesh_of(8));
  layouts.set("packed", {std::nullopt, "model"});
  EXPECT_EQ(plan_of(catalog, layouts).devices[0].bytes, 64u) << "8 rows of 1 byte, rounded up by the allocator";
  const Catalog odd = catalog_of({{"packed", {2, 8}}}, DType::kFloat4E2m1fn);
  LayoutMap cuts(mesh_of(8));
  cuts.set("packed", {std::nullopt, "model"});
  EXPECT_THAT(make_plan(bind(odd, ModelParallel(cuts))), FailsWith(Code::kInvalidArgument, "inside a byte"));
}

}  // namespace
}  // namespace shardwise
