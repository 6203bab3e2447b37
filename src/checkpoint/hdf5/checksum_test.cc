#include "checkpoint/hdf5/checksum.h"

#include <gtest/gtest.h>

#include <string_view>

#include "testing/matchers.h"

namespace shardwise::hdf5 {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// The values that the hash's author gives for his own function.
TEST(Lookup3, GivesThePublishedValues) {
  EXPECT_EQ(lookup3({}), 0xdeadbeefu);
  EXPECT_EQ(lookup3(bytes_of("Four score and seven years ago")), 0x17770551u);
}

TEST(Checksum, IsOfAllBytesBefore) {
  using namespace std::string_view_literals;
  constexpr std::string_view kRecord = "Four score and seven years ago\x51\x05\x77\x17"sv;
  EXPECT_THAT(check_checksum(bytes_of(kRecord), 40, "record"), IsOk());
  std::string wrong(kRecord);
  wrong[3] ^= 1;
  EXPECT_THAT(check_checksum(bytes_of(wrong), 40, "record"),
              FailsWith(Code::kDataLoss, "record at byte 40: checksum 0x17770551"));
  EXPECT_THAT(check_checksum(bytes_of("abc"), 40, "record"), FailsWith(Code::kDataLoss, "too short"));
}

}  // namespace
}  // namespace shardwise::hdf5
