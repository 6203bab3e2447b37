#include "checkpoint/keras_zip/directory.h"

#include <algorithm>
#include <functional>
#include <string>

#include "io/memory_file.h"
#include "testing/matchers.h"
#include "testing/tiny_zip.h"

namespace shardwise::zip {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tiny::End;
using tiny::make_zip;
using tiny::Zip;
using tiny::ZipMember;

Result<std::vector<Member>> read_bytes(const std::string& bytes, const OpenOptions& options = {}) {
  return read_directory(MemoryFile("m.keras", bytes), options);
}

std::vector<ZipMember> three_members() {
  return {{"a.json", "{}"}, {"b.bin", std::string(1000, 'b'), kDeflated}, {"c.bin", std::string(50, 'c')}};
}

TEST(ZipDirectory, FindsStoredAndDeflatedMembers) {
  const Zip zip = make_zip(three_members());
  const auto members = read_bytes(zip.bytes);
  ASSERT_THAT(members, IsOk());
  ASSERT_EQ(members->size(), 3u);
  EXPECT_EQ((*members)[0].name, "a.json");
  EXPECT_EQ((*members)[0].data, (ByteRange{zip.data[0], zip.data[0] + 2}));
  EXPECT_EQ((*members)[1].method, kDeflated);
  EXPECT_EQ((*members)[1].size, 1000u);
  EXPECT_EQ((*members)[1].data.size(), tiny::deflate_raw(std::string(1000, 'b')).size());
  EXPECT_EQ((*members)[1].crc32, tiny::crc32_of(std::string(1000, 'b')));
  EXPECT_EQ((*members)[2].data, (ByteRange{zip.data[2], zip.data[2] + 50}));
}

TEST(ZipDirectory, AcceptsWhatOtherWritersWrite) {
  const std::string text(300, 'x');
  const std::vector<ZipMember> members = {{"plain", text},
                                          {"descriptor", text, kStored, 8},
                                          {"descriptor deflated", text, kDeflated, 8},
                                          {"wide", text, kStored, 0, true, true},
                                          {"wide descriptor", text, kStored, 8, true},
                                          {"caf\xc3\xa9", text, kStored, 1 << 11},
                                          {"folder/", ""}};
  for (const End end : {End::kPlain, End::kZip64}) {
    for (const std::string& comment : {std::string(), std::string("made by hand"), std::string(65535, 'c')}) {
      const Zip zip = make_zip(members, end, comment);
      const auto found = read_bytes(zip.bytes);
      ASSERT_THAT(found, IsOk());
      ASSERT_EQ(found->size(), members.size());
      for (std::size_t i = 0; i < members.size(); ++i) {
        EXPECT_EQ((*found)[i].name, members[i].name);
        EXPECT_EQ((*found)[i].data.begin, zip.data[i]) << members[i].name;
        EXPECT_EQ((*found)[i].size, members[i].data.size());
      }
    }
  }
}

TEST(ZipDirectory, AcceptsAnyOrderAndGaps) {
  Zip zip = make_zip({{"a", "1"}, {"removed", "22222"}, {"c", "3"}});
  // The directory lists c, then a; the member between them is not listed.
  const std::string c = zip.bytes.substr(zip.central[2], zip.end - zip.central[2]);
  const std::string a = zip.bytes.substr(zip.central[0], zip.central[1] - zip.central[0]);
  const std::size_t directory = zip.central[0];
  zip.bytes = zip.bytes.substr(0, directory) + c + a + zip.bytes.substr(zip.end);
  zip.end = directory + c.size() + a.size();
  zip.patch16(zip.end + 8, 2).patch16(zip.end + 10, 2).patch32(zip.end + 12, c.size() + a.size());
  const auto members = read_bytes(zip.bytes);
  ASSERT_THAT(members, IsOk());
  ASSERT_EQ(members->size(), 2u);
  EXPECT_EQ((*members)[0].name, "c");
  EXPECT_EQ((*members)[1].name, "a");
}

TEST(ZipDirectory, AnEmptyArchiveHasNoMembers) { EXPECT_THAT(read_bytes(make_zip({}).bytes), IsOkAnd(ElementsAre())); }

struct Broken {
  const char* name;
  std::function<void(Zip&)> damage;
  Code code;
  std::vector<std::string> message;
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

class ZipDirectoryWith : public testing::TestWithParam<Broken> {};

TEST_P(ZipDirectoryWith, IsRefused) {
  Zip zip = make_zip(three_members());
  GetParam().damage(zip);
  const auto members = read_bytes(zip.bytes);
  EXPECT_THAT(members, FailsWith(GetParam().code));
  for (const std::string& part : GetParam().message) EXPECT_THAT(members.status().message(), HasSubstr(part));
}

std::vector<Broken> broken_archives() {
  return {
      {"NoBytes", [](Zip& z) { z.bytes.clear(); }, Code::kDataLoss, {"no end of central directory"}},
      {"NoEndRecord", [](Zip& z) { z.bytes.resize(z.end); }, Code::kDataLoss, {"no end of central directory"}},
      {"BytesBehindTheEnd", [](Zip& z) { z.bytes += "x"; }, Code::kDataLoss, {"no end of central directory"}},
      {"BytesInFront",
       [](Zip& z) { z.bytes = "#!/bin/sh\n" + z.bytes; },
       Code::kDataLoss,
       {"does not end at the end record", "bytes put in front"}},
      {"DirectoryBeyondTheFile",
       [](Zip& z) { z.patch32(z.end + 16, 0x7fffffff); },
       Code::kDataLoss,
       {"does not end at the end record", "2147483647"}},
      {"DirectorySizeWrong", [](Zip& z) { z.patch32(z.end + 12, 1); }, Code::kDataLoss, {"of 1 bytes"}},
      {"TooManyEntriesForItsBytes",
       [](Zip& z) { z.patch16(z.end + 8, 999).patch16(z.end + 10, 999); },
       Code::kDataLoss,
       {"999 members do not fit"}},
      {"OneEntryTooMany",
       [](Zip& z) { z.patch16(z.end + 8, 2).patch16(z.end + 10, 2); },
       Code::kDataLoss,
       {"follow its 2 entries"}},
      {"CountsDisagree", [](Zip& z) { z.patch16(z.end + 8, 2); }, Code::kUnimplemented, {"several files"}},
      {"SplitArchive", [](Zip& z) { z.patch16(z.end + 4, 1); }, Code::kUnimplemented, {"several files"}},
      {"MemberOnAnotherDisk",
       [](Zip& z) { z.patch16(z.central[1] + 34, 3); },
       Code::kUnimplemented,
       {"member 'b.bin'", "file 3"}},
      {"EncryptedDirectory",
       [](Zip& z) { z.patch16(z.central[1] + 8, 1 << 13); },
       Code::kUnimplemented,
       {"member 'b.bin'", "encrypted"}},
      {"CentralSignatureWrong", [](Zip& z) { z.patch32(z.central[1], 7); }, Code::kDataLoss, {"member 1", "no entry"}},
      {"CentralNameTooLong",
       [](Zip& z) { z.patch16(z.central[2] + 28, 60000); },
       Code::kDataLoss,
       {"member 2", "beyond the central directory"}},
      {"NoLocalHeader",
       [](Zip& z) { z.patch32(z.local[1], 7); },
       Code::kDataLoss,
       {"member 'b.bin'", "no local header"}},
      {"LocalHeaderBeyondTheFile",
       [](Zip& z) { z.patch32(z.central[2] + 42, 0xfffffff0); },
       Code::kDataLoss,
       {"member 'c.bin'", "4294967280"}},
      {"LocalHeaderInTheDirectory",
       [](Zip& z) { z.patch32(z.central[2] + 42, z.central[0]); },
       Code::kDataLoss,
       {"member 'c.bin'", "beyond the members"}},
      {"MemberBeyondTheFile",
       [](Zip& z) { z.patch32(z.central[2] + 20, 5000).patch32(z.central[2] + 24, 5000); },
       Code::kDataLoss,
       {"member 'c.bin'", "5000 bytes", "end beyond the members"}},
      {"LocalNameBeyondTheFile",
       [](Zip& z) { z.patch16(z.local[2] + 26, 60000); },
       Code::kDataLoss,
       {"member 'c.bin'", "end beyond"}},
      {"LocalNameDiffers",
       [](Zip& z) { z.bytes[z.local[2] + 30] = 'X'; },
       Code::kDataLoss,
       {"member 'c.bin'", "'X.bin'"}},
      {"LocalMethodDiffers",
       [](Zip& z) { z.patch16(z.local[1] + 8, 0); },
       Code::kDataLoss,
       {"member 'b.bin'", "method 0", "directory 8"}},
      {"LocalFlagsDiffer",
       [](Zip& z) { z.patch16(z.local[1] + 6, 1); },
       Code::kDataLoss,
       {"member 'b.bin'", "flags 1"}},
      {"LocalCrcDiffers", [](Zip& z) { z.patch32(z.local[1] + 14, 1); }, Code::kDataLoss, {"member 'b.bin'", "CRC 1"}},
      {"LocalSizeDiffers",
       [](Zip& z) { z.patch32(z.local[1] + 22, 999); },
       Code::kDataLoss,
       {"member 'b.bin'", "size 999", "directory 1000"}},
      {"LocalCompressedSizeDiffers",
       [](Zip& z) { z.patch32(z.local[1] + 18, 5); },
       Code::kDataLoss,
       {"member 'b.bin'", "compressed size 5"}},
      {"StoredWithTwoSizes",
       [](Zip& z) { z.patch32(z.central[2] + 24, 49).patch32(z.local[2] + 22, 49); },
       Code::kDataLoss,
       {"member 'c.bin'", "49 bytes take 50"}},
      {"TwoMembersAtOnePlace", [](Zip& z) { z.patch32(z.central[2] + 42, z.local[1]); }, Code::kDataLoss, {"overlap"}},
      {"MemberInsideAnother",
       [](Zip& z) {
         z.patch32(z.central[0] + 20, 60).patch32(z.central[0] + 24, 60);
         z.patch32(z.local[0] + 18, 60).patch32(z.local[0] + 22, 60);
       },
       Code::kDataLoss,
       {"member 'b.bin'", "overlap"}},
      {"ExtraFieldTooLong",
       [](Zip& z) {
         z = make_zip({{"w", "w", 0, 0, false, true}}), z.patch16(z.central[0] + 46 + 1 + 2, 25);
       },
       Code::kDataLoss,
       {"member 'w'", "extra field 0x0001 of 25 bytes"}},
      {"Zip64FieldMissing",
       [](Zip& z) { z.patch32(z.central[2] + 24, 0xffffffff); },
       Code::kDataLoss,
       {"member 'c.bin'", "size stands in a ZIP64 field that is missing"}},
      {"Zip64FieldTooShort",
       [](Zip& z) {
         z = make_zip({{"w", "w", 0, 0, false, true}});
         z.patch16(z.central[0] + 46 + 1 + 2, 16).patch32(z.central[0] + 46 + 1 + 20, 0);
       },
       Code::kDataLoss,
       {"member 'w'", "header offset stands in a ZIP64 field"}},
      {"LocalZip64FieldMissing",
       [](Zip& z) { z.patch32(z.local[2] + 18, 0xffffffff); },
       Code::kDataLoss,
       {"member 'c.bin'", "compressed size stands in a ZIP64 field that is missing"}},
      {"Zip64EndMissing",
       [](Zip& z) { z.patch32(z.end + 16, 0xffffffff); },
       Code::kDataLoss,
       {"ZIP64 end record that is missing"}},
      {"Zip64EndElsewhere",
       [](Zip& z) { z = make_zip(three_members(), End::kZip64), z.patch(z.end - 20 + 8, std::uint64_t{3}); },
       Code::kDataLoss,
       {"there is no ZIP64 end record at 3"}},
      {"Zip64EndBeyondTheFile",
       [](Zip& z) { z = make_zip(three_members(), End::kZip64), z.patch(z.end - 20 + 8, ~std::uint64_t{0}); },
       Code::kDataLoss,
       {"ZIP64 end record at 18446744073709551615 does not fit"}},
      {"Zip64EndSizeWrong",
       [](Zip& z) { z = make_zip(three_members(), End::kZip64), z.patch(z.end64 + 4, std::uint64_t{45}); },
       Code::kDataLoss,
       {"counts 45 bytes"}},
      {"EndRecordsDisagree",
       [](Zip& z) { z = make_zip(three_members(), End::kZip64), z.patch16(z.end + 10, 2); },
       Code::kDataLoss,
       {"end records disagree", "number of members is 2, and 3"}},
      {"Zip64DirectoryWraps",
       [](Zip& z) {
         z = make_zip(three_members(), End::kZip64);
         z.patch(z.end64 + 40, ~std::uint64_t{0}).patch(z.end64 + 48, std::uint64_t{1} << 63);
       },
       Code::kDataLoss,
       {"18446744073709551615"}},
      {"Zip64TooManyMembers",
       [](Zip& z) {
         z = make_zip(three_members(), End::kZip64);
         z.patch(z.end64 + 24, std::uint64_t{1} << 40).patch(z.end64 + 32, std::uint64_t{1} << 40);
       },
       Code::kResourceExhausted,
       {"1099511627776 members"}},
      {"Zip64Split",
       [](Zip& z) { z = make_zip(three_members(), End::kZip64), z.patch32(z.end - 4, 2); },
       Code::kUnimplemented,
       {"several files"}},
      {"NamesTwice",
       [](Zip& z) {
         z = make_zip({{"a", "1"}, {"b", "2"}, {"a", "3"}});
       },
       Code::kDataLoss,
       {"member 'a' occurs twice"}},
      {"NameEmpty",
       [](Zip& z) {
         z = make_zip({{"", "1"}});
       },
       Code::kDataLoss,
       {"name is empty"}},
      {"NameWithNul",
       [](Zip& z) {
         z = make_zip({{std::string("model.weights.h5\0.txt", 21), "1"}});
       },
       Code::kDataLoss,
       {"model.weights.h5\\x00.txt", "NUL"}},
      {"NameAbsolute",
       [](Zip& z) {
         z = make_zip({{"/etc/passwd", "1"}});
       },
       Code::kDataLoss,
       {"leads out"}},
      {"NameClimbs",
       [](Zip& z) {
         z = make_zip({{"assets/../../x", "1"}});
       },
       Code::kDataLoss,
       {"leads out"}},
      {"NameClimbsBackwards",
       [](Zip& z) {
         z = make_zip({{"assets\\..\\x", "1"}});
       },
       Code::kDataLoss,
       {"leads out"}},
      {"NameNotUtf8",
       [](Zip& z) {
         z = make_zip({{"\xff\xfe", "1", 0, 1 << 11}});
       },
       Code::kDataLoss,
       {"marked as UTF-8"}},
      {"NameOverlongUtf8",
       [](Zip& z) {
         z = make_zip({{"\xc0\xae\xc0\xae/x", "1", 0, 1 << 11}});
       },
       Code::kDataLoss,
       {"marked as UTF-8"}},
      {"DescriptorDisagrees",
       [](Zip& z) {
         z = make_zip({{"d", "data", 0, 8}}), z.patch32(z.data[0] + 4 + 8, 3);
       },
       Code::kDataLoss,
       {"member 'd'", "data descriptor"}},
      {"DescriptorMissing",
       [](Zip& z) {
         z = make_zip({{"d", "data"}}), z.patch16(z.local[0] + 6, 8).patch16(z.central[0] + 8, 8);
       },
       Code::kDataLoss,
       {"member 'd'", "data descriptor"}},
  };
}

INSTANTIATE_TEST_SUITE_P(Damage, ZipDirectoryWith, testing::ValuesIn(broken_archives()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(ZipDirectory, AcceptsDescriptorsWithoutSignature) {
  Zip zip = make_zip({{"d", "data", kStored, 8}, {"e", "more"}});
  const std::size_t signature = zip.data[0] + 4;
  zip.bytes.erase(signature, 4);
  zip.patch32(zip.central[1] - 4 + 42, zip.local[1] - 4).patch32(zip.end - 4 + 16, zip.central[0] - 4);
  EXPECT_THAT(read_bytes(zip.bytes), IsOk());
}

TEST(ZipDirectory, ReadsNoMoreThanItIsAllowed) {
  const Zip zip = make_zip(three_members());
  OpenOptions options;
  options.max_header_bytes = zip.end - zip.central[0];
  EXPECT_THAT(read_bytes(zip.bytes, options), IsOk());
  --options.max_header_bytes;
  EXPECT_THAT(read_bytes(zip.bytes, options), FailsWith(Code::kResourceExhausted, "max_header_bytes"));
}

TEST(ZipDirectory, ManyMembersAreFast) {
  std::vector<ZipMember> members;
  for (int i = 0; i < 20000; ++i) members.push_back({"assets/" + std::to_string(i), "x"});
  const auto found = read_bytes(make_zip(members).bytes);
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->size(), 20000u);
}

TEST(ZipDirectory, EveryTruncationIsRefused) {
  const Zip zip = make_zip(three_members(), End::kZip64, "PK\x05\x06");
  for (std::size_t size = 0; size < zip.bytes.size(); ++size) {
    ASSERT_THAT(read_bytes(zip.bytes.substr(0, size)), FailsWith(Code::kDataLoss)) << size << " bytes";
  }
}

TEST(ZipDirectory, NoChangeOfAByteOfItsRecordsGoesUnseen) {
  // Bytes that say nothing: version, time, attributes; the data (for which there is a CRC that only a full read could
  // check) and names are not looked at here.
  const Zip zip = make_zip({{"a", "1"}, {"b", "22", kStored, 8}});
  for (std::size_t i = 0; i < 2; ++i) {
    for (const std::size_t at : {6u, 8u, 14u, 18u, 22u, 26u, 28u}) {
      if (i == 1 && (at == 14 || at == 18 || at == 22)) continue;  // in the descriptor
      for (const char flip : {'\x01', '\x08'}) {
        Zip bad = zip;
        bad.bytes[bad.local[i] + at] ^= flip;
        EXPECT_FALSE(read_bytes(bad.bytes).ok()) << "local header " << i << ", byte " << at << ", flip " << int{flip};
      }
    }
    for (const std::size_t at : {8u, 10u, 16u, 20u, 24u, 28u, 30u, 32u, 34u, 42u}) {
      Zip bad = zip;
      bad.bytes[bad.central[i] + at] ^= 8;
      EXPECT_FALSE(read_bytes(bad.bytes).ok()) << "central entry " << i << ", byte " << at;
    }
  }
}

}  // namespace
}  // namespace shardwise::zip
