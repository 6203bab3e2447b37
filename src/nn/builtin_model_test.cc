#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "shardwise/variables.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

VariableTree model(const std::string& name) {
  PythonRandom seeds(1337);
  auto tree = builtin_model(name, seeds);
  EXPECT_THAT(tree, IsOk());
  return std::move(tree).value();
}

const Variable& variable(const VariableTree& tree, const std::string& path) {
  for (const Variable& v : tree.variables) {
    if (v.path == path) return v;
  }
  ADD_FAILURE() << "no variable " << path;
  return tree.variables.front();
}

// As Keras Hub counts them.
TEST(BuiltinModel, HasAsManyParametersAsThePreset) {
  const std::map<std::string, std::uint64_t> counts = {{"gemma_2b", 2'506'172'416},    {"gemma_7b", 8'537'680'896},
                                                       {"gemma2_2b", 2'614'341'888},   {"gemma2_9b", 9'241'705'984},
                                                       {"gemma2_27b", 27'227'128'320}, {"llama3_8b", 8'030'261'248}};
  EXPECT_EQ(builtin_model_names().size(), counts.size());
  for (const auto& [name, count] : counts) EXPECT_EQ(model(name).parameters(), count) << name;
  PythonRandom seeds(0);
  EXPECT_THAT(builtin_model("gemma_3b", seeds), FailsWith(Code::kNotFound, "gemma_2b, gemma_7b"));
}

TEST(BuiltinModel, PathsAreUniqueAndShapesAreThoseOfTheReference) {
  for (const std::string& name : builtin_model_names()) {
    std::set<std::string> paths;
    for (const Variable& v : model(name).variables) EXPECT_TRUE(paths.insert(v.path).second) << v.path;
  }
  const VariableTree gemma = model("gemma2_9b");
  EXPECT_EQ(gemma.variables.size(), 1u + 42 * 11 + 1);
  EXPECT_EQ(variable(gemma, "decoder_block_41/attention/query/kernel").initial.shape, (Shape{16, 3584, 256}));
  EXPECT_EQ(variable(gemma, "decoder_block_0/attention/attention_output/kernel").initial.shape, (Shape{16, 256, 3584}));
  EXPECT_EQ(variable(gemma, "decoder_block_0/post_ffw_norm/scale").initial.initializer, zeros());
  EXPECT_EQ(model("gemma_2b").variables.size(), 1u + 18 * 9 + 1);
  const VariableTree llama = model("llama3_8b");
  EXPECT_EQ(variable(llama, "transformer_layer_3/self_attention/key/kernel").initial.shape, (Shape{4096, 8, 128}));
  EXPECT_EQ(variable(llama, "sequence_output_layernorm/scale").initial.initializer, ones());
}

// random.seed(1337) draws 663307073, 993786079, 572589546, 762227828 (CPython).
TEST(BuiltinModel, SeedsAreDrawnInTheOrderOfConstruction) {
  const VariableTree gemma = model("gemma_2b");
  const auto seed = [&](const std::string& path) { return variable(gemma, path).initial.initializer.seed(); };
  EXPECT_EQ(seed("token_embedding/embeddings"), Seed(663307073));
  EXPECT_EQ(seed("decoder_block_0/attention/query/kernel"), Seed(993786079));
  EXPECT_EQ(seed("decoder_block_0/attention/attention_output/kernel"), Seed(993786079)) << "they share one";
  EXPECT_EQ(seed("decoder_block_0/ffw_gating/kernel"), Seed(572589546));
  EXPECT_EQ(seed("decoder_block_0/ffw_gating_2/kernel"), Seed(762227828));
}

TEST(BuiltinModel, CheckpointsOfBothKindsHaveItsVariables) {
  const VariableTree gemma = model("gemma_2b");
  const auto stored_in = [&](const std::string& path, const std::string& tensor, const Shape& shape) {
    Catalog catalog;
    catalog.tensors.push_back({tensor, DType::kFloat32, shape, {}, {}});
    for (const VariableSpec& spec : specs(gemma, catalog)) {
      if (spec.name == path) return spec;
    }
    return VariableSpec{};
  };
  const std::string query = "decoder_block_1/attention/query/kernel";
  EXPECT_EQ(stored_in(query, query, {8, 2048, 256}).tensor, query);
  const std::string keras = "layers/gemma_decoder_block_1/attention/query_dense/vars/0";
  EXPECT_EQ(stored_in(query, keras, {8, 2048, 256}).tensor, keras);
  EXPECT_EQ(stored_in(query, "backbone/" + keras, {8, 2048, 256}).tensor, "backbone/" + keras);
  const VariableSpec hugging_face = stored_in(query, "model.layers.1.self_attn.q_proj.weight", {2048, 2048});
  EXPECT_EQ(hugging_face.tensor, "model.layers.1.self_attn.q_proj.weight");
  ASSERT_TRUE(hugging_face.view);
  EXPECT_EQ(hugging_face.view->to_string(), ".reshape(8, 256, 2048).transpose(0, 2, 1)");
  EXPECT_EQ(hugging_face.view->shape(), hugging_face.generated->shape);
  EXPECT_EQ(stored_in(query, "other", {1}).tensor, query) << "the name that an error should give";
  // Every view of every model gives the variable's shape.
  for (const std::string& name : builtin_model_names()) {
    for (const Variable& v : model(name).variables) {
      for (const StoredAs& as : v.stored_as) EXPECT_EQ(as.view.shape(), v.initial.shape) << v.path << " " << as.tensor;
    }
  }
}

}  // namespace
}  // namespace shardwise
