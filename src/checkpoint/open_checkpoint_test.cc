#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "base/format.h"
#include "checkpoint/catalog/readers.h"
#include "checkpoint/safetensors/testing.h"
#include "shardwise/checkpoint.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

namespace fs = std::filesystem;
using safetensors::file_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

// One uint8 tensor of 4 bytes.
std::string one_tensor(std::string_view name) {
  return file_of(format(R"({{"{}":{{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}}})", name), "1234");
}

class OpenCheckpoint : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "shardwise-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string path(const std::string& name) const { return (root_ / name).string(); }
  void write(const std::string& name, std::string_view bytes) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << bytes;
  }
  // Two shards and their index in `folder`.
  void write_sharded(const std::string& folder) const {
    write(folder + "/m-1.safetensors", one_tensor("a"));
    write(folder + "/m-2.safetensors", one_tensor("b"));
    write(folder + "/model.safetensors.index.json",
          R"({"metadata":{"total_size":8},"weight_map":{"a":"m-1.safetensors","b":"m-2.safetensors"}})");
  }

  fs::path root_;
};

TEST_F(OpenCheckpoint, GoesByContentNotByName) {
  write("weights.bin", one_tensor("a"));
  const auto catalog = open_checkpoint(path("weights.bin"));
  ASSERT_THAT(catalog, IsOk());
  EXPECT_EQ(catalog->format, "safetensors");
  EXPECT_EQ(catalog->path, path("weights.bin"));
}

TEST_F(OpenCheckpoint, KeepsTheIdentityOfFiles) {
  write("m.safetensors", one_tensor("a"));
  const auto catalog = open_checkpoint(path("m.safetensors"));
  ASSERT_THAT(catalog, IsOk());
  struct stat info {};
  ASSERT_EQ(stat(path("m.safetensors").c_str(), &info), 0);
  const CatalogFile& file = catalog->files.at(0);
  EXPECT_EQ(file.path, path("m.safetensors"));
  EXPECT_EQ(file.size, static_cast<std::uint64_t>(info.st_size));
  EXPECT_EQ(file.inode, info.st_ino);
  EXPECT_EQ(file.device, info.st_dev);
  EXPECT_EQ(file.modified_ns, info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec);
}

TEST_F(OpenCheckpoint, TakesAnIndexAndItsFolder) {
  write_sharded("f");
  for (const std::string& what : {path("f"), path("f/"), path("f/model.safetensors.index.json")}) {
    const auto catalog = open_checkpoint(what);
    ASSERT_THAT(catalog, IsOk()) << what;
    EXPECT_EQ(catalog->format, "safetensors-index");
    EXPECT_EQ(catalog->tensors.size(), 2u);
    EXPECT_TRUE(catalog->warnings.empty());
  }
}

TEST_F(OpenCheckpoint, ChoosesInAFolder) {
  write("single/anything.safetensors", one_tensor("a"));
  write("single/config.json", "{}");
  EXPECT_THAT(open_checkpoint(path("single")), IsOk());

  write("two/a.safetensors", one_tensor("a"));
  write("two/b.safetensors", one_tensor("b"));
  EXPECT_THAT(open_checkpoint(path("two")),
              FailsWith(Code::kNotFound,
                        "holds 2 checkpoints and no model.safetensors.index.json; open one of them: "
                        "a.safetensors, b.safetensors"));
  fs::create_directory(root_ / "none");
  EXPECT_THAT(open_checkpoint(path("none")), FailsWith(Code::kNotFound, "none: no checkpoint in this folder"));
  write("half/model.weights.h5", "x");
  EXPECT_THAT(open_checkpoint(path("half")), FailsWith(Code::kNotFound, "also has config.json and metadata.json"));
  write("half/config.json", "{}");
  write("half/metadata.json", "{}");
  EXPECT_THAT(open_checkpoint(path("half")), FailsWith(Code::kDataLoss, "model.weights.h5: "));
}

