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
    int read = png_image_finish_read(&image, NULL, pixels, 0, NULL);
    int whole = read && !PNG_IMAGE_FAILED(image);
    png_image_free(&image);
    return whole;
}
