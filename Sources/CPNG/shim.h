#pragma once
#include <png.h>
#include <string.h>

// The simplified interface of libpng reads into macros' values, which Swift does not import.

/// Reads a PNG's size; 0 for what is no PNG. What was begun is freed.
static inline int tombolo_png_size(
    const void *bytes, size_t count, unsigned *width, unsigned *height) {
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&image, bytes, count)) return 0;
    *width = image.width;
    *height = image.height;
    png_image_free(&image);
    return 1;
}

/// Reads a PNG as one byte of grey a pixel into `width * height` bytes; 0 where it is damaged.
static inline int tombolo_png_grey(const void *bytes, size_t count, void *pixels) {
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&image, bytes, count)) return 0;
    image.format = PNG_FORMAT_GRAY;
    // Sixteen bits that say nothing of their gamma are as bright as eight: libpng takes them for
    // linear else.
    image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    int read = png_image_finish_read(&image, NULL, pixels, 0, NULL);
    int whole = read && !PNG_IMAGE_FAILED(image);
    png_image_free(&image);
    return whole;
}

/// Reads a PNG as four bytes a pixel (red, green, blue, alpha) into `width * height * 4` bytes; 0
/// where it is damaged.
static inline int tombolo_png_rgba(const void *bytes, size_t count, void *pixels) {
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&image, bytes, count)) return 0;
    image.format = PNG_FORMAT_RGBA;
    image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    int read = png_image_finish_read(&image, NULL, pixels, 0, NULL);
    int whole = read && !PNG_IMAGE_FAILED(image);
    png_image_free(&image);
    return whole;
}

/// Writes a picture of up to 256 colours with as few bits a pixel as they need. `palette` has four
/// bytes a colour. Answers the number of bytes, at most `room`; 0 where it failed or has no room.
static inline size_t tombolo_png_palette(
    const void *indices, unsigned width, unsigned height, const void *palette, unsigned colours,
    void *bytes, size_t room) {
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = width;
    image.height = height;
    image.format = PNG_FORMAT_RGBA_COLORMAP;
    image.colormap_entries = colours;
    png_alloc_size_t size = room;
    int written = png_image_write_to_memory(&image, bytes, &size, 0, indices, 0, palette);
    int whole = written && !PNG_IMAGE_FAILED(image) && size <= room;
    png_image_free(&image);
    return whole ? (size_t)size : 0;
}
