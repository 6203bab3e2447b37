// TemporaryFolder: a folder for the files of one test, removed with all that is in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace shardwise {

// Owns the folder. path() is empty when it could not be made, which fails whatever is done with it.
class TemporaryFolder {
 public:
  // Under the system's place for temporary files, or under `parent` (for a certain file system).
  explicit TemporaryFolder(std::filesystem::path parent = std::filesystem::temp_directory_path()) {
    std::string name = (parent / "shardwise_test.XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // The path of a file in it.
  std::string path(std::string_view name) const { return (path_ / name).string(); }
  // Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace shardwise
