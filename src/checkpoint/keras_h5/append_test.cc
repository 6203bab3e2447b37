#include "checkpoint/keras_h5/append.h"

#include <limits>

#include "testing/matchers.h"

namespace shardwise::keras {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TensorInfo tensor(const std::string& name, ByteRange range, std::uint32_t encoding = Extent::kRaw) {
  return {.name = name, .shape = {4}, .extents = {{.encoding = encoding, .range = range, .box = Box::whole({4})}}};
}

TEST(AppendDatasets, MovesBytesAndRenumbersEncodings) {
  Catalog catalog;
  catalog.encodings.resize(3);
  catalog.tensors.push_back(tensor("old", {0, 16}, 2));
  TensorInfo unwritten{
      .name = "unwritten", .shape = {4}, .extents = {{.file = Extent::kNoFile, .box = Box::whole({4})}}};
  const std::vector<Encoding> encodings = {{.filters = {{.kind = Filter::Kind::kDeflate}}, .block_shape = {4}}, {}};
  ASSERT_THAT(append_datasets({tensor("raw", {8, 24}), tensor("packed", {24, 30}, 1), unwritten}, encodings,
                              {.file = 7, .offset = 1000}, catalog),
              IsOk());
  ASSERT_EQ(catalog.tensors.size(), 4u);
  EXPECT_EQ(catalog.tensors[0].extents[0].encoding, 2u);
  EXPECT_EQ(catalog.tensors[1].extents[0].file, 7u);
  EXPECT_EQ(catalog.tensors[1].extents[0].encoding, Extent::kRaw);
  EXPECT_EQ(catalog.tensors[1].extents[0].range, (ByteRange{1008, 1024}));
  EXPECT_EQ(catalog.tensors[2].extents[0].encoding, 4u);
  EXPECT_EQ(catalog.tensors[2].extents[0].range, (ByteRange{1024, 1030}));
  EXPECT_EQ(catalog.tensors[3].extents[0].file, Extent::kNoFile);
  EXPECT_EQ(catalog.tensors[3].extents[0].range, ByteRange());
  ASSERT_EQ(catalog.encodings.size(), 5u);
  EXPECT_EQ(catalog.encodings[3], encodings[0]);
}

TEST(AppendDatasets, RefusesBytesThatWrap) {
  Catalog catalog;
  constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT(append_datasets({tensor("far", {kEnd - 16, kEnd})}, {}, {.offset = 1}, catalog),
              FailsWith(Code::kDataLoss, "tensor 'far'"));
}

TEST(AppendMetadata, KeepsLayerNamesAndVersions) {
  Catalog catalog;
  catalog.metadata["keras_version"] = "3.15.1";
  append_metadata({{"", {{"keras_version", {"2.3.1"}}, {"backend", {"tensorflow"}}, {"model_config", {"{}"}}}},
                   {"vars", {{"name", {"sequential"}}}},
                   {"layers/dense", {{"name", {"not kept"}}}},
                   {"layers/dense/vars", {{"name", {"my_dense"}}, {"other", {"x"}}}},
                   {"layers/my_vars", {{"name", {"not kept"}}}},
                   {"a/vars", {{"name", {"two", "texts"}}}},
                   {"b/vars", {{"name", {std::string(4097, 'n')}}}}},
                  catalog);
  EXPECT_THAT(catalog.metadata,
              UnorderedElementsAre(Pair("keras_version", "3.15.1"), Pair("backend", "tensorflow"),
                                   Pair("vars#name", "sequential"), Pair("layers/dense/vars#name", "my_dense")));
}

TEST(HasKerasGroups, LooksForGroupsCalledVars) {
  EXPECT_TRUE(has_keras_groups({{"", {}}, {"vars", {}}}));
  EXPECT_TRUE(has_keras_groups({{"layers/dense/vars", {}}}));
  EXPECT_FALSE(has_keras_groups({{"", {}}, {"model_weights", {}}, {"my_vars", {}}, {"vars/x", {}}}));
}

}  // namespace
}  // namespace shardwise::keras
