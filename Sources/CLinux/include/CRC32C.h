#pragma once
#include <stddef.h>
#include <stdint.h>

/// Continues a CRC32C (RFC 3720, appendix B.4; polynomial 0x1EDC6F41, reflected) over `count` bytes; a new one
/// starts with `crc` 0, and the answer is finished: pass it on to continue. Uses the processor's instruction
/// where it has one.
uint32_t tombolo_crc32c(uint32_t crc, const void *bytes, size_t count);

/// The same without the instruction.
uint32_t tombolo_crc32c_software(uint32_t crc, const void *bytes, size_t count);
