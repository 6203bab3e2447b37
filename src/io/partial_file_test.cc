#include "io/partial_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "testing/matchers.h"
#include "testing/temporary_folder.h"

namespace shardwise {
namespace {

class PartialFileTest : public testing::Test {
 protected:
  static std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
  std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder_{"/var/tmp"};
  std::string path_ = folder_.path("file");
};

TEST_F(PartialFileTest, AppearsWhenItIsPublishedAndReplacesWhatWasThere) {
  std::ofstream(path_) << "old";
  PartialFile file(path_);
  ASSERT_THAT(file.create(6), IsOk());
  ASSERT_THAT(file.write(3, bytes_of("def")), IsOk());
  ASSERT_THAT(file.write(0, bytes_of("abc")), IsOk());
  EXPECT_EQ(content(), "old");
  ASSERT_THAT(file.publish(), IsOk());
  EXPECT_EQ(content(), "abcdef");
}

TEST_F(PartialFileTest, LeavesNothingWhenItIsNotPublished) {
  {
    PartialFile file(path_);
    ASSERT_THAT(file.create(6), IsOk());
    const PartialFile moved = std::move(file);
    EXPECT_FALSE(std::filesystem::is_empty(folder_.path()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(PartialFileTest, SaysWhatTheSystemRefuses) {
  PartialFile file(folder_.path("none/file"));
  EXPECT_THAT(file.create(1), FailsWith(Code::kUnavailable, "cannot create " + folder_.path("none/file")));
  std::filesystem::create_directory(path_);
  std::ofstream(path_ + "/inside") << "x";
  PartialFile over_a_folder(path_);
  ASSERT_THAT(over_a_folder.create(1), IsOk());
  EXPECT_THAT(over_a_folder.publish(), FailsWith(Code::kUnavailable, "cannot finish"));
}

}  // namespace
}  // namespace shardwise
