// Plans whose values are made, not read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "plan/windows.h"
#include "shardwise/plan.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

DeviceMesh mesh_of(std::int64_t n, std::uint64_t memory = kUnlimited) {
  return DeviceMesh({1, n}, {"batch", "model"}, abstract_devices(static_cast<std::size_t>(n), memory));
}

Catalog catalog_with(const std::string& name, const Shape& shape) {
  Catalog catalog{.format = "safetensors", .path = "model.safetensors"};
  TensorInfo tensor{name, DType::kFloat32, shape, {}, {}};
  tensor.extents.push_back({0, Extent::kRaw, 0, {8, 8 + tensor.bytes()}, Box::whole(shape)});
  catalog.files.push_back({.path = "model.safetensors", .size = 8 + tensor.bytes()});
  catalog.tensors.push_back(std::move(tensor));
  return catalog;
}

VariableSpec made(const std::string& name, const Shape& shape, const Initializer& initializer) {
  return {name, {}, std::nullopt, std::nullopt, Generated{shape, initializer}};
}

const Catalog kNone{.format = "initializers", .path = "spec"};

TEST(GeneratedPlan, EachDistinctShardIsMadeOnceAndNothingIsRead) {
  LayoutMap layouts(mesh_of(8));
  layouts.set("columns", {std::nullopt, "model"});
  const auto plan = make_plan(
      bind(kNone, ModelParallel(layouts),
           {.variables = {made("columns", {1024, 4096}, glorot_uniform({.seed = 1})), made("bias", {4096}, zeros())}}));
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->reads_total.count, 0u);
  EXPECT_EQ(plan->reads_total.bytes, 0u);
  EXPECT_EQ(plan->generated_bytes, 16_MiB + 16_KiB);
  EXPECT_EQ(plan->segments.size(), 8u + 1u);
  EXPECT_EQ(plan->devices[3].peak_bytes, 2_MiB + 16_KiB);
  EXPECT_LE(plan->host.peak_bytes, 24_MiB);
  std::uint64_t bytes = 0;
  WindowCursor cursor(*plan);
  for (Window window; cursor.next(window);) {
    EXPECT_TRUE(window.generated);
    EXPECT_LE(window.range.size(), plan->window);
    bytes += window.range.size();
  }
  EXPECT_EQ(bytes, plan->generated_bytes);
}

TEST(GeneratedPlan, WhatTheCheckpointHasIsNeverMade) {
  const Catalog catalog = catalog_with("kernel", {64, 64});
  VariableSpec kernel = made("kernel", {64, 64}, glorot_uniform({.seed = 1}));
  kernel.tensor = "kernel";
  VariableSpec head = made("head", {64, 8}, glorot_uniform({.seed = 2}));
  head.tensor = "head";
  const auto plan = make_plan(bind(catalog, ModelParallel(LayoutMap(mesh_of(2))), {.variables = {kernel, head}}));
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->reads_total.bytes, 64u * 64 * 4);
  EXPECT_EQ(plan->generated_bytes, 64u * 8 * 4);
  EXPECT_THAT(plan->variables[0].initializer, IsEmpty());
  EXPECT_EQ(plan->variables[1].initializer, "GlorotUniform(seed=2)");
  EXPECT_EQ(plan->variables[1].tensor, "head");
}

TEST(GeneratedPlan, AStoredTensorOfAnotherShapeIsRefused) {
  const Catalog catalog = catalog_with("kernel", {64, 32});
  VariableSpec kernel = made("kernel", {64, 64}, zeros());
  kernel.tensor = "kernel";
  EXPECT_THAT(bind(catalog, ModelParallel(LayoutMap(mesh_of(2))), {.variables = {kernel}}),
              FailsWith(Code::kInvalidArgument, "'kernel' has shape (64, 64), but tensor 'kernel' gives (64, 32)"));
}

