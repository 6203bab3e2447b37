#include "checkpoint/keras_zip/records.h"

#include "base/format.h"

namespace shardwise::zip {
namespace {

// The numbers of a ZIP64 extra field, taken one after the other.
class Fields {
 public:
  explicit Fields(const Extra64& extra) : left_(extra.fields.value_or(Bytes())) {}

  template <typename Wide, typename Narrow>
  Status take(std::string_view what, Narrow none, Wide& value) {
    if (value != none) return {};
    using Stored = std::conditional_t<sizeof(Narrow) == 2, std::uint32_t, std::uint64_t>;
    if (left_.size() < sizeof(Stored)) return data_loss("its {} stands in a ZIP64 field that is missing", what);
    value = load<Stored>(left_, 0);
    left_ = left_.subspan(sizeof(Stored));
    return {};
  }

 private:
  Bytes left_;
};

void parse_common(Bytes record, std::size_t at, Header& header) {
  header.flags = load<std::uint16_t>(record, at);
  header.method = load<std::uint16_t>(record, at + 2);
  header.crc32 = load<std::uint32_t>(record, at + 8);
  header.compressed_size = load<std::uint32_t>(record, at + 12);
  header.size = load<std::uint32_t>(record, at + 16);
  header.name_length = load<std::uint16_t>(record, at + 20);
  header.extra_length = load<std::uint16_t>(record, at + 22);
}

}  // namespace

EndRecord parse_end(Bytes record) {
  EndRecord end;
  end.disk = load<std::uint16_t>(record, 4);
  end.directory_disk = load<std::uint16_t>(record, 6);
  end.entries_on_disk = load<std::uint16_t>(record, 8);
  end.entries = load<std::uint16_t>(record, 10);
  end.directory_size = load<std::uint32_t>(record, 12);
  end.directory_offset = load<std::uint32_t>(record, 16);
  return end;
}

Locator64 parse_locator64(Bytes record) {
  return {.disk = load<std::uint32_t>(record, 4),
          .end_offset = load<std::uint64_t>(record, 8),
          .disks = load<std::uint32_t>(record, 16)};
}

EndRecord64 parse_end64(Bytes record) {
  EndRecord64 end;
  end.record_size = load<std::uint64_t>(record, 4);
  end.disk = load<std::uint32_t>(record, 16);
  end.directory_disk = load<std::uint32_t>(record, 20);
  end.entries_on_disk = load<std::uint64_t>(record, 24);
  end.entries = load<std::uint64_t>(record, 32);
  end.directory_size = load<std::uint64_t>(record, 40);
  end.directory_offset = load<std::uint64_t>(record, 48);
  return end;
}

CentralEntry parse_central(Bytes record) {
  CentralEntry entry;
  parse_common(record, 8, entry);
  entry.comment_length = load<std::uint16_t>(record, 32);
  entry.disk = load<std::uint16_t>(record, 34);
  entry.header_offset = load<std::uint32_t>(record, 42);
  return entry;
}

LocalHeader parse_local(Bytes record) {
  LocalHeader header;
  parse_common(record, 6, header);
  return header;
}

Result<Extra64> parse_extra(Bytes extra) {
  constexpr std::size_t kFieldHeader = 4;
  Extra64 out;
  // Some writers pad the area with up to three bytes.
  while (extra.size() >= kFieldHeader) {
    const auto id = load<std::uint16_t>(extra, 0);
    const auto size = load<std::uint16_t>(extra, 2);
    extra = extra.subspan(kFieldHeader);
    if (size > extra.size()) {
      return data_loss("its extra field {:#06x} of {} bytes reaches beyond the extra area", id, size);
    }
    if (id == Extra64::kId) {
      if (out.fields) return data_loss("it has two ZIP64 fields");
      out.fields = extra.first(size);
    }
    extra = extra.subspan(size);
  }
  return out;
}

Status widen(const Extra64& extra, CentralEntry& entry) {
  Fields fields(extra);
  SHARDWISE_RETURN_IF_ERROR(fields.take("size", kNone32, entry.size));
  SHARDWISE_RETURN_IF_ERROR(fields.take("compressed size", kNone32, entry.compressed_size));
  SHARDWISE_RETURN_IF_ERROR(fields.take("header offset", kNone32, entry.header_offset));
  return fields.take("disk number", kNone16, entry.disk);
}

Status widen(const Extra64& extra, LocalHeader& header) {
  Fields fields(extra);
  SHARDWISE_RETURN_IF_ERROR(fields.take("size", kNone32, header.size));
  return fields.take("compressed size", kNone32, header.compressed_size);
}

bool is_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
    if (length == 0) return false;
    std::uint32_t point = length == 1 ? first : first & (0x7fU >> length);
    for (std::size_t k = 1; k < length; ++k) {
      if (byte(i + k) >> 6 != 2) return false;
      point = point << 6 | (byte(i + k) & 0x3fU);
    }
    constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    if (point < kLeast[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return false;
    i += length;
  }
  return true;
}

}  // namespace shardwise::zip
