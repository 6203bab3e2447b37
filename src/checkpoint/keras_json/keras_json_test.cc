#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/format.h"
#include "checkpoint/catalog/readers.h"
#include "io/memory_file.h"
#include "testing/matchers.h"
#include "testing/temporary_folder.h"
#include "testing/tiny_hdf5.h"

namespace shardwise {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// A folder of files in memory; counts how often each was opened.
struct Folder {
  std::map<std::string, std::string> files;
  std::map<std::string, int> opened;

  Result<Catalog> read(const std::string& json, const OpenOptions& options = {}) {
    const FileOpener open = [this](const std::string& path) -> Result<std::shared_ptr<const File>> {
      ++opened[path];
      const auto file = files.find(path);
      if (file == files.end()) return not_found(path + ": no such file");
      return std::shared_ptr<const File>(std::make_shared<MemoryFile>(path, file->second));
    };
    return read_keras_json("dir/m.weights.json", MemoryFile("dir/m.weights.json", json), open, options);
  }
};

std::string index_of(const std::string& weight_map, double total_size) {
  return format(R"({{"metadata": {{"total_size": {}}}, "weight_map": {{{}}}}})", total_size, weight_map);
}

// A layer of four variables, of which two are in each shard, and another in the second shard.
Folder straddling() {
  Folder folder;
  folder.files["dir/m_00000.weights.h5"] = tiny::Hdf5()
                                               .dataset("layers/a/vars/0", {1, 2})
                                               .dataset("layers/a/vars/1", {3})
                                               .group("layers/a/vars", "layer_a")
                                               .group("layers/b/vars", "layer_b")
                                               .bytes();
  folder.files["dir/m_00001.weights.h5"] = tiny::Hdf5()
                                               .dataset("layers/a/vars/2", {4})
                                               .dataset("layers/a/vars/3", {5, 6, 7})
                                               .dataset("layers/b/vars/0", {8})
                                               .bytes();
  return folder;
}

constexpr const char* kStraddling =
    R"("/layers/a/vars": ["m_00000.weights.h5", "m_00001.weights.h5"], "/layers/b/vars": "m_00001.weights.h5")";

std::vector<std::string> names_of(const Catalog& catalog) {
  std::vector<std::string> names;
  for (const TensorInfo& tensor : catalog.tensors) names.push_back(tensor.name);
  return names;
}

TEST(KerasJson, PutsLayersThatStraddleShardsTogether) {
  Folder folder = straddling();
  const auto catalog = folder.read(index_of(kStraddling, 32));
  ASSERT_THAT(catalog, IsOk());
  EXPECT_THAT(validate(*catalog), IsOk());
  EXPECT_EQ(catalog->format, "keras-json");
  EXPECT_THAT(names_of(*catalog), ElementsAre("layers/a/vars/0", "layers/a/vars/1", "layers/a/vars/2",
                                              "layers/a/vars/3", "layers/b/vars/0"));
  ASSERT_EQ(catalog->files.size(), 2u);
  EXPECT_EQ(catalog->files[0].path, "dir/m_00000.weights.h5");
  EXPECT_EQ(catalog->files[1].path, "dir/m_00001.weights.h5");
  EXPECT_EQ(catalog->find("layers/a/vars/1")->extents[0].file, 0u);
  EXPECT_EQ(catalog->find("layers/a/vars/2")->extents[0].file, 1u);
  EXPECT_THAT(catalog->metadata,
              ElementsAre(Pair("layers/a/vars#name", "layer_a"), Pair("layers/b/vars#name", "layer_b")));
  EXPECT_THAT(catalog->warnings, ElementsAre());
}

TEST(KerasJson, EveryShardIsThereBeforeOneIsRead) {
  Folder folder = straddling();
  folder.files.erase("dir/m_00001.weights.h5");
  folder.files["dir/m_00000.weights.h5"] = "not HDF5";
  EXPECT_THAT(folder.read(index_of(kStraddling, 32)),
              FailsWith(Code::kNotFound,
                        "dir/m.weights.json: 1 of the 2 shards that weight_map names are missing, "
                        "first dir/m_00001.weights.h5"));
  EXPECT_EQ(folder.opened["dir/m_00000.weights.h5"], 1);
}

TEST(KerasJson, NamesTheShardThatIsBroken) {
  Folder folder = straddling();
  folder.files["dir/m_00001.weights.h5"].resize(200);
  EXPECT_THAT(folder.read(index_of(kStraddling, 32)),
              FailsWith(Code::kDataLoss, "dir/m.weights.json: dir/m_00001.weights.h5: "));
}

TEST(KerasJson, RefusesAVariableInTwoShards) {
  Folder folder = straddling();
  folder.files["dir/m_00001.weights.h5"] =
      tiny::Hdf5().dataset("layers/a/vars/1", {9}).dataset("layers/b/vars/0", {8}).bytes();
  EXPECT_THAT(folder.read(index_of(kStraddling, 32)),
              FailsWith(Code::kDataLoss,
                        "variable 'layers/a/vars/1' is stored in m_00000.weights.h5 and in "
                        "m_00001.weights.h5"));
}

TEST(KerasJson, RefusesAVariableInNoShard) {
  Folder folder = straddling();
  folder.files["dir/m_00001.weights.h5"] =
      tiny::Hdf5().dataset("layers/a/vars/3", {9}).dataset("layers/b/vars/0", {8}).bytes();
  EXPECT_THAT(folder.read(index_of(kStraddling, 32)),
              FailsWith(Code::kDataLoss,
                        "variable 'layers/a/vars/2' is in none of m_00000.weights.h5, "
                        "m_00001.weights.h5"));
}

TEST(KerasJson, RefusesAGroupWithoutVariables) {
  Folder folder = straddling();
  const std::string map = std::string(kStraddling) + R"(, "/layers/c/vars": ["m_00000.weights.h5"])";
  EXPECT_THAT(folder.read(index_of(map, 32)),
              FailsWith(Code::kDataLoss, "the group '/layers/c/vars' holds no variables in m_00000.weights.h5"));
  // b's group is there in the first shard, but empty.
  const std::string elsewhere = R"("/layers/a/vars": ["m_00000.weights.h5", "m_00001.weights.h5"],
                                   "/layers/b/vars": "m_00000.weights.h5")";
  EXPECT_THAT(folder.read(index_of(elsewhere, 32)),
              FailsWith(Code::kDataLoss, "the group '/layers/b/vars' holds no variables in m_00000.weights.h5"));
}

