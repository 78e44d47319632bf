// Reads the ELF file that a cubin is.
#include "jit/cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/str.h"

namespace convoy {
namespace {

constexpr uint16_t kMachineCuda = 190;  // EM_CUDA
constexpr size_t kInstructionBytes = 16;

// Attributes of .nv.info sections: a byte of format, a byte of kind, 16 bits of value or, for
// format 4, of the length of a payload that follows. Kinds as cuobjdump -elf prints them.
constexpr uint8_t kFormatPayload = 4;
constexpr uint8_t kRegisterCount = 0x2f, kFrameSize = 0x11;

// The operation is in the low 12 bits of an instruction (read off nvdisasm -hex, sm_80 to sm_120).
enum Operation : uint32_t {
  kFfma = 0x223,
  kHmma = 0x23c,
  kLdl = 0x983,
  kLdgsts = 0xfae,
  kLdsm = 0x83b,
  kStl = 0x387,
};

using Bytes = std::span<const std::byte>;

template <class T>
bool read(Bytes bytes, uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

bool slice(Bytes bytes, uint64_t offset, uint64_t size, Bytes& out) {
  if (offset > bytes.size() || size > bytes.size() - offset) return false;
  out = bytes.subspan(offset, size);
  return true;
}

std::string_view text_at(Bytes names, uint64_t offset) {
  if (offset >= names.size()) return {};
  const auto* start = reinterpret_cast<const char*>(names.data()) + offset;
  return {start, strnlen(start, names.size() - offset)};
}

void add_code(Bytes code, CubinFacts& facts) {
  for (size_t at = 0; at + kInstructionBytes <= code.size(); at += kInstructionBytes) {
    uint64_t word = 0;
    read(code, at, word);
    ++facts.instructions;
    switch (static_cast<uint32_t>(word & 0xfff)) {
      case kFfma:
        ++facts.fma;
        break;
      case kHmma:
        ++facts.matrix;
        break;
      case kLdsm:
        ++facts.load_matrix;
        break;
      case kLdgsts:
        ++facts.async_copy;
        break;
      case kLdl:
      case kStl:
        ++facts.local;
        break;
      default:
        break;
    }
  }
}

bool add_info(Bytes info, CubinFacts& facts) {
  for (uint64_t at = 0; at < info.size();) {
    uint8_t format = 0, kind = 0;
    uint16_t value = 0;
    if (!read(info, at, format) || !read(info, at + 1, kind) || !read(info, at + 2, value)) {
      return false;
    }
    at += 4;
    if (format != kFormatPayload) continue;
    uint32_t number = 0;  // after the index of the function's symbol
    if (kind == kRegisterCount || kind == kFrameSize) {
      if (!read(info, at + 4, number)) return false;
    }
    if (kind == kRegisterCount)
      facts.registers = std::max(facts.registers, static_cast<int>(number));
    if (kind == kFrameSize) facts.stack_bytes = std::max<int64_t>(facts.stack_bytes, number);
    at += value;
  }
  return true;
}

Status no_cubin(std::string_view why) {
  return invalid(str("cubin: ", why, "; give the image of one device kernel"));
}

}  // namespace

Result<CubinFacts> inspect(std::span<const std::byte> cubin) {
  Elf64_Ehdr file = {};
  const bool elf = read(cubin, 0, file) && std::memcmp(file.e_ident, ELFMAG, SELFMAG) == 0 &&
                   file.e_ident[EI_CLASS] == ELFCLASS64 && file.e_machine == kMachineCuda;
  if (!elf) return no_cubin("not a 64-bit ELF file of machine 190");
  const auto section = [&](uint64_t index, Elf64_Shdr& header) {
    return file.e_shentsize == sizeof header &&
           read(cubin, file.e_shoff + index * sizeof header, header);
  };
  Elf64_Shdr header = {};
  Bytes names;
  if (!section(file.e_shstrndx, header) || !slice(cubin, header.sh_offset, header.sh_size, names)) {
    return no_cubin("its section names lie outside");
  }
  CubinFacts facts;
  for (uint64_t i = 0; i < file.e_shnum; ++i) {
    if (!section(i, header)) return no_cubin("its section table lies outside");
    const std::string_view name = text_at(names, header.sh_name);
    if (name.starts_with(".nv.shared.convoy")) {
      facts.shared_bytes += static_cast<int64_t>(header.sh_size);
    }
    Bytes content;
    const bool code = name.starts_with(".text."), info = name == ".nv.info";
    if (!code && !info) continue;
    if (!slice(cubin, header.sh_offset, header.sh_size, content)) {
      return no_cubin("a section lies outside");
    }
    if (code) add_code(content, facts);
    if (info && !add_info(content, facts)) return no_cubin("its .nv.info is cut short");
  }
  if (facts.instructions == 0) return no_cubin("it has no code");
  return facts;
}

}  // namespace convoy
