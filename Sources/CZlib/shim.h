#pragma once
#include <zlib.h>
// What Swift cannot import: deflateInit2 is a macro.

/// Compresses into the format of gzip (RFC 1952), as small as zlib can. Answers how many bytes were written; 0 where
/// `room` is too little or zlib has no memory.
static inline unsigned long tombolo_gzip(
    const unsigned char *bytes, unsigned int count, unsigned char *out, unsigned int room) {
    z_stream stream = {0};
    // 16 asks for gzip's head and checksum around the largest window (zlib's manual, deflateInit2).
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    stream.next_in = (unsigned char *)bytes;
    stream.avail_in = count;
    stream.next_out = out;
    stream.avail_out = room;
    int isDone = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    unsigned long written = stream.total_out;
    deflateEnd(&stream);
    return isDone ? written : 0;
}
