// Answers questions about the codec room, one a line on standard input, for tests written in Python:
//
//   convert FROM TO IN OUT              every element of file IN, written to file OUT
//   copy FROM TO SOURCE_AT IN TARGET_AT OUT EXTENT:SOURCE_STRIDE:TARGET_STRIDE ...
//                                       a strided copy from element SOURCE_AT of IN into element TARGET_AT of OUT
//   decode STEPS SKIPPED IN OUT SIZE    STEPS as "shuffle4,deflate,fletcher32", or "none"
//   stream STEPS SKIPPED IN OUT SIZE PIECE   the same through a BlockStream, PIECE bytes at a time
//   fingerprint DTYPE SHAPE IN          SHAPE as "2,3", or "scalar"; prints the fingerprint
//
// The answer is one line: "ok", a fingerprint, or the text of an error.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "codec/block_stream.h"
#include "codec/filters.h"
#include "codec/strided_copy.h"
#include "shardwise/fingerprint.h"

namespace {

using namespace shardwise;
using Bytes = std::vector<std::byte>;

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return Bytes(data, data + text.size());
}

void write_file(const std::string& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

DType dtype(const std::string& name) { return parse_dtype(name).value(); }

std::vector<FilterStep> filter_steps(const std::string& text) {
  std::vector<FilterStep> steps;
  if (text == "none") return steps;
  for (const std::string& name : split(text, ',')) {
    if (name == "deflate") {
      steps.push_back({FilterStep::Kind::kDeflate, 0});
    } else if (name == "fletcher32") {
      steps.push_back({FilterStep::Kind::kFletcher32, 0});
    } else {
      steps.push_back({FilterStep::Kind::kShuffle, static_cast<std::uint32_t>(std::stoul(name.substr(7)))});
    }
  }
  return steps;
}

Status convert_file(const std::vector<std::string>& words) {
  const DType from = dtype(words[1]);
  const DType to = dtype(words[2]);
  const Bytes source = read_file(words[3]);
  const std::uint64_t count = source.size() / byte_width(from);
  Bytes target(count * byte_width(to));
  const CopyDim dim{count, 1, 1};
  SHARDWISE_RETURN_IF_ERROR(strided_copy({&dim, 1}, source.data(), from, target.data(), to));
  write_file(words[4], target);
  return {};
}

Status copy_file(const std::vector<std::string>& words) {
  const DType from = dtype(words[1]);
  const DType to = dtype(words[2]);
  const Bytes source = read_file(words[4]);
  Bytes target = read_file(words[6]);
  std::vector<CopyDim> dims;
  for (std::size_t i = 7; i < words.size(); ++i) {
    const auto numbers = split(words[i], ':');
    dims.push_back({std::stoull(numbers[0]), std::stoll(numbers[1]), std::stoll(numbers[2])});
  }
  SHARDWISE_RETURN_IF_ERROR(strided_copy(dims, source.data() + std::stoull(words[3]) * byte_width(from), from,
                                         target.data() + std::stoull(words[5]) * byte_width(to), to));
  write_file(words[6], target);
  return {};
}

Status decode_file(const std::vector<std::string>& words) {
  const auto steps = filter_steps(words[1]);
  const auto skipped = static_cast<std::uint32_t>(std::stoul(words[2]));
  Bytes target(std::stoull(words[5]));
  Bytes scratch(filter_scratch_bytes(steps, skipped, target.size()));
  SHARDWISE_RETURN_IF_ERROR(decode_block(steps, skipped, read_file(words[3]), target, scratch));
  write_file(words[4], target);
  return {};
}

Status stream_file(const std::vector<std::string>& words) {
  const Bytes stored = read_file(words[3]);
  Bytes target(std::stoull(words[5]));
  SHARDWISE_ASSIGN_OR_RETURN(
      BlockStream stream,
      BlockStream::create(filter_steps(words[1]), static_cast<std::uint32_t>(std::stoul(words[2])), stored.size(),
                          target.size(), [&](std::uint64_t offset, std::span<std::byte> piece) -> Status {
                            std::copy_n(stored.begin() + static_cast<std::ptrdiff_t>(offset), piece.size(),
                                        piece.begin());
                            return {};
                          }));
  const std::size_t most = std::stoull(words[6]);
  for (std::size_t at = 0; at < target.size(); at += most) {
    const std::size_t count = std::min(most, target.size() - at);
    SHARDWISE_RETURN_IF_ERROR(stream.read(at, std::span(target).subspan(at, count)));
  }
  write_file(words[4], target);
  return {};
}

std::string fingerprint_of(const std::vector<std::string>& words) {
  const DType type = dtype(words[1]);
  Shape shape;
  if (words[2] != "scalar") {
    for (const std::string& extent : split(words[2], ',')) shape.push_back(std::stoll(extent));
  }
  FingerprintSum sum;
  const Bytes bytes = read_file(words[3]);
  const bool whole = is_byte_sized(type);
  sum.add(0, bytes, whole ? byte_width(type) : 1);
  return to_string(sum.finish(type, shape));
}

std::string answer(const std::vector<std::string>& words) {
  if (words[0] == "fingerprint") return fingerprint_of(words);
  Status status = invalid_argument("unknown question");
  if (words[0] == "convert") status = convert_file(words);
  if (words[0] == "copy") status = copy_file(words);
  if (words[0] == "decode") status = decode_file(words);
  if (words[0] == "stream") status = stream_file(words);
  return status.ok() ? "ok" : status.to_string();
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) std::cout << answer(split(line, ' ')) << std::endl;
}
