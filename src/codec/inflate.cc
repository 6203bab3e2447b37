#include "codec/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include "base/format.h"

namespace shardwise {
namespace {

uInt clamp(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

}  // namespace

void Inflater::Deleter::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

Result<Inflater> Inflater::create() {
  auto* raw = new (std::nothrow) z_stream{};
  if (raw == nullptr || inflateInit(raw) != Z_OK) {
    delete raw;
    return resource_exhausted("no memory for zlib's inflate state");
  }
  return Inflater(Stream(raw));
}

Result<Inflater> Inflater::clone() const {
  auto* raw = new (std::nothrow) z_stream{};
  if (raw == nullptr || inflateCopy(raw, stream_.get()) != Z_OK) {
    delete raw;
    return resource_exhausted("no memory for zlib's inflate state");
  }
  Inflater copy{Stream(raw)};
  copy.ended_ = ended_;
  return copy;
}

Result<Inflater::Progress> Inflater::run(std::span<const std::byte> input, std::span<std::byte> output) {
  Progress progress;
  z_stream& stream = *stream_;
  while (!ended_ && progress.produced < output.size()) {
    const std::span<const std::byte> in = input.subspan(progress.consumed);
    const std::span<std::byte> out = output.subspan(progress.produced);
    // zlib does not write through next_in; its type lacks a const.
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
    stream.avail_in = clamp(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = clamp(out.size());
    const uInt in_before = stream.avail_in;
    const uInt out_before = stream.avail_out;
    const int code = inflate(&stream, Z_NO_FLUSH);
    progress.consumed += in_before - stream.avail_in;
    progress.produced += out_before - stream.avail_out;
    ended_ = code == Z_STREAM_END;
    if (code == Z_MEM_ERROR) return resource_exhausted("no memory for zlib's inflate window");
    if (code == Z_BUF_ERROR || (code == Z_OK && stream.avail_in == 0 && progress.consumed == input.size())) break;
    if (code != Z_OK && code != Z_STREAM_END) {
      return data_loss("corrupt deflate stream: {} at compressed byte {}", stream.msg ? stream.msg : "zlib failed",
                       stream.total_in);
    }
  }
  return progress;
}

Status inflate_all(std::span<const std::byte> stored, std::span<std::byte> target) {
  SHARDWISE_ASSIGN_OR_RETURN(Inflater inflater, Inflater::create());
  SHARDWISE_ASSIGN_OR_RETURN(const Inflater::Progress main, inflater.run(stored, target));
  if (!inflater.ended() && main.produced == target.size()) {
    // The end of the stream, which holds its checksum, may still be unread; any more output is too much.
    std::array<std::byte, 1> extra;
    SHARDWISE_ASSIGN_OR_RETURN(const Inflater::Progress rest, inflater.run(stored.subspan(main.consumed), extra));
    if (rest.produced != 0)
      return data_loss("deflate stream inflates to more than the {} bytes it should", target.size());
  }
  if (!inflater.ended()) {
    return data_loss("deflate stream of {} bytes ends early: {} of {} bytes inflated (truncated?)", stored.size(),
                     main.produced, target.size());
  }
  if (main.produced != target.size()) {
    return data_loss("deflate stream inflates to {} bytes instead of {}", main.produced, target.size());
  }
  return {};
}

}  // namespace shardwise
