#include "figures/png_write.h"

#include "ground/mem.h"

#include <math.h>
#include <png.h>
#include <string.h>

static void take_bytes(png_structp png, png_bytep bytes, png_size_t size) { text_add_bytes(png_get_io_ptr(png), (const char *)bytes, size); }
static void take_flush(png_structp png) { (void)png; }

static void fail(png_structp png, png_const_charp message)
{
    err_set(png_get_error_ptr(png), "the PNG cannot be made: %s", message);
    png_longjmp(png, 1);
}

static void warn(png_structp png, png_const_charp message) { (void)png, (void)message; }

/* Keywords: 1 to 79 characters of printable ASCII, no blanks at the ends or in pairs. */
static void make_key(char key[80], const char *from)
{
    size_t size = 0;
    for (; *from && size < 79; from++)
        if (*from > ' ' && *from < 0x7f) key[size++] = *from;
        else if (size && key[size - 1] != '-') key[size++] = '-';
    if (!size) key[size++] = '-';
    key[size] = 0;
    if (*key >= 'a' && *key <= 'z') *key = (char)(*key - 'a' + 'A'); /* Command, Model: as the predefined ones are written */
}

static bool is_ascii(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s >= 0x7f || ((unsigned char)*s < 0x20 && *s != '\n')) return false;
    return true;
}

static void set_texts(png_structp png, png_infop info, const struct png_text *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char key[80];
        make_key(key, texts[i].key);
        png_text text = {.key = key, .text = (char *)texts[i].value, .compression = PNG_TEXT_COMPRESSION_NONE};
        if (!is_ascii(texts[i].value)) text.compression = PNG_ITXT_COMPRESSION_NONE, text.lang = "", text.lang_key = "";
        png_set_text(png, info, &text, 1); /* copies */
    }
}

bool png_write(const struct picture *picture, struct text *out, struct err *err)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, err, fail, warn);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    png_bytep row = mem_new((size_t)picture->width * 3);
    png_uint_32 per_metre = (png_uint_32)lround(picture->dpi / 0.0254);
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        mem_free(row);
        return false;
    }
    png_set_write_fn(png, out, take_bytes, take_flush);
    png_set_compression_level(png, 6);
    png_set_IHDR(png, info, (png_uint_32)picture->width, (png_uint_32)picture->height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_pHYs(png, info, per_metre, per_metre, PNG_RESOLUTION_METER);
    set_texts(png, info, picture->texts, picture->text_count);
    png_write_info(png, info);
    for (int y = 0; y < picture->height; y++) {
        for (int x = 0; x < picture->width; x++) {
            uint32_t pixel = picture->pixels[(size_t)y * picture->row_pixels + (size_t)x];
            row[3 * x] = (png_byte)(pixel >> 16);
            row[3 * x + 1] = (png_byte)(pixel >> 8);
            row[3 * x + 2] = (png_byte)pixel;
        }
        png_write_row(png, row);
    }
    png_write_end(png, NULL); /* NULL: the texts stand before the image already */
    png_destroy_write_struct(&png, &info);
    mem_free(row);
    return true;
}