TEST(GeneratedPlan, ProblemsOfAllInitializersAreReportedTogether) {
  const auto bindings = bind(kNone, ModelParallel(LayoutMap(mesh_of(2))),
                             {.variables = {made("unseeded", {4}, random_normal()), made("cube", {2, 2, 2}, identity()),
                                            made("huge", {std::int64_t{1} << 62, 8}, zeros())}});
  EXPECT_THAT(bindings, FailsWith(Code::kInvalidArgument, "variable 'unseeded'"));
  EXPECT_THAT(bindings, FailsWith(Code::kInvalidArgument, "variable 'cube'"));
  EXPECT_THAT(bindings, FailsWith(Code::kInvalidArgument, "variable 'huge'"));
}

TEST(GeneratedPlan, RoundingAsKerasChoosesDependsOnTheMesh) {
  VariableSpec large = made("large", {2048, 4096}, random_normal({.seed = 1}));
  large.generated->rounding.reset();
  for (const auto& [devices, rounding] : {std::pair(1, Rounding::kEager), std::pair(8, Rounding::kJit)}) {
    const auto bindings = bind(kNone, ModelParallel(LayoutMap(mesh_of(devices))), {.variables = {large}});
    ASSERT_THAT(bindings, IsOk());
    EXPECT_EQ(bindings->bindings[0].generated->rounding, rounding);
  }
}

TEST(GeneratedPlan, DtypeIsTheVariablesOwnElseTheOneAskedForElseFloat32) {
  VariableSpec own = made("own", {8}, zeros());
  own.dtype = DType::kFloat64;
  const auto asked = bind(kNone, ModelParallel(LayoutMap(mesh_of(1))),
                          {.float_dtype = DType::kBfloat16, .variables = {own, made("other", {8}, zeros())}});
  ASSERT_THAT(asked, IsOk());
  EXPECT_EQ(asked->bindings[0].dtype, DType::kFloat64);
  EXPECT_EQ(asked->bindings[1].dtype, DType::kBfloat16);
  const auto plain = bind(kNone, ModelParallel(LayoutMap(mesh_of(1))), {.variables = {made("other", {8}, zeros())}});
  ASSERT_THAT(plain, IsOk());
  EXPECT_EQ(plain->bindings[0].dtype, DType::kFloat32);
}

TEST(GeneratedPlan, AMatrixThatIsMadeWholeIsChargedToTheHost) {
  const VariableSpec variable = made("q", {2048, 2048}, orthogonal({.seed = 1}));
  const auto plan_with = [&](std::uint64_t staging) {
    return make_plan(bind(kNone, ModelParallel(LayoutMap(mesh_of(4))), {.variables = {variable}}),
                     {.staging = staging});
  };
  const auto fits = plan_with(64_MiB);
  ASSERT_THAT(fits, IsOk());
  EXPECT_GE(fits->host.whole_bytes, 16_MiB);
  EXPECT_EQ(fits->host.staging_bytes, std::min(64_MiB, kMinStaging + fits->host.whole_bytes));
  EXPECT_THAT(check_fits(*fits), IsOk());
  const auto tight = plan_with(8_MiB);
  ASSERT_THAT(tight, IsOk());
  EXPECT_THAT(check_fits(*tight), FailsWith(Code::kResourceExhausted, "variable 'q': Orthogonal makes no shard alone"));
}

TEST(GeneratedPlan, TellsOfTheVariableThatLoadThenShardFailsAt) {
  LayoutMap layouts(mesh_of(8, 8_GiB));
  layouts.set("embeddings", {"model"});
  const auto plan =
      make_plan(bind(kNone, ModelParallel(layouts),
                     {.variables = {made("embeddings", {256000, 3584}, zeros()), made("b", {8}, ones())}}));
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->load_then_shard.largest, "embeddings");
  EXPECT_EQ(plan->load_then_shard.largest_peak_bytes >> 20, 7437u);
  EXPECT_THAT(to_string(*plan), HasSubstr("7437 MiB of it for 'embeddings' alone"));
  const auto json = nlohmann::json::parse(to_json(*plan));
  EXPECT_EQ(json["generated"]["bytes"], plan->generated_bytes);
  EXPECT_EQ(json["tensors"][0]["initializer"], "Zeros()");
}

}  // namespace
}  // namespace shardwise
