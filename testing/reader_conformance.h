// What every checkpoint reader must do. A new format joins with a type that writes its files, and one line:
//
//   struct MyFormat {
//     static constexpr const char* kFormat = "mine";  // Catalog::format
//     // Files in `folder` that hold these float32 tensors of one dimension; returns what open_checkpoint() is given.
//     // Names look like "layers/a/vars/0"; called once per test.
//     std::string write(const TemporaryFolder& folder, const Samples& samples);
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(My, ReaderConformance, MyFormat);
//
// Header only; needs gmock. Include it in as many test files as you like.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "shardwise/checkpoint.h"
#include "testing/matchers.h"
#include "testing/temporary_folder.h"

namespace shardwise {

using Samples = std::map<std::string, std::vector<float>>;

template <typename Reader>
class ReaderConformance : public ::testing::Test {
 protected:
  static std::string content_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  // Every file of the checkpoint, by path.
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      all[entry.path().string()] = content_of(entry.path());
    }
    return all;
  }
  static void overwrite(const std::string& path, std::string_view content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
  }
  static Samples samples() {
    return {{"layers/a/vars/0", {1, 2, 3}}, {"layers/a/vars/1", {4}}, {"layers/b/vars/0", {5, 6, 7, 8, 9}}};
  }
  // What is stored where the catalog says; only of extents that need no decoding.
  static std::vector<float> stored_values(const Catalog& catalog, const TensorInfo& tensor) {
    std::string bytes;
    for (const Extent& extent : tensor.extents) {
      const CatalogFile& file = catalog.files[extent.file];
      if (file.is_deflated() || extent.encoding != Extent::kRaw) return {};
      bytes += content_of(file.path).substr(extent.range.begin, extent.range.size());
    }
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
  }

  TemporaryFolder folder;
  Reader reader;
};
TYPED_TEST_SUITE_P(ReaderConformance);

TYPED_TEST_P(ReaderConformance, CatalogHoldsWhatWasWritten) {
  const Samples samples = this->samples();
  const auto catalog = open_checkpoint(this->reader.write(this->folder, samples));
  ASSERT_THAT(catalog, IsOk());
  EXPECT_EQ(catalog->format, TypeParam::kFormat);
  EXPECT_THAT(validate(*catalog), IsOk());
  ASSERT_EQ(catalog->tensors.size(), samples.size());
  for (const auto& [name, values] : samples) {
    SCOPED_TRACE(name);
    const TensorInfo* tensor = catalog->find(name);
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->dtype, DType::kFloat32);
    EXPECT_EQ(tensor->shape, Shape{static_cast<std::int64_t>(values.size())});
    EXPECT_THAT(this->stored_values(*catalog, *tensor), ::testing::AnyOf(::testing::IsEmpty(), values));
  }
}

TYPED_TEST_P(ReaderConformance, FilesHaveAnIdentity) {
  const auto catalog = open_checkpoint(this->reader.write(this->folder, this->samples()));
  ASSERT_THAT(catalog, IsOk());
  ASSERT_FALSE(catalog->files.empty());
  for (const CatalogFile& file : catalog->files) {
    EXPECT_TRUE(std::filesystem::exists(file.path)) << file.path;
    EXPECT_NE(file.inode, 0u) << "a file that changes after planning would not be noticed";
    EXPECT_NE(file.modified_ns, 0);
  }
}

TYPED_TEST_P(ReaderConformance, TensorsAreInTheOrderOfStorage) {
  const auto catalog = open_checkpoint(this->reader.write(this->folder, this->samples()));
  ASSERT_THAT(catalog, IsOk());
  std::vector<std::pair<std::uint32_t, std::uint64_t>> begins;
  for (const TensorInfo& tensor : catalog->tensors) {
    if (!tensor.extents.empty()) begins.emplace_back(tensor.extents[0].file, tensor.extents[0].range.begin);
  }
  EXPECT_TRUE(std::is_sorted(begins.begin(), begins.end()));
}

TYPED_TEST_P(ReaderConformance, TruncatedAnywhereIsRefused) {
  const std::string path = this->reader.write(this->folder, this->samples());
  for (const auto& [file, content] : this->contents()) {
    for (std::size_t size = 0; size < content.size(); size += size < 64 ? 1 : 1 + content.size() / 97) {
      this->overwrite(file, content.substr(0, size));
      const auto catalog = open_checkpoint(path);
      ASSERT_FALSE(catalog.ok()) << file << " cut to " << size << " of " << content.size() << " bytes";
      EXPECT_THAT(catalog.status().message(), ::testing::HasSubstr(this->folder.path().string()));
    }
    this->overwrite(file, content);
  }
  EXPECT_THAT(open_checkpoint(path), IsOk());
}

TYPED_TEST_P(ReaderConformance, ChangedBytesGiveAStatusOrAValidCatalog) {
  const std::string path = this->reader.write(this->folder, this->samples());
  std::mt19937 random(1);
  for (const auto& [file, content] : this->contents()) {
    for (int i = 0; i < 300; ++i) {
      std::string changed = content;
      for (auto n = 1 + random() % 3; n > 0; --n) changed[random() % changed.size()] = static_cast<char>(random());
      this->overwrite(file, changed);
      const auto catalog = open_checkpoint(path);
      if (catalog.ok()) {
        EXPECT_THAT(validate(*catalog), IsOk());
      } else {
        EXPECT_NE(catalog.status().code(), Code::kInternal) << catalog.status().message();
      }
    }
    this->overwrite(file, content);
  }
}

TYPED_TEST_P(ReaderConformance, CapsHold) {
  const std::string path = this->reader.write(this->folder, this->samples());
  EXPECT_THAT(open_checkpoint(path, {.max_tensors = 2}), FailsWith(Code::kResourceExhausted, "2"));
  EXPECT_THAT(open_checkpoint(path, {.max_tensors = 3}), IsOk());
}

TYPED_TEST_P(ReaderConformance, ScalarlikeAndEmptyTensorsAreLegal) {
  const auto catalog =
      open_checkpoint(this->reader.write(this->folder, {{"layers/a/vars/0", {}}, {"layers/a/vars/1", {1}}}));
  ASSERT_THAT(catalog, IsOk());
  ASSERT_NE(catalog->find("layers/a/vars/0"), nullptr);
  EXPECT_EQ(catalog->find("layers/a/vars/0")->bytes(), 0u);
  EXPECT_EQ(catalog->total_bytes(), sizeof(float));
}

REGISTER_TYPED_TEST_SUITE_P(ReaderConformance, CatalogHoldsWhatWasWritten, FilesHaveAnIdentity,
                            TensorsAreInTheOrderOfStorage, TruncatedAnywhereIsRefused,
                            ChangedBytesGiveAStatusOrAValidCatalog, CapsHold, ScalarlikeAndEmptyTensorsAreLegal);

}  // namespace shardwise