TEST(KerasJson, OtherKeysThanNumbersMayHaveGaps) {
  Folder folder;
  folder.files["dir/w.h5"] =
      tiny::Hdf5().dataset("layers/t/vars/idf_weights", {1}).dataset("vars/deep/er", {2}).bytes();
  const auto catalog = folder.read(index_of(R"("/layers/t/vars": "w.h5", "/vars": "w.h5")", 8));
  ASSERT_THAT(catalog, IsOk());
  EXPECT_THAT(names_of(*catalog), ElementsAre("layers/t/vars/idf_weights", "vars/deep/er"));
}

TEST(KerasJson, AGroupInsideAGroupIsItsOwn) {
  // An attribute called "vars" of the model: "/vars" is a prefix of its group.
  Folder folder;
  folder.files["dir/0.h5"] = tiny::Hdf5().dataset("vars/0", {1}).bytes();
  folder.files["dir/1.h5"] = tiny::Hdf5().dataset("vars/dense/vars/0", {2}).bytes();
  const auto catalog = folder.read(index_of(R"("/vars": "0.h5", "/vars/dense/vars": "1.h5")", 8));
  ASSERT_THAT(catalog, IsOk());
  EXPECT_THAT(names_of(*catalog), ElementsAre("vars/0", "vars/dense/vars/0"));
  EXPECT_THAT(catalog->warnings, ElementsAre());
}

