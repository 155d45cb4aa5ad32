#ifndef CPICTURES_H
#define CPICTURES_H

#include <stddef.h>
#include <stdint.h>

/// A JPEG in memory of libvips.
typedef struct {
    void *bytes;
    size_t length;
    int width;
    int height;
} pictures_jpeg;

/// Starts libvips with one thread and without caches, so that memory does not grow with the number
/// of pictures. Returns 0 for success.
int pictures_start(void);

/// Scales a picture down to a width. Returns 0 for success; then `pictures_free` takes the result.
int pictures_thumbnail(const void *bytes, size_t length, int width, pictures_jpeg *result);

/// Makes a photo that follows from a number. Returns 0 for success; then `pictures_free` takes the
/// result.
int pictures_photo(uint32_t number, pictures_jpeg *result);

/// Gives the bytes of a result back.
void pictures_free(void *bytes);

#endif
