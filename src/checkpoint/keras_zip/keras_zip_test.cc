#include <string>

#include "checkpoint/catalog/readers.h"
#include "io/inflate_file.h"
#include "io/memory_file.h"
#include "testing/matchers.h"
#include "testing/tiny_zip.h"

namespace shardwise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using tiny::make_zip;
using tiny::Zip;
using tiny::ZipMember;

constexpr std::uint16_t kDeflated = 8;

std::string weights() {
  return tiny::Hdf5()
      .dataset("layers/dense/vars/0", {1, 2, 3, 4})
      .dataset("layers/dense/vars/1", {5, 6})
      .group("layers/dense/vars", "my_dense")
      .bytes();
}

std::vector<ZipMember> model(std::uint16_t method = 0) {
  return {
      {"metadata.json", R"({"keras_version": "3.15.1", "date_saved": "2026-01-02@03:04:05", "n": 1, "o": {"p": "q"}})"},
      {"config.json", "{}"},
      {"model.weights.h5", weights(), method}};
}

Result<Catalog> read_bytes(const std::string& bytes) {
  return read_keras_zip("m.keras", std::make_shared<MemoryFile>("m.keras", bytes), {});
}

std::vector<float> values_of(const Catalog& catalog, const std::string& name, const File& stream) {
  const TensorInfo* tensor = catalog.find(name);
  if (tensor == nullptr || tensor->extents.size() != 1) return {};
  std::vector<float> values(tensor->extents[0].range.size() / sizeof(float));
  const Status status = stream.read(tensor->extents[0].range.begin, std::as_writable_bytes(std::span(values)));
  EXPECT_THAT(status, IsOk());
  return values;
}

TEST(KerasZip, StoredWeightsAreAddressedInTheArchive) {
  const Zip zip = make_zip(model());
  const auto catalog = read_bytes(zip.bytes);
  ASSERT_THAT(catalog, IsOk());
  EXPECT_THAT(validate(*catalog), IsOk());
  EXPECT_EQ(catalog->format, "keras");
  ASSERT_EQ(catalog->files.size(), 1u);
  EXPECT_EQ(catalog->files[0].path, "m.keras");
  EXPECT_EQ(catalog->files[0].size, zip.bytes.size());
  EXPECT_FALSE(catalog->files[0].is_deflated());
  const MemoryFile archive("m.keras", zip.bytes);
  EXPECT_THAT(values_of(*catalog, "layers/dense/vars/0", archive), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values_of(*catalog, "layers/dense/vars/1", archive), ElementsAre(5, 6));
  EXPECT_THAT(catalog->metadata,
              UnorderedElementsAre(Pair("keras_version", "3.15.1"), Pair("date_saved", "2026-01-02@03:04:05"),
                                   Pair("layers/dense/vars#name", "my_dense")));
  EXPECT_THAT(catalog->warnings, ElementsAre());
}

TEST(KerasZip, DeflatedWeightsAreAddressedInTheInflatedMember) {
  const Zip zip = make_zip(model(kDeflated));
  const auto catalog = read_bytes(zip.bytes);
  ASSERT_THAT(catalog, IsOk());
  EXPECT_THAT(validate(*catalog), IsOk());
  const CatalogFile& file = catalog->files[0];
  EXPECT_EQ(file.size, weights().size());
  EXPECT_EQ(file.member.begin, zip.data[2]);
  EXPECT_EQ(file.member.size(), tiny::deflate_raw(weights()).size());
  const auto stream = open_inflate_file(std::make_shared<MemoryFile>("m.keras", zip.bytes), file.member, file.size);
  ASSERT_THAT(stream, IsOk());
  EXPECT_THAT(values_of(*catalog, "layers/dense/vars/0", **stream), ElementsAre(1, 2, 3, 4));
}

TEST(KerasZip, OnlyTheWeightsMatter) {
  // Members that are not read may be compressed with anything.
  std::vector<ZipMember> members = model();
  members.push_back({"assets/layers/text/vocabulary.txt", "a\nb\n", 12});
  members.push_back({"assets/secret", "x", 0, 1});
  EXPECT_THAT(read_bytes(make_zip(members).bytes), IsOk());
  EXPECT_THAT(read_bytes(make_zip({{"model.weights.h5", weights()}}).bytes), IsOk());
}

