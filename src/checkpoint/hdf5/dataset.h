// From a dataset's object header to a tensor of the catalog.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/hdf5/attribute.h"
#include "checkpoint/hdf5/chunk_index.h"
#include "checkpoint/hdf5/datatype.h"
#include "checkpoint/hdf5/fill.h"
#include "checkpoint/hdf5/layout.h"
#include "checkpoint/hdf5/metadata.h"
#include "checkpoint/hdf5/object_header.h"
#include "shardwise/catalog.h"
#include "shardwise/checkpoint.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

// Distinct encodings, in the order of their first use. Thread-compatible.
class EncodingTable {
 public:
  std::uint32_t add(const std::vector<Filter>& filters, const Shape& block_shape);
  std::vector<Encoding> take() { return std::move(encodings_); }

 private:
  using Key = std::pair<std::vector<std::pair<std::uint8_t, std::uint32_t>>, Shape>;
  std::map<Key, std::uint32_t> indices_;
  std::vector<Encoding> encodings_;
};

bool is_dataset(const ObjectHeader& header);

// Reads the datasets of one file: keeps what they share. Thread-compatible; borrows its arguments.
class DatasetReader {
 public:
  DatasetReader(Metadata& metadata, GlobalHeaps& heaps, const OpenOptions& options)
      : metadata_(metadata), heaps_(heaps), chunks_left_(options.max_chunks) {}

  struct Dataset {
    TensorInfo tensor;
    TextAttributes attributes;
  };
  // Errors: DATA_LOSS; UNIMPLEMENTED naming the feature; RESOURCE_EXHAUSTED.
  Result<Dataset> read(const std::string& path, const ObjectHeader& header);
  std::vector<Encoding> take_encodings() { return encodings_.take(); }

 private:
  // What all ways of storage need to know of the dataset they fill.
  struct Storage {
    Layout layout;
    FillValue fill;
    std::vector<Filter> filters;
    std::uint64_t element_size = 0;
    std::uint64_t bytes = 0;  // of the dense tensor
  };

  Result<Storage> read_storage(const ObjectHeader& header, const TensorInfo& tensor);
  Result<std::uint64_t> add_whole_extent(const Storage& storage, TensorInfo& tensor);
  Result<std::uint64_t> add_chunk_extents(const Storage& storage, TensorInfo& tensor);
  Status add_chunk(const Storage& storage, const StoredChunk& chunk, Box box, TensorInfo& tensor);
  Status add_fill_extent(const FillValue& fill, Box box, TensorInfo& tensor);

  Metadata& metadata_;
  GlobalHeaps& heaps_;
  EncodingTable encodings_;
  std::uint64_t chunks_left_;
};

}  // namespace shardwise::hdf5
