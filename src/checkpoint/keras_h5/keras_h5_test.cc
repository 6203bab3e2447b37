#include <string>

#include "checkpoint/catalog/readers.h"
#include "io/memory_file.h"
#include "testing/matchers.h"
#include "testing/tiny_hdf5.h"

namespace shardwise {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Result<Catalog> read_bytes(const std::string& bytes) {
  return read_keras_h5("m.weights.h5", MemoryFile("m.weights.h5", bytes), {});
}

TEST(KerasH5, TensorsAreInTheOrderOfTheirBytes) {
  // Written in the order of their names: z, with none, last.
  const auto catalog = read_bytes(tiny::Hdf5()
                                      .dataset("layers/b/vars/0", {1, 2, 3})
                                      .dataset("layers/a/vars/0", {})
                                      .dataset("layers/a/vars/1", {4})
                                      .group("vars", "my_model")
                                      .bytes());
  ASSERT_THAT(catalog, IsOk());
  EXPECT_THAT(validate(*catalog), IsOk());
  EXPECT_EQ(catalog->format, "keras-h5");
  EXPECT_EQ(catalog->path, "m.weights.h5");
  ASSERT_EQ(catalog->tensors.size(), 3u);
  EXPECT_EQ(catalog->tensors[0].name, "layers/a/vars/1");
  EXPECT_EQ(catalog->tensors[1].name, "layers/b/vars/0");
  EXPECT_EQ(catalog->tensors[1].shape, Shape({3}));
  EXPECT_EQ(catalog->tensors[1].extents[0].range.size(), 12u);
  EXPECT_EQ(catalog->tensors[2].name, "layers/a/vars/0");
  EXPECT_EQ(catalog->tensors[2].bytes(), 0u);
  EXPECT_THAT(catalog->metadata, ElementsAre(Pair("vars#name", "my_model")));
  EXPECT_EQ(catalog->files[0].path, "m.weights.h5");
}

TEST(KerasH5, OtherFilesAreHdf5) {
  const auto catalog = read_bytes(tiny::Hdf5().dataset("model_weights/dense/dense/kernel:0", {1}).bytes());
  ASSERT_THAT(catalog, IsOk());
  EXPECT_EQ(catalog->format, "hdf5");
  EXPECT_EQ(catalog->tensors[0].name, "model_weights/dense/dense/kernel:0");
}

TEST(KerasH5, ErrorsNameTheFileOnce) {
  const std::string bytes = tiny::Hdf5().dataset("vars/0", {1}).bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto catalog = read_bytes(bytes.substr(0, size));
    ASSERT_THAT(catalog, FailsWith(Code::kDataLoss)) << size << " bytes";
    const std::string& message = catalog.status().message();
    EXPECT_EQ(message.find("m.weights.h5"), 0u) << message;
    EXPECT_EQ(message.rfind("m.weights.h5: ", message.size()), 0u) << message;
  }
}

}  // namespace
}  // namespace shardwise
