#include "io/sub_file.h"

#include <array>
#include <cstring>
#include <string>

#include "testing/matchers.h"

namespace shardwise {
namespace {

// Bytes 0, 1, 2, ... of a small file, with a descriptor that must not be handed on.
class CountedFile final : public File {
 public:
  const std::string& path() const override { return path_; }
  std::uint64_t size() const override { return 100; }
  Status read(std::uint64_t offset, std::span<std::byte> target) const override {
    if (offset > 100 || target.size() > 100 - offset) return data_loss("outer: beyond the file");
    for (std::byte& b : target) b = static_cast<std::byte>(offset++);
    return {};
  }
  int descriptor() const override { return 0; }

 private:
  std::string path_ = "a.zip";
};

TEST(SubFile, ReadsItsRangeAndNothingElse) {
  const auto part = open_sub_file(std::make_shared<CountedFile>(), {40, 60});
  ASSERT_THAT(part, IsOk());
  EXPECT_EQ((*part)->size(), 20u);
  EXPECT_EQ((*part)->path(), "a.zip");
  EXPECT_EQ((*part)->descriptor(), -1);
  std::array<std::byte, 5> bytes{};
  ASSERT_THAT((*part)->read(15, bytes), IsOk());
  EXPECT_EQ(static_cast<int>(bytes.front()), 55);
  EXPECT_EQ(static_cast<int>(bytes.back()), 59);
  EXPECT_THAT((*part)->read(16, bytes),
              FailsWith(Code::kDataLoss, "bytes [16, 21) are wanted but the file ends at 20"));
  EXPECT_THAT((*part)->read(~std::uint64_t{0}, bytes), FailsWith(Code::kDataLoss));
  EXPECT_THAT((*part)->read(20, {}), IsOk());
}

TEST(SubFile, IsCalledWhatItsOpenerSays) {
  const auto part = open_sub_file(std::make_shared<CountedFile>(), {0, 0}, "a.zip:member");
  ASSERT_THAT(part, IsOk());
  std::array<std::byte, 1> byte{};
  EXPECT_THAT((*part)->read(0, byte), FailsWith(Code::kDataLoss, "a.zip:member"));
}

TEST(SubFile, RefusesRangesOutsideTheFile) {
  EXPECT_THAT(open_sub_file(std::make_shared<CountedFile>(), {99, 101}),
              FailsWith(Code::kDataLoss, "bytes [99, 101) are not inside a.zip of 100 bytes"));
  EXPECT_THAT(open_sub_file(std::make_shared<CountedFile>(), {50, 49}), FailsWith(Code::kDataLoss));
  EXPECT_THAT(open_sub_file(std::make_shared<CountedFile>(), {~std::uint64_t{0}, ~std::uint64_t{0}}),
              FailsWith(Code::kDataLoss));
}

}  // namespace
}  // namespace shardwise
