#include "CRC32C.h"

#include <string.h>

// The remainders of all nibbles: a table of 64 bytes, twice as slow as one of 1,024 and easy to check.
static const uint32_t remainders[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t tombolo_crc32c_software(uint32_t crc, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    crc = ~crc;
    for (; count > 0; count--, next++) {
        crc ^= *next;
        crc = (crc >> 4) ^ remainders[crc & 15];
        crc = (crc >> 4) ^ remainders[crc & 15];
    }
    return ~crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t
with_instruction(uint32_t crc, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    uint64_t state = ~crc;
    for (; count >= 8; count -= 8, next += 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        state = _mm_crc32_u64(state, word);
    }
    uint32_t rest = (uint32_t)state;
    for (; count > 0; count--, next++) rest = _mm_crc32_u8(rest, *next);
    return ~rest;
}

static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>

#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif

__attribute__((target("crc"))) static uint32_t
with_instruction(uint32_t crc, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    crc = ~crc;
    for (; count >= 8; count -= 8, next += 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        crc = __crc32cd(crc, word);
    }
    for (; count > 0; count--, next++) crc = __crc32cb(crc, *next);
    return ~crc;
}

static int has_instruction(void) { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }

#else
static uint32_t with_instruction(uint32_t crc, const void *bytes, size_t count) {
    return tombolo_crc32c_software(crc, bytes, count);
}

static int has_instruction(void) { return 0; }
#endif

uint32_t tombolo_crc32c(uint32_t crc, const void *bytes, size_t count) {
    return has_instruction() ? with_instruction(crc, bytes, count)
                             : tombolo_crc32c_software(crc, bytes, count);
}