TEST_F(OpenCheckpoint, RefusesLinksOutOfTheFolder) {
  write_sharded("f");
  fs::rename(root_ / "f/m-2.safetensors", root_ / "blob");
  fs::create_symlink("../blob", root_ / "f/m-2.safetensors");
  EXPECT_THAT(open_checkpoint(path("f")),
              FailsWith(Code::kDataLoss, AllOf(HasSubstr("m-2.safetensors' is a symbolic link that leads out"),
                                               HasSubstr("/blob"), HasSubstr("hard link"))));
  fs::create_directory(root_ / "g");
  fs::create_symlink("../blob", root_ / "g/m.safetensors");
  EXPECT_THAT(open_checkpoint(path("g")), FailsWith(Code::kDataLoss, "leads out of the checkpoint's folder"));
  EXPECT_THAT(open_checkpoint(path("g/m.safetensors")), IsOk());  // the path itself may be a link
  fs::create_directory_symlink("f", root_ / "alias");
  fs::remove(root_ / "f/m-2.safetensors");
  fs::rename(root_ / "blob", root_ / "f/m-2.safetensors");
  EXPECT_THAT(open_checkpoint(path("alias")), IsOk());
}

TEST_F(OpenCheckpoint, NamesTheMissingShardBeforeReading) {
  write_sharded("f");
  fs::remove(root_ / "f/m-2.safetensors");
  EXPECT_THAT(open_checkpoint(path("f")),
              FailsWith(Code::kNotFound, AllOf(HasSubstr("1 of the 2 files"), HasSubstr("f/m-2.safetensors"))));
}

TEST_F(OpenCheckpoint, ExplainsPathsThatAreNotThere) {
  EXPECT_THAT(open_checkpoint(path("m.safetensors")),
              FailsWith(Code::kNotFound, AllOf(HasSubstr(path("m.safetensors")), HasSubstr("a typing error?"))));
  EXPECT_THAT(open_checkpoint(path("no/m.safetensors")),
              FailsWith(Code::kNotFound, path("no") + " is not there either"));
  EXPECT_THAT(open_checkpoint("no-such-file-anywhere"), FailsWith(Code::kNotFound, "its folder is there"));
  EXPECT_THAT(open_checkpoint(""), FailsWith(Code::kNotFound));
  fs::create_symlink("gone", root_ / "link");
  EXPECT_THAT(open_checkpoint(path("link")), FailsWith(Code::kNotFound, "a symbolic link to gone, which is not there"));
  EXPECT_THAT(open_checkpoint(root_.string() + std::string("\0x", 2)), FailsWith(Code::kInvalidArgument, "NUL"));
}

TEST_F(OpenCheckpoint, PutsThePathBeforeWhatIsWrong) {
  write("empty.safetensors", "");
  EXPECT_THAT(open_checkpoint(path("empty.safetensors")),
              FailsWith(Code::kDataLoss, path("empty.safetensors") + ": the file is empty"));
  write("cut.safetensors", one_tensor("a").substr(0, 60));
  EXPECT_THAT(open_checkpoint(path("cut.safetensors")),
              FailsWith(Code::kDataLoss, path("cut.safetensors") + ": the header takes bytes [8, "));
  write("m.pt", std::string("\x80\x02", 2));
  EXPECT_THAT(open_checkpoint(path("m.pt")),
              FailsWith(Code::kUnimplemented, path("m.pt") + ": this is a Python pickle"));
}

// Root may read everything: as root, the questions are asked as somebody else.
TEST_F(OpenCheckpoint, SaysWhatMayNotBeRead) {
  write("m.safetensors", one_tensor("a"));
  fs::create_directory(root_ / "closed");
  chmod(path("m.safetensors").c_str(), 0);
  chmod(path("closed").c_str(), 0);
  chmod(root_.c_str(), 0755);
  constexpr uid_t kNobody = 65534;
  const uid_t user = geteuid();
  ASSERT_TRUE(user != 0 || seteuid(kNobody) == 0);
  const auto file = open_checkpoint(path("m.safetensors"));
  const auto folder = open_checkpoint(path("closed"));
  ASSERT_TRUE(user != 0 || seteuid(user) == 0);
  chmod(path("closed").c_str(), 0700);
  EXPECT_THAT(file, FailsWith(Code::kPermissionDenied, path("m.safetensors")));
  EXPECT_THAT(folder, FailsWith(Code::kPermissionDenied, path("closed")));
}

}  // namespace
}  // namespace shardwise
