#include "testing/file_conformance.h"

#include "io/faulty_file.h"
#include "io/memory_file.h"
#include "testing/temporary_folder.h"

namespace shardwise {
namespace {

struct PosixBackend {
  TemporaryFolder folder;
  int files = 0;
  std::shared_ptr<const File> make(std::string_view content) {
    auto file = open_file(folder.write("file" + std::to_string(files++), content));
    return file.ok() ? *file : nullptr;
  }
};
struct MemoryBackend {
  std::shared_ptr<const File> make(std::string_view content) { return std::make_shared<MemoryFile>("memory", content); }
};
struct FaultlessBackend {
  std::shared_ptr<const File> make(std::string_view content) {
    return std::make_shared<FaultyFile>(std::make_shared<MemoryFile>("faultless", content));
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Posix, FileConformance, PosixBackend);
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, FileConformance, MemoryBackend);
INSTANTIATE_TYPED_TEST_SUITE_P(Faultless, FileConformance, FaultlessBackend);

}  // namespace
}  // namespace shardwise