TEST(KerasJson, WarnsAboutWhatItLeavesOut) {
  Folder folder = straddling();
  // No entry for b, and the second shard's a is not listed.
  const auto catalog = folder.read(index_of(R"("/layers/a/vars": "m_00000.weights.h5", "/layers/b/vars":
                                              "m_00001.weights.h5")",
                                            16));
  ASSERT_THAT(catalog, IsOk());
  EXPECT_THAT(names_of(*catalog), ElementsAre("layers/a/vars/0", "layers/a/vars/1", "layers/b/vars/0"));
  EXPECT_THAT(catalog->warnings,
              ElementsAre("2 stored variables are not where weight_map puts their group and are left out, first "
                          "'layers/a/vars/2' in m_00001.weights.h5"));
}

TEST(KerasJson, WarnsAboutAListedShardWithoutVariables) {
  Folder folder = straddling();
  const std::string map = R"("/layers/a/vars": ["m_00000.weights.h5", "m_00001.weights.h5"],
                             "/layers/b/vars": ["m_00000.weights.h5", "m_00001.weights.h5"])";
  const auto catalog = folder.read(index_of(map, 32));
  ASSERT_THAT(catalog, IsOk());
  EXPECT_THAT(catalog->warnings,
              ElementsAre(AllOf(HasSubstr("lists m_00000.weights.h5 for the group '/layers/b/vars'"))));
}

TEST(KerasJson, WarnsAboutAWrongTotalSize) {
  Folder folder = straddling();
  const auto catalog = folder.read(index_of(kStraddling, 31));
  ASSERT_THAT(catalog, IsOk());
  EXPECT_THAT(catalog->warnings, ElementsAre("metadata.total_size is 31 bytes but the variables take 32"));
}

TEST(KerasJson, CapsWhatAllShardsHold) {
  Folder folder = straddling();
  EXPECT_THAT(folder.read(index_of(kStraddling, 32), {.max_tensors = 5}), IsOk());
  EXPECT_THAT(folder.read(index_of(kStraddling, 32), {.max_tensors = 4}), FailsWith(Code::kResourceExhausted));
  EXPECT_THAT(folder.read(index_of(kStraddling, 32), {.max_header_bytes = 50}),
              FailsWith(Code::kResourceExhausted, "max_header_bytes"));
}

TEST(KerasJson, WarningsAreCapped) {
  Folder folder;
  tiny::Hdf5 first;
  std::string map;
  for (int i = 0; i < 40; ++i) {
    first.dataset(format("layers/d{}/vars/0", i), {1});
    map += format(R"({}"/layers/d{}/vars": ["0.h5", "1.h5"])", i == 0 ? "" : ", ", i);
  }
  folder.files["dir/0.h5"] = first.bytes();
  folder.files["dir/1.h5"] = tiny::Hdf5().bytes();
  const auto catalog = folder.read(index_of(map, 160));
  ASSERT_THAT(catalog, IsOk());
  ASSERT_EQ(catalog->warnings.size(), 21u);
  EXPECT_EQ(catalog->warnings.back(), "20 more warnings");
}

TEST(KerasJson, LinksThatLeadOutOfTheFolderAreRefused) {
  const TemporaryFolder temporary;
  const std::filesystem::path root(temporary.path());
  std::filesystem::create_directory(root / "model");
  const auto write = [](const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  };
  write(root / "secret.h5", tiny::Hdf5().dataset("vars/0", {1}).bytes());
  write(root / "model" / "inside.h5", tiny::Hdf5().dataset("vars/0", {1}).bytes());
  std::filesystem::create_symlink("../secret.h5", root / "model" / "out.h5");
  std::filesystem::create_symlink("inside.h5", root / "model" / "in.h5");
  const auto read = [&](const std::string& name) {
    const std::string json = index_of(format(R"("/vars": "{}")", name), 4);
    const std::string path = (root / "model" / "m.weights.json").string();
    return read_keras_json(path, MemoryFile(path, json), [](const std::string& p) { return open_file(p); }, {});
  };
  EXPECT_THAT(read("in.h5"), IsOk());
  EXPECT_THAT(read("out.h5"), FailsWith(Code::kDataLoss, "'out.h5' is a symbolic link that leads out"));
  EXPECT_THAT(read("none.h5"), FailsWith(Code::kNotFound, "none.h5"));
}

}  // namespace
}  // namespace shardwise
