#include "io/inflate_file.h"

#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "testing/matchers.h"

namespace shardwise {
namespace {

using Bytes = std::vector<std::byte>;

// A file in memory that counts the bytes read from it.
class CountingFile final : public File {
 public:
  explicit CountingFile(Bytes bytes) : bytes_(std::move(bytes)) {}
  const std::string& path() const override { return path_; }
  std::uint64_t size() const override { return bytes_.size(); }
  Status read(std::uint64_t offset, std::span<std::byte> target) const override {
    if (offset > size() || target.size() > size() - offset) return data_loss("a.zip: beyond the file");
    if (!target.empty()) std::memcpy(target.data(), bytes_.data() + offset, target.size());
    bytes_read += target.size();
    return {};
  }

  mutable std::atomic<std::uint64_t> bytes_read = 0;

 private:
  Bytes bytes_;
  std::string path_ = "a.zip";
};

Bytes deflate_raw(const Bytes& plain, int level, int strategy = Z_DEFAULT_STRATEGY) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, level, Z_DEFLATED, -MAX_WBITS, 9, strategy), Z_OK);
  Bytes out(deflateBound(&z, plain.size()) + 64);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(plain.data()));
  z.avail_in = static_cast<unsigned>(plain.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<unsigned>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  return out;
}

// Bytes of which `symbols` different ones occur: 1 deflates to nothing, 256 not at all.
Bytes random_bytes(std::size_t size, unsigned symbols, unsigned seed) {
  std::mt19937 random(seed);
  Bytes out(size);
  for (std::byte& b : out) b = static_cast<std::byte>(random() % symbols);
  return out;
}

struct Archive {
  Bytes plain;
  std::shared_ptr<CountingFile> file;
  ByteRange member;

  Result<std::shared_ptr<const File>> open() const { return open_inflate_file(file, member, plain.size()); }
};

// The deflated bytes with others around them.
Archive archive_of(Bytes plain, const Bytes& deflated) {
  Bytes all(37 + deflated.size() + 11, std::byte{0xee});
  std::memcpy(all.data() + 37, deflated.data(), deflated.size());
  return {std::move(plain), std::make_shared<CountingFile>(std::move(all)), {37, 37 + deflated.size()}};
}

Archive archive_of(const Bytes& plain) { return archive_of(plain, deflate_raw(plain, 6)); }

Bytes slice(const Bytes& bytes, std::size_t offset, std::size_t count) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  return Bytes(begin, begin + static_cast<std::ptrdiff_t>(count));
}

class InflateFileOf : public testing::TestWithParam<std::tuple<unsigned, int>> {};

TEST_P(InflateFileOf, RandomReadsEqualTheOriginal) {
  const auto [symbols, level] = GetParam();
  std::mt19937 random(symbols);
  const Bytes plain = random_bytes(5'000'000 + random() % 1000, symbols, symbols + 1);
  const Archive archive = archive_of(plain, deflate_raw(plain, level));
  const auto file = archive.open();
  ASSERT_THAT(file, IsOk());
  for (int i = 0; i < 300; ++i) {
    const std::size_t most = i % 3 == 0 ? 600'000 : i % 3 == 1 ? 70'000 : 100;
    const std::size_t offset = random() % plain.size();
    Bytes got(std::min<std::size_t>(random() % most, plain.size() - offset));
    ASSERT_THAT((*file)->read(offset, got), IsOk());
    ASSERT_EQ(got, slice(plain, offset, got.size())) << "offset " << offset;
  }
}

INSTANTIATE_TEST_SUITE_P(Compressibilities, InflateFileOf,
                         testing::Combine(testing::Values(1u, 2u, 40u, 256u), testing::Values(0, 1, 5)));

TEST(InflateFile, ReadingInFileOrderInflatesOnce) {
  for (const std::size_t step : {5'000u, 100'000u, 3'000'000u}) {
    const Archive archive = archive_of(random_bytes(8'000'000, 100, 3));
    const auto file = archive.open();
    ASSERT_THAT(file, IsOk());
    Bytes got(step);
    for (std::size_t offset = 0; offset < archive.plain.size(); offset += step) {
      got.resize(std::min(step, archive.plain.size() - offset));
      ASSERT_THAT((*file)->read(offset, got), IsOk());
      ASSERT_EQ(got, slice(archive.plain, offset, got.size()));
    }
    EXPECT_EQ(archive.file->bytes_read, archive.member.size()) << "step " << step;
  }
}

