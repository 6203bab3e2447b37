#include "io/sub_file.h"

#include <utility>

#include "base/format.h"
#include "io/file_range.h"

namespace shardwise {
namespace {

// Thread-safe, immutable. Shares ownership of the file it is a part of.
class SubFile final : public File {
 public:
  SubFile(std::shared_ptr<const File> file, ByteRange range, std::string path)
      : file_(std::move(file)), range_(range), path_(std::move(path)) {}

  const std::string& path() const override { return path_; }
  std::uint64_t size() const override { return range_.size(); }

  Status read(std::uint64_t offset, std::span<std::byte> target) const override {
    SHARDWISE_RETURN_IF_ERROR(check_file_range(path(), size(), offset, target.size()));
    return file_->read(range_.begin + offset, target);
  }

 private:
  std::shared_ptr<const File> file_;
  ByteRange range_;
  std::string path_;
};

}  // namespace

Result<std::shared_ptr<const File>> open_sub_file(std::shared_ptr<const File> file, ByteRange range, std::string path) {
  if (path.empty()) path = file->path();
  if (range.begin > range.end || range.end > file->size()) {
    return data_loss("{}: bytes {} are not inside {} of {} bytes (truncated?)", path, to_string(range), file->path(),
                     file->size());
  }
  return std::shared_ptr<const File>(std::make_shared<SubFile>(std::move(file), range, std::move(path)));
}

}  // namespace shardwise
