#include "testing/reader_conformance.h"

#include <cstring>

#include "base/format.h"
#include "checkpoint/safetensors/testing.h"
#include "testing/tiny_hdf5.h"
#include "testing/tiny_zip.h"

namespace shardwise {
namespace {

std::string safetensors_of(const Samples& samples) {
  std::string json = "{";
  std::string data;
  for (const auto& [name, values] : samples) {
    const std::size_t begin = data.size();
    data.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    json += format(R"({}"{}":{{"dtype":"F32","shape":[{}],"data_offsets":[{},{}]}})", json.size() > 1 ? "," : "", name,
                   values.size(), begin, data.size());
  }
  return safetensors::file_of(json + "}", data);
}

std::string hdf5_of(const Samples& samples) {
  tiny::Hdf5 file;
  for (const auto& [name, values] : samples) file.dataset(name, values);
  return file.bytes();
}

// Those of the first layer, and the others.
std::pair<Samples, Samples> in_two(const Samples& samples) {
  std::pair<Samples, Samples> parts;
  for (const auto& sample : samples) {
    (sample.first.starts_with("layers/a/") ? parts.first : parts.second).insert(sample);
  }
  return parts;
}

struct SafetensorsFormat {
  static constexpr const char* kFormat = "safetensors";
  std::string write(const TemporaryFolder& folder, const Samples& samples) {
    return folder.write("model.safetensors", safetensors_of(samples));
  }
};

struct SafetensorsIndexFormat {
  static constexpr const char* kFormat = "safetensors-index";
  std::string write(const TemporaryFolder& folder, const Samples& samples) {
    const auto [first, second] = in_two(samples);
    folder.write("m-1.safetensors", safetensors_of(first));
    if (!second.empty()) folder.write("m-2.safetensors", safetensors_of(second));
    std::string map;
    for (const auto& [name, values] : samples) {
      map += format(R"({}"{}":"m-{}.safetensors")", map.empty() ? "" : ",", name, first.contains(name) ? 1 : 2);
    }
    return folder.write("model.safetensors.index.json", format(R"({{"weight_map":{{{}}}}})", map));
  }
};

struct KerasH5Format {
  static constexpr const char* kFormat = "keras-h5";
  std::string write(const TemporaryFolder& folder, const Samples& samples) {
    return folder.write("model.weights.h5", hdf5_of(samples));
  }
};

struct KerasJsonFormat {
  static constexpr const char* kFormat = "keras-json";
  std::string write(const TemporaryFolder& folder, const Samples& samples) {
    const auto [first, second] = in_two(samples);
    folder.write("model_00000.weights.h5", hdf5_of(first));
    if (!second.empty()) folder.write("model_00001.weights.h5", hdf5_of(second));
    const std::string map = second.empty() ? "" : R"(,"/layers/b/vars":"model_00001.weights.h5")";
    return folder.write("model.weights.json",
                        format(R"({{"weight_map":{{"/layers/a/vars":"model_00000.weights.h5"{}}}}})", map));
  }
};

template <int kMethod>
struct KerasZipFormat {
  static constexpr const char* kFormat = "keras";
  std::string write(const TemporaryFolder& folder, const Samples& samples) {
    return folder.write("model.keras",
                        tiny::make_zip({{"metadata.json", "{}"},
                                        {"config.json", "{}"},
                                        {"model.weights.h5", hdf5_of(samples), static_cast<std::uint16_t>(kMethod)}})
                            .bytes);
  }
};
using KerasStored = KerasZipFormat<0>;
using KerasDeflated = KerasZipFormat<8>;

INSTANTIATE_TYPED_TEST_SUITE_P(Safetensors, ReaderConformance, SafetensorsFormat);
INSTANTIATE_TYPED_TEST_SUITE_P(SafetensorsIndex, ReaderConformance, SafetensorsIndexFormat);
INSTANTIATE_TYPED_TEST_SUITE_P(KerasH5, ReaderConformance, KerasH5Format);
INSTANTIATE_TYPED_TEST_SUITE_P(KerasJson, ReaderConformance, KerasJsonFormat);
INSTANTIATE_TYPED_TEST_SUITE_P(KerasStored, ReaderConformance, KerasStored);
INSTANTIATE_TYPED_TEST_SUITE_P(KerasDeflated, ReaderConformance, KerasDeflated);

}  // namespace
}  // namespace shardwise