TEST(InflateFile, GoingBackStartsFromTheNearestPoint) {
  // One block for all of it: the points do not depend on where blocks begin.
  const Archive archive = archive_of(random_bytes(16'000'000, 100, 4));
  const auto file = archive.open();
  ASSERT_THAT(file, IsOk());
  Bytes all(archive.plain.size());
  ASSERT_THAT((*file)->read(0, all), IsOk());
  const std::uint64_t before = archive.file->bytes_read;
  Bytes got(100'000);
  ASSERT_THAT((*file)->read(14'000'000, got), IsOk());
  EXPECT_EQ(got, slice(archive.plain, 14'000'000, got.size()));
  EXPECT_LT(archive.file->bytes_read - before, 1'500'000u);
}

TEST(InflateFile, ManyThreadsReadTheRightBytes) {
  const Archive archive = archive_of(random_bytes(4'000'000, 50, 5));
  const auto file = archive.open();
  ASSERT_THAT(file, IsOk());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 40; ++i) {
        const std::size_t offset = random() % 3'900'000;
        Bytes got(random() % 100'000);
        if (!(*file)->read(offset, got).ok() || got != slice(archive.plain, offset, got.size())) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(InflateFile, RefusesReadsBeyondItsEnd) {
  const Archive archive = archive_of(random_bytes(1000, 4, 6));
  const auto file = archive.open();
  ASSERT_THAT(file, IsOk());
  Bytes got(10);
  EXPECT_THAT((*file)->read(991, got),
              FailsWith(Code::kDataLoss, "bytes [991, 1001) are wanted but the file ends at 1000"));
  EXPECT_THAT((*file)->read(~std::uint64_t{0}, got), FailsWith(Code::kDataLoss));
  EXPECT_THAT((*file)->read(1000, {}), IsOk());
}

TEST(InflateFile, RefusesMembersThatCannotBe) {
  const auto file = std::make_shared<CountingFile>(Bytes(100));
  EXPECT_THAT(open_inflate_file(file, {90, 101}, 1), FailsWith(Code::kDataLoss, "are not inside a.zip of 100 bytes"));
  EXPECT_THAT(open_inflate_file(file, {2, 1}, 1), FailsWith(Code::kDataLoss));
  EXPECT_THAT(open_inflate_file(file, {0, 100}, 1'000'000, {.path = "a.zip:w"}),
              FailsWith(Code::kDataLoss, "a.zip:w: 100 deflated bytes of a.zip cannot inflate to 1000000 bytes"));
}

TEST(InflateFile, FindsStreamsLongerOrShorterThanDeclared) {
  const Archive archive = archive_of(random_bytes(300'000, 7, 7));
  Bytes got(100);
  for (const std::uint64_t size : {299'999u, 150'000u, 100u}) {
    const auto file = open_inflate_file(archive.file, archive.member, size);
    ASSERT_THAT(file, IsOk());
    EXPECT_THAT((*file)->read(size - 100, got), FailsWith(Code::kDataLoss, "goes on beyond its declared size"));
  }
  const auto longer = open_inflate_file(archive.file, archive.member, 300'001);
  ASSERT_THAT(longer, IsOk());
  EXPECT_THAT((*longer)->read(299'901, got), FailsWith(Code::kDataLoss, "the stream ends at inflated offset 300000"));
  ASSERT_THAT((*longer)->read(299'900, got), IsOk());  // what is there can be read
  EXPECT_EQ(got, slice(archive.plain, 299'900, 100));

  const ByteRange with_tail{archive.member.begin, archive.member.end + 1};
  const auto tail = open_inflate_file(archive.file, with_tail, 300'000);
  ASSERT_THAT(tail, IsOk());
  EXPECT_THAT((*tail)->read(299'900, got), FailsWith(Code::kDataLoss, "the stream ends after"));
}

TEST(InflateFile, FindsEveryTruncation) {
  const Archive archive = archive_of(random_bytes(2'000, 20, 8));
  for (std::uint64_t cut = 1; cut <= archive.member.size(); ++cut) {
    const auto file =
        open_inflate_file(archive.file, {archive.member.begin, archive.member.end - cut}, archive.plain.size());
    if (!file.ok()) {  // too short to be possible
      EXPECT_THAT(file, FailsWith(Code::kDataLoss));
      continue;
    }
    Bytes got(archive.plain.size());
    ASSERT_THAT((*file)->read(0, got), FailsWith(Code::kDataLoss)) << cut << " bytes cut";
  }
}

// A damaged stream gives an error, or bytes that went wrong from some point on (deflate has no checksum); never more
// than its size, never a crash, and the same answer however it is read.
TEST(InflateFile, DamageAtEveryByteIsHarmless) {
  const Bytes plain = random_bytes(3'000, 30, 9);
  const Bytes good = deflate_raw(plain, 9);
  int refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
      Bytes bad = good;
      bad[at] ^= static_cast<std::byte>(flip);
      const Archive archive = archive_of(plain, bad);
      const auto file = archive.open();
      ASSERT_THAT(file, IsOk());
      Bytes got(plain.size());
      const Status status = (*file)->read(0, got);
      EXPECT_TRUE(status.ok() || status.code() == Code::kDataLoss) << status.to_string();
      refused += status.ok() ? 0 : 1;
      Bytes again(plain.size());
      EXPECT_EQ((*file)->read(0, again), status);
      if (status.ok()) {
        EXPECT_EQ(got, again);
      }
    }
  }
  EXPECT_GT(refused, 300);
}

TEST(InflateFile, BytesBeforeTheDamageAreStillRead) {
  const Bytes plain = random_bytes(200'000, 256, 10);
  Bytes deflated = deflate_raw(plain, 0);       // stored blocks: byte i of the plain data is close to byte i here
  deflated[65535 * 2 + 11] ^= std::byte{0xff};  // the length of the third block
  const Archive archive = archive_of(plain, deflated);
  const auto file = archive.open();
  ASSERT_THAT(file, IsOk());
  Bytes got(1000);
  ASSERT_THAT((*file)->read(100'000, got), IsOk());
  EXPECT_EQ(got, slice(plain, 100'000, 1000));
  EXPECT_THAT((*file)->read(150'000, got), FailsWith(Code::kDataLoss, "invalid stored block lengths"));
  EXPECT_THAT((*file)->read(150'000, got), FailsWith(Code::kDataLoss, "deflated bytes [37, "));
}

TEST(InflateFile, WorksNoMoreThanItMay) {
  const Archive archive = archive_of(random_bytes(3'000'000, 9, 11));
  const auto open = [&](std::uint64_t max_work) {
    return open_inflate_file(archive.file, archive.member, 3'000'000, {.max_work = max_work});
  };
  const auto once = open(3'000'000);
  ASSERT_THAT(once, IsOk());
  Bytes all(3'000'000);
  EXPECT_THAT((*once)->read(0, all), IsOk());
  EXPECT_EQ(all, archive.plain);
  EXPECT_THAT((*once)->read(0, all), FailsWith(Code::kResourceExhausted, "2.86 MiB read here and there"));
  const auto less = open(2'999'999);
  ASSERT_THAT(less, IsOk());
  EXPECT_THAT((*less)->read(0, all), FailsWith(Code::kResourceExhausted));
}

TEST(InflateFile, PassesOnTheErrorsOfItsArchive) {
  class Broken final : public File {
   public:
    const std::string& path() const override { return path_; }
    std::uint64_t size() const override { return 100; }
    Status read(std::uint64_t, std::span<std::byte>) const override { return unavailable("disk on fire"); }

   private:
    std::string path_ = "a.zip";
  };
  const auto file = open_inflate_file(std::make_shared<Broken>(), {0, 100}, 1000);
  ASSERT_THAT(file, IsOk());
  Bytes got(1);
  EXPECT_THAT((*file)->read(0, got), FailsWith(Code::kUnavailable, "disk on fire"));
}

}  // namespace
}  // namespace shardwise
