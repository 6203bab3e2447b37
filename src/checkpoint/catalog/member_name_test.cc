#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "checkpoint/catalog/readers.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

namespace fs = std::filesystem;

TEST(CheckMemberName, TakesPlainNames) {
  for (const char* name :
       {"model-00001-of-00002.safetensors", "a", "..a", "a..", ".hidden", "a b", "m\xc3\xbcller.h5"}) {
    EXPECT_THAT(check_member_name(name, "index"), IsOk()) << name;
  }
  EXPECT_THAT(check_member_name(std::string(255, 'x'), "index"), IsOk());
}

TEST(CheckMemberName, RefusesWhatLeavesTheFolder) {
  struct Case {
    std::string name;
    const char* why;
  };
  for (const Case& c : std::vector<Case>{{"", "is empty"},
                                         {"..", "is a folder"},
                                         {".", "is a folder"},
                                         {"../a", "path separator"},
                                         {"/etc/passwd", "path separator"},
                                         {"a/b", "path separator"},
                                         {"a\\b", "path separator"},
                                         {"a/", "path separator"},
                                         {std::string("a\0b", 3), "NUL"},
                                         {std::string(256, 'x'), "longer than 255"}}) {
    EXPECT_THAT(check_member_name(c.name, "weight_map"), FailsWith(Code::kDataLoss, c.why)) << c.name;
    EXPECT_THAT(check_member_name(c.name, "weight_map"), FailsWith(Code::kDataLoss, "weight_map: the file name '"));
  }
}

// A folder with a file of its own, links that stay and links that leave.
class StaysInside : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "shardwise-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directory(root_ / "folder");
    std::ofstream(root_ / "folder" / "own") << "x";
    std::ofstream(root_ / "outside") << "x";
    fs::create_symlink("own", root_ / "folder" / "link");
    fs::create_symlink("../outside", root_ / "folder" / "out");
    fs::create_symlink("out", root_ / "folder" / "out of out");
    fs::create_symlink(root_ / "outside", root_ / "folder" / "absolute out");
    fs::create_symlink("nothing", root_ / "folder" / "dangling");
    fs::create_hard_link(root_ / "outside", root_ / "folder" / "hard");
    fs::create_directory_symlink("folder", root_ / "alias");
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path root_;
};

TEST_F(StaysInside, TakesFilesAndLinksOfTheFolder) {
  for (const char* folder : {"folder", "alias"}) {
    for (const char* name : {"own", "link", "hard", "dangling", "missing"}) {
      EXPECT_THAT(check_stays_inside((root_ / folder).string(), name), IsOk()) << folder << " " << name;
    }
  }
}

TEST_F(StaysInside, RefusesLinksThatLeaveAndSaysWhatToDo) {
  for (const char* name : {"out", "out of out", "absolute out"}) {
    EXPECT_THAT(check_stays_inside((root_ / "folder").string(), name),
                FailsWith(Code::kDataLoss,
                          ::testing::AllOf(::testing::HasSubstr("leads out of the checkpoint's folder"),
                                           ::testing::HasSubstr("/outside"), ::testing::HasSubstr("hard link"))))
        << name;
  }
}

}  // namespace
}  // namespace shardwise
