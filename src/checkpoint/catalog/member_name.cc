#include <filesystem>
#include <system_error>

#include "base/format.h"
#include "checkpoint/catalog/readers.h"

namespace shardwise {

Status check_member_name(const std::string& name, const std::string& where) {
  constexpr std::size_t kMaxLength = 255;  // NAME_MAX of Linux file systems
  const auto refuse = [&](std::string_view why) {
    return data_loss("{}: the file name '{}' {}; names of a checkpoint's files must be plain names in its own folder",
                     where, printable(name), why);
  };
  if (name.empty()) return refuse("is empty");
  if (name.size() > kMaxLength) return refuse("is longer than 255 bytes");
  if (name.find('\0') != std::string::npos) return refuse("holds a NUL character");
  if (name == "." || name == "..") return refuse("is a folder");
  if (name.find_first_of("/\\") != std::string::npos) return refuse("holds a path separator");
  return {};
}

Status check_stays_inside(const std::string& folder, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path real_folder = fs::canonical(folder.empty() ? "." : folder, error);
  if (error) return {};
  const fs::path real_file = fs::canonical(real_folder / name, error);
  if (error || real_file.parent_path() == real_folder) return {};
  return data_loss(
      "{}: '{}' is a symbolic link that leads out of the checkpoint's folder, to {}; if you trust it, put "
      "the file itself (a copy or a hard link) into the folder",
      folder, printable(name), printable(real_file.string()));
}

}  // namespace shardwise
