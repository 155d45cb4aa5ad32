#include "CPictures.h"

#include <vips/vips.h>

int pictures_start(void) {
    if (VIPS_INIT("moving-van")) return -1;
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    vips_cache_set_max_mem(0);
    vips_cache_set_max_files(0);
    return 0;
}

/// Compresses an image and lets it go.
static int save(VipsImage *image, int quality, pictures_jpeg *result) {
    result->width = vips_image_get_width(image);
    result->height = vips_image_get_height(image);
    int status = vips_jpegsave_buffer(
        image, &result->bytes, &result->length, "Q", quality, "strip", TRUE, NULL);
    g_object_unref(image);
    return status;
}

int pictures_thumbnail(const void *bytes, size_t length, int width, pictures_jpeg *result) {
    VipsImage *image = NULL;
    // libvips does not write to the buffer. It decodes a JPEG at a half, a quarter or an eighth of
    // its size, and row by row.
    int status = vips_thumbnail_buffer(
        (void *)bytes, length, &image, width, "size", VIPS_SIZE_DOWN, "fail_on",
        VIPS_FAIL_ON_TRUNCATED, NULL);
    if (!status) status = save(image, 80, result);
    // Messages would gather in memory, and may hold what the photo holds.
    if (status) vips_error_clear();
    return status;
}

enum { width = 1024, height = 768, spare = 512 };

/// The noise of a camera, larger than a photo; without noise a photo would be a small file.
static VipsImage *noise = NULL;

/// Makes the noise with the first photo, on the only thread of the program.
static int make_noise(void) {
    if (noise) return 0;
    VipsImage *made = NULL, *cast = NULL;
    int status = vips_gaussnoise(
                     &made, width + spare, height + spare, "sigma", 48.0, "mean", 0.0, "seed", 1,
                     NULL)
        || vips_cast_short(made, &cast, NULL);
    if (!status) noise = vips_image_copy_memory(cast);
    g_clear_object(&cast);
    g_clear_object(&made);
    return noise ? 0 : -1;
}

int pictures_photo(uint32_t number, pictures_jpeg *result) {
    if (make_noise()) return -1;
    VipsImage *owner = vips_image_new();
    VipsImage **all = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 8);
    int status = 0;
    // Clouds of red, green and blue, and noise from another place for each photo.
    for (int band = 0; band < 3 && !status; band++)
        status = vips_perlin(
            &all[band], width / 8, height / 8, "cell_size", 32, "uchar", TRUE, "seed",
            number * 3 + band, NULL);
    uint32_t place = number * 2654435761u;
    VipsImage *photo = NULL;
    status = status || vips_bandjoin(all, &all[3], 3, NULL)
        || vips_zoom(all[3], &all[4], 8, 8, NULL)
        || vips_extract_area(
            noise, &all[5], place % spare, (place >> 16) % spare, width, height, NULL)
        || vips_add(all[4], all[5], &all[6], NULL) || vips_cast_uchar(all[6], &all[7], NULL)
        || vips_copy(all[7], &photo, "interpretation", VIPS_INTERPRETATION_sRGB, NULL)
        || save(photo, 92, result);
    if (status) vips_error_clear();
    g_object_unref(owner);
    return status ? -1 : 0;
}

void pictures_free(void *bytes) { g_free(bytes); }
