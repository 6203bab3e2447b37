#include "checkpoint/sniff.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/format.h"
#include "checkpoint/hdf5/hdf5.h"
#include "checkpoint/sniff_json.h"

namespace shardwise {
namespace {

constexpr std::string_view kHdf5Signature{"\x89HDF\r\n\x1a\n", 8};
constexpr std::string_view kZipMember{"PK\x03\x04", 4};
constexpr std::string_view kZipEmpty{"PK\x05\x06", 4};
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kHeadBytes = 256;

Result<std::string> read_head(const File& file) {
  std::string head(std::min<std::uint64_t>(kHeadBytes, file.size()), '\0');
  SHARDWISE_RETURN_IF_ERROR(file.read(0, std::as_writable_bytes(std::span(head.data(), head.size()))));
  return head;
}

// A u64 length and a JSON object. A length over what the format allows is no sign of it.
bool looks_like_safetensors(std::string_view head) {
  constexpr std::uint64_t kFormatHeaderLimit = 100'000'000;
  std::uint64_t length = 0;
  if (head.size() < sizeof length) return false;
  std::memcpy(&length, head.data(), sizeof length);
  const auto first = head.find_first_not_of(kBlanks, sizeof length);
  const char begin = first == std::string_view::npos ? '{' : head[first];
  return length <= kFormatHeaderLimit && begin == '{';
}

// The name of the first member says who wrote the archive.
Result<Format> sniff_zip(std::string_view head) {
  constexpr std::size_t kNameLength = 26;
  constexpr std::size_t kName = 30;
  if (head.size() < kName) return Format::kZip;
  const auto low = static_cast<unsigned char>(head[kNameLength]);
  const auto high = static_cast<unsigned char>(head[kNameLength + 1]);
  const std::string_view name = head.substr(kName, low + 256U * high);
  if (name.ends_with("/data.pkl")) {
    return unimplemented(
        "a PyTorch archive (pickle): it can run code when loaded and is not supported; save it as "
        ".safetensors");
  }
  if (name.ends_with(".npy")) return unimplemented("a numpy .npz archive, which is not supported");
  return Format::kZip;
}

struct Known {
  std::string_view begin;
  std::string_view what;
};
constexpr std::array<Known, 8> kUnsupported = {{
    {"GGUF", "a GGUF file, which is not supported"},
    {std::string_view("\x80\x02", 2),
     "a Python pickle (.pt, .bin, .pkl?): it can run code when loaded and is not supported"},
    {std::string_view("\x80\x03", 2), "a Python pickle: it can run code when loaded and is not supported"},
    {std::string_view("\x80\x04", 2), "a Python pickle: it can run code when loaded and is not supported"},
    {std::string_view("\x80\x05", 2), "a Python pickle: it can run code when loaded and is not supported"},
    {"\x93NUMPY", "a numpy .npy file, which is not supported"},
    {std::string_view("\x1f\x8b", 2), "a gzip file; unpack it first"},
    {"\x28\xb5\x2f\xfd", "a zstd file; unpack it first"},
}};
constexpr std::array<Known, 4> kPlaceholders = {{
    {"version https://git-lfs", "a Git LFS pointer, not the file itself; fetch it with: git lfs pull"},
    {"<!DOCTYPE", "a web page: the download was answered with an error or a login"},
    {"<!doctype", "a web page: the download was answered with an error or a login"},
    {"<html", "a web page: the download was answered with an error or a login"},
}};

bool is_text(std::string_view head) {
  return std::all_of(head.begin(), head.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || kBlanks.find(c) != std::string_view::npos;
  });
}

Status unknown(const File& file, std::string_view head) {
  for (const Known& known : kUnsupported) {
    if (head.starts_with(known.begin)) return unimplemented("this is {}", known.what);
  }
  for (const Known& known : kPlaceholders) {
    if (head.starts_with(known.begin)) return data_loss("this is {}", known.what);
  }
  const std::string begins = printable(head.substr(0, 16));
  if (is_text(head)) return data_loss("a text file, not a checkpoint; it begins with '{}'", begins);
  if (head.find_first_not_of('\0') == std::string_view::npos) {
    return data_loss("the file begins with zeros only: {} bytes that were never written (interrupted download?)",
                     file.size());
  }
  return data_loss(
      "not a checkpoint of a known format (safetensors, .keras, .weights.h5, HDF5 and their indexes); it "
      "begins with '{}'",
      begins);
}

}  // namespace

Result<Format> sniff(const File& file, const OpenOptions& options) {
  if (file.size() == 0) return data_loss("the file is empty (0 bytes; interrupted download?)");
  const Result<std::string> read = read_head(file);  // g++ 12 calls a string moved out of a Result uninitialized
  if (!read.ok()) return read.status();
  const std::string& head = *read;
  if (head.starts_with(kHdf5Signature)) return Format::kHdf5;
  if (head.starts_with(kZipMember) || head.starts_with(kZipEmpty)) return sniff_zip(head);
  const auto first = head.find_first_not_of(kBlanks);
  if (first != std::string::npos && head[first] == '{' && is_text(head)) return sniff_json(file, options);
  if (looks_like_safetensors(head)) return Format::kSafetensors;
  if (hdf5::has_signature(file)) return Format::kHdf5;  // behind a user block
  return unknown(file, head);
}

}  // namespace shardwise