TEST(KerasZip, UnreadableMetadataIsAWarning) {
  for (const auto& [json, why] : std::vector<std::pair<std::string, std::string>>{
           {"{", "not valid JSON"}, {"[]", "not an object"}, {"{\"a\": NaN}", "not valid JSON"}}) {
    std::vector<ZipMember> members = model();
    members[0].data = json;
    const auto catalog = read_bytes(make_zip(members).bytes);
    ASSERT_THAT(catalog, IsOk());
    EXPECT_THAT(catalog->warnings, ElementsAre(HasSubstr(why)));
    EXPECT_FALSE(catalog->metadata.contains("keras_version"));
  }
  std::vector<ZipMember> members = model();
  members[0].data = "{\"keras_version\": \"" + std::string(100'000, '3') + "\"}";
  const auto catalog = read_bytes(make_zip(members).bytes);
  ASSERT_THAT(catalog, IsOk());
  EXPECT_FALSE(catalog->metadata.contains("keras_version"));
}

TEST(KerasZip, RefusesArchivesWithoutWeights) {
  EXPECT_THAT(read_bytes(make_zip({{"a/model.weights.h5", "x"}, {"b", "y"}}).bytes),
              FailsWith(Code::kDataLoss,
                        "m.keras: the archive has no member 'model.weights.h5' (not a Keras model?); its 2 members: "
                        "'a/model.weights.h5', 'b'"));
  EXPECT_THAT(read_bytes(make_zip({{"model.weights.npz", "x"}}).bytes),
              FailsWith(Code::kUnimplemented, "'model.weights.npz'"));
  EXPECT_THAT(read_bytes(make_zip({{"model.weights.json", "{}"}, {"model_00000.weights.h5", "x"}}).bytes),
              FailsWith(Code::kUnimplemented, "'model.weights.json'"));
  EXPECT_THAT(read_bytes("PK"), FailsWith(Code::kDataLoss, "m.keras: no end of central directory"));
}

TEST(KerasZip, RefusesWeightsItCannotRead) {
  const std::vector<std::pair<std::uint16_t, std::string>> methods = {
      {9, "deflate64"}, {12, "bzip2"}, {14, "lzma"}, {93, "zstd"}, {95, "xz"}, {77, "method 77"}};
  for (const auto& [method, name] : methods) {
    EXPECT_THAT(read_bytes(make_zip(model(method)).bytes),
                FailsWith(Code::kUnimplemented, "m.keras: member 'model.weights.h5': it is compressed with " + name));
  }
  for (const std::uint16_t flag : {std::uint16_t{1}, std::uint16_t{1 << 6}}) {
    std::vector<ZipMember> members = model();
    members[2].flags = flag;
    EXPECT_THAT(read_bytes(make_zip(members).bytes),
                FailsWith(Code::kUnimplemented, "member 'model.weights.h5': it is encrypted"));
  }
}

// Declares another inflated size for the weights.
std::string with_declared_size(std::uint64_t size) {
  std::vector<ZipMember> members = {{"model.weights.h5", weights(), kDeflated, 0, true, true}};
  Zip zip = make_zip(members);
  zip.patch(zip.central[0] + 46 + 16 + 4, size).patch(zip.local[0] + 30 + 16 + 4, size);
  return zip.bytes;
}

TEST(KerasZip, RefusesBombs) {
  EXPECT_THAT(read_bytes(with_declared_size(weights().size())), IsOk());
  EXPECT_THAT(read_bytes(with_declared_size(5_GiB)), FailsWith(Code::kResourceExhausted, "5368709120 bytes"));
  EXPECT_THAT(read_bytes(with_declared_size(~std::uint64_t{0})), FailsWith(Code::kResourceExhausted, "bomb"));
  EXPECT_THAT(read_bytes(with_declared_size(1_GiB)), FailsWith(Code::kDataLoss, "cannot inflate to 1073741824 bytes"));
}

TEST(KerasZip, RefusesStreamsOfAnotherSize) {
  // The HDF5 metadata says where its file ends, so either the reader or the stream notices.
  EXPECT_THAT(read_bytes(with_declared_size(weights().size() - 8)), FailsWith(Code::kDataLoss));
  EXPECT_THAT(read_bytes(with_declared_size(weights().size() + 8)), FailsWith(Code::kDataLoss));
}

TEST(KerasZip, RefusesWeightsThatAreNoHdf5) {
  for (const std::uint16_t method : {std::uint16_t{0}, kDeflated}) {
    std::vector<ZipMember> members = model(method);
    members[2].data = "";
    EXPECT_THAT(read_bytes(make_zip(members).bytes), FailsWith(Code::kDataLoss, "m.keras: member 'model.weights.h5'"));
    members[2].data = std::string(5000, 'x');
    EXPECT_THAT(read_bytes(make_zip(members).bytes), FailsWith(Code::kDataLoss, "m.keras: member 'model.weights.h5'"));
  }
}

TEST(KerasZip, EveryTruncationIsRefused) {
  for (const std::uint16_t method : {std::uint16_t{0}, kDeflated}) {
    const std::string bytes = make_zip(model(method)).bytes;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_THAT(read_bytes(bytes.substr(0, size)), FailsWith(Code::kDataLoss)) << size << " bytes";
    }
  }
}

TEST(KerasZip, DamageAtEveryByteIsHarmless) {
  for (const std::uint16_t method : {std::uint16_t{0}, kDeflated}) {
    const std::string bytes = make_zip(model(method)).bytes;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const char flip : {'\x01', '\x80', '\xff'}) {
        std::string bad = bytes;
        bad[at] ^= flip;
        const auto catalog = read_bytes(bad);
        if (catalog.ok()) {
          ASSERT_THAT(validate(*catalog), IsOk()) << "byte " << at;
        }
      }
    }
  }
}

}  // namespace
}  // namespace shardwise
