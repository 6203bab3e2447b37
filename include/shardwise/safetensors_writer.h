// SafetensorsWriter: a safetensors file written part by part, in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "shardwise/dtype.h"
#include "shardwise/shape.h"
#include "shardwise/status.h"

namespace shardwise {

struct TensorToWrite {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
};

// Writes the header first, then the bytes of each tensor as they come. The file appears under its name when finish()
// succeeds; until then, and when the writer is destroyed without it, nothing of it stays. Replaces a file of that name.
// Tensors are laid out wide elements first, so that every element is aligned; memory is bounded by 1 MiB and the
// header. Thread-compatible.
class SafetensorsWriter {
 public:
  // Errors: UNIMPLEMENTED for a dtype or name that safetensors lacks; INVALID_ARGUMENT for repeated names and bad
  // shapes; UNAVAILABLE, PERMISSION_DENIED for the file system.
  static Result<std::unique_ptr<SafetensorsWriter>> create(const std::string& path, std::vector<TensorToWrite> tensors,
                                                           const std::map<std::string, std::string>& metadata = {});
  ~SafetensorsWriter();
  SafetensorsWriter(const SafetensorsWriter&) = delete;
  SafetensorsWriter& operator=(const SafetensorsWriter&) = delete;

  // A box of a tensor and its elements, dense and row-major.
  struct Part {
    Box box;
    std::span<const std::byte> bytes;
  };
  // Writes parts of tensor number `tensor` (of create()). Parts given together are written together: the shards of a
  // matrix that is cut by columns make whole rows. Errors: INVALID_ARGUMENT for a part that is no box of the tensor.
  Status write(std::size_t tensor, std::span<const Part> parts);
  // Flushes and renames. FAILED_PRECONDITION when bytes of a tensor were not written (each is to be written once).
  Status finish();

 private:
  struct State;
  explicit SafetensorsWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace shardwise
