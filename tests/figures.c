/* Figures and cells: what readers of a page and of a terminal see, and the bytes of the files. */
#include "figures/cells.h"
#include "figures/cells_picture.h"
#include "figures/export.h"
#include "figures/page.h"
#include "figures/ticks.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "registry.h"
#include "results/stats.h"

#include <png.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/loopscope-figures-XXXXXX";

static char *in_folder(const char *name) { return path_join(folder, name); }

static void must(bool ok, const struct err *err)
{
    if (!ok) fail_msg("%s", err->text);
}

static struct table *sweep(size_t points, int splits)
{
    struct table *table = table_new("sweep");
    table_fact(table, "command", "sweep models/vanilla --over alpha=0:1:0.01");
    table_fact(table, "model", "vanilla é");
    table_column(table, "split", ROLE_LABEL, NULL);
    table_column(table, "alpha", ROLE_AXIS, "%.2f");
    table_column(table, "n", ROLE_COUNT, NULL);
    table_column(table, "correct", ROLE_COUNT, NULL);
    table_column(table, "accuracy", ROLE_VALUE, "%.3f");
    table_column(table, "low", ROLE_LOW, "%.3f");
    table_column(table, "high", ROLE_HIGH, "%.3f");
    table_column(table, "moved", ROLE_VALUE, NULL);
    for (int s = 0; s < splits; s++)
        for (size_t i = 0; i < points; i++) {
            double correct = s ? 20 : 80 + (double)(i % 7);
            struct interval band = wilson(correct, 100);
            double alpha = (double)i / (double)(points - 1);
            table_row(table, (struct cell[]){cell_text(s ? "test_ood" : "test_id"), cell_number(alpha), cell_number(100), cell_number(correct),
                                             cell_number(correct / 100), cell_number(band.low), cell_number(band.high), cell_number(1)});
        }
    return table;
}

/* One series of values at x = 1, 2 ... */
static struct table *series(const double *values, size_t count)
{
    struct table *table = table_new("series");
    table_column(table, "x", ROLE_AXIS, NULL);
    table_column(table, "accuracy", ROLE_VALUE, NULL);
    for (size_t i = 0; i < count; i++) table_row(table, (struct cell[]){cell_number((double)i + 1), cell_number(values[i])});
    return table;
}

static void export_to(const struct table *table, const struct figure_options *options, const char *name, struct text *bytes)
{
    struct err err = {0};
    size_t size;
    char *path = in_folder(name);
    must(figure_export(table, options, path, &err), &err);
    char *data = file_read(path, 1 << 26, &size, &err);
    must(data != NULL, &err);
    text_add_bytes(bytes, data, size);
    mem_free(data);
    mem_free(path);
}

static void every_kind_draws_its_example(void **state)
{
    (void)state;
    for (size_t i = 0; figure_kinds[i]; i++) {
        static const char *const names[] = {"example.png", "example.svg", "example.pdf"};
        struct table *table = figure_kinds[i]->example();
        struct figure *figure = figure_from(table, NULL, NULL);
        assert_non_null(figure);
        assert_string_equal(figure->kind->name, figure_kinds[i]->name);
        for (size_t f = 0; f < 3; f++) {
            struct text bytes = {0};
            export_to(table, NULL, names[f], &bytes);
            assert_true(bytes.size > 1000);
            text_clear(&bytes);
        }
        figure_free(figure);
        table_free(table);
    }
}

static void same_table_same_bytes(void **state)
{
    static const char *const names[][2] = {{"a.png", "b.png"}, {"a.svg", "b.svg"}, {"a.pdf", "b.pdf"}};
    struct table *table = sweep(21, 2);
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct text one = {0}, two = {0};
        export_to(table, NULL, names[i][0], &one);
        export_to(table, NULL, names[i][1], &two);
        assert_int_equal(one.size, two.size);
        assert_memory_equal(one.data, two.data, one.size);
        assert_null(memmem(one.data, one.size, "CreationDate", 12));
        text_clear(&one);
        text_clear(&two);
    }
    table_free(table);
}

static uint32_t big_endian(const unsigned char *p) { return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]; }

/* The data of the first chunk of a type, and whether it stands before the image. */
static const unsigned char *find_chunk(const struct text *png, const char *type, bool *before_image)
{
    const unsigned char *data = (const unsigned char *)png->data;
    *before_image = true;
    for (size_t at = 8; at + 12 <= png->size; at += 12 + big_endian(data + at)) {
        if (!memcmp(data + at + 4, type, 4)) return data + at + 8;
        if (!memcmp(data + at + 4, "IDAT", 4)) *before_image = false;
    }
    return NULL;
}

static void png_says_size_and_dots(void **state)
{
    static const struct { double dpi, width, height; uint32_t metre, x, y; } known[] = {
        {300, 6.4, 4.8, 11811, 1920, 1440}, {200, 3.4, 2.55, 7874, 680, 510}, {0, 0, 0, 11811, 1020, 765},
    };
    struct table *table = sweep(21, 2);
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct figure_options options = {.dpi = known[i].dpi, .width = known[i].width, .height = known[i].height};
        struct text png = {0};
        bool before;
        export_to(table, &options, "dots.png", &png);
        const unsigned char *head = find_chunk(&png, "IHDR", &before), *dots = find_chunk(&png, "pHYs", &before);
        assert_non_null(dots);
        assert_true(before);
        assert_int_equal(big_endian(head), known[i].x);
        assert_int_equal(big_endian(head + 4), known[i].y);
        assert_int_equal(big_endian(dots), known[i].metre);
        assert_int_equal(big_endian(dots + 4), known[i].metre);
        assert_int_equal(dots[8], 1);
        assert_non_null(find_chunk(&png, "tEXt", &before));
        assert_true(before);
        assert_non_null(memmem(png.data, png.size, "Command\0sweep models/vanilla", 28));
        assert_non_null(find_chunk(&png, "iTXt", &before)); /* the é */
        assert_true(before);
        text_clear(&png);
    }
    table_free(table);
}

/* How many pixels with a colour (not grey) stand between two columns. */
static size_t count_coloured(const struct text *png, double from, double to)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    size_t count = 0;
    assert_true(png_image_begin_read_from_memory(&image, png->data, png->size));
    image.format = PNG_FORMAT_RGB;
    unsigned char *pixels = mem_new(PNG_IMAGE_SIZE(image));
    assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    for (size_t y = 0; y < image.height; y++)
        for (size_t x = from > 0 ? (size_t)from : 0; x < image.width && (double)x < to; x++) {
            const unsigned char *p = pixels + 3 * (y * image.width + x);
            count += p[0] != p[1] || p[1] != p[2];
        }
    mem_free(pixels);
    return count;
}

/* The middle of the number under x, in pixels. */
static double find_x(const struct table *table, const char *number)
{
    struct err err = {0};
    double middle = NAN;
    struct table *boxes = figure_layout(table, NULL, &err);
    must(boxes != NULL, &err);
    for (size_t i = 0; i < boxes->row_count; i++)
        if (!strcmp(table_text(boxes, i, "what"), "x number") && !strcmp(table_text(boxes, i, "text"), number))
            middle = (table_number(boxes, i, "left") + table_number(boxes, i, "right")) / 2;
    table_free(boxes);
    return middle;
}

static void nan_is_a_gap(void **state)
{
    struct table *table = series((double[]){0.1, 0.2, NAN, 0.4, 0.5}, 5);
    struct text png = {0};
    double marker = 2.5 * 300 / 72;
    (void)state;
    export_to(table, NULL, "gap.png", &png);
    double two = find_x(table, "2"), four = find_x(table, "4");
    assert_int_equal(count_coloured(&png, two + marker, four - marker), 0);
    assert_true(count_coloured(&png, find_x(table, "1") + marker, two - marker) > 0);
    assert_true(count_coloured(&png, four + marker, find_x(table, "5") - marker) > 0);
    text_clear(&png);
    table_free(table);
}

static void a_lone_point_is_seen(void **state)
{
    struct table *table = series((double[]){NAN, 0.5, NAN}, 3);
    struct text png = {0}, page = {0};
    struct cells *cells = cells_new(12, 40);
    struct figure *figure = figure_from(table, NULL, NULL);
    (void)state;
    export_to(table, NULL, "lone.png", &png);
    assert_true(count_coloured(&png, 0, 1e9) > 50);
    figure_draw_cells(figure, cells, 0, 0, 12, 40);
    cells_page(cells, &page);
    size_t braille = 0; /* U+2801 and up: e2 a0 81 ... */
    for (size_t i = 0; i + 1 < page.size; i++) braille += (unsigned char)page.data[i] == 0xe2 && ((unsigned char)page.data[i + 1] & 0xfc) == 0xa0;
    assert_int_equal(braille, 1);
    text_clear(&png);
    text_clear(&page);
    figure_free(figure);
    cells_free(cells);
    table_free(table);
}

static void texts_never_overlap(void **state)
{
    static const double sizes[][2] = {{1, 0.75}, {1, 1}, {2, 1.5}, {3.4, 2.55}, {6.4, 4.8}};
    struct table *table = sweep(101, 2);
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct figure_options options = {.width = sizes[s][0], .height = sizes[s][1]};
        struct err err = {0};
        struct table *b = figure_layout(table, &options, &err);
        must(b != NULL, &err);
        for (size_t i = 0; i < b->row_count; i++) {
            assert_true(table_number(b, i, "left") >= 0 && table_number(b, i, "right") <= sizes[s][0] * 300);
            assert_true(table_number(b, i, "top") >= 0 && table_number(b, i, "bottom") <= sizes[s][1] * 300);
            for (size_t j = 0; j < i; j++) {
                bool apart = table_number(b, i, "left") >= table_number(b, j, "right") || table_number(b, j, "left") >= table_number(b, i, "right") ||
                             table_number(b, i, "top") >= table_number(b, j, "bottom") || table_number(b, j, "top") >= table_number(b, i, "bottom");
                if (!apart) fail_msg("%gx%g: '%s' and '%s' overlap", sizes[s][0], sizes[s][1], table_text(b, i, "text"), table_text(b, j, "text"));
            }
        }
        table_free(b);
    }
    table_free(table);
}

static bool is_band(const struct glyph *glyph) { return glyph->tint == TINT_DIM && (unsigned char)glyph->text[1] >= 0xa0; } /* of braille */

/* Dots of bands in the row of a level line of dashes (or in all rows), in a picture of so many rows. */
static int band_dots(int rows, bool dashes)
{
    struct table *table = sweep(21, 2);
    struct figure *figure = figure_from(table, NULL, NULL);
    struct cells *cells = cells_new(rows, 60);
    int count = 0;
    figure_draw_cells(figure, cells, 0, 0, rows, 60);
    for (int r = 0; r < rows; r++) {
        int bands = 0, line = 0;
        for (int c = 0; c < 60; c++) bands += is_band(cells_glyph(cells, r, c)), line += cells_glyph(cells, r, c)->tint == TINT_SERIES_2;
        if (!dashes || line > 20) count += bands;
    }
    cells_free(cells), figure_free(figure), table_free(table);
    return count;
}

/* Dots of a band between dashes would look like more of them. */
static void bands_leave_dashes_alone(void **state)
{
    (void)state;
    assert_int_equal(band_dots(14, false), 0); /* hardly wider than the line */
    assert_true(band_dots(44, false) > 50);
    assert_int_equal(band_dots(44, true), 0);
}

static void ascii_cells_are_ascii(void **state)
{
    (void)state;
    for (size_t i = 0; figure_kinds[i]; i++)
        for (int rows = 0; rows < 40; rows += 3)
            for (int cols = 0; cols < 100; cols += 9) {
                struct table *table = figure_kinds[i]->example();
                struct figure *figure = figure_from(table, NULL, NULL);
                struct cells *cells = cells_new(rows, cols);
                struct text page = {0};
                cells->ascii = true;
                figure_rule(figure, 0.5, NAN);
                figure_draw_cells(figure, cells, 0, 0, rows, cols);
                figure_draw_cells(figure, cells, rows / 2, -3, rows, cols); /* clipped at the edges */
                cells_page(cells, &page);
                for (size_t b = 0; b < page.size; b++) assert_true((unsigned char)page.data[b] < 0x80);
                text_clear(&page);
                cells_free(cells);
                figure_free(figure);
                table_free(table);
            }
}

static void cells_clip_and_cut(void **state)
{
    struct cells *cells = cells_new(2, 10);
    struct text page = {0};
    (void)state;
    cells_text(cells, 0, 7, TINT_PLAIN, "abcdef");
    cells_text(cells, 0, -2, TINT_GOOD, "xyz");
    cells_text(cells, 5, 0, TINT_PLAIN, "nowhere");
    assert_int_equal(cells_put(cells, 1, 0, TINT_PLAIN, "日本語e\xcc\x81", 5), 5);
    cells_page(cells, &page);
    assert_string_equal(page.data, "z      abc\n日本~\n");
    assert_string_equal(cells_glyph(cells, 1, 1)->text, "");
    cells_text(cells, 1, 1, TINT_PLAIN, "|"); /* half of a wide character goes, so the whole does */
    assert_string_equal(cells_glyph(cells, 1, 0)->text, " ");
    assert_int_equal(cells_glyph(cells, 0, 0)->tint, TINT_GOOD);
    assert_null(cells_glyph(cells, 2, 0));
    cells_text(cells, 0, 0, TINT_PLAIN, "e\xcc\x81\n");
    assert_string_equal(cells_glyph(cells, 0, 0)->text, "e\xcc\x81");
    assert_string_equal(cells_glyph(cells, 0, 1)->text, "\\");
    text_clear(&page);
    cells_free(cells);
}

static void ticks_are_round(void **state)
{
    char text[TICK_TEXT];
    (void)state;
    assert_true(fabs(step_round(0.13) - 0.2) < 1e-12 && fabs(step_round(0.2) - 0.2) < 1e-12 && fabs(step_round(2100) - 2500) < 1e-9);
    struct ticks ticks = ticks_find(0, 1, 0.1);
    assert_int_equal(ticks.count, 11);
    for (size_t i = 0; i <= 10; i++) {
        char wanted[TICK_TEXT];
        snprintf(wanted, sizeof wanted, i ? "%.1f" : "0", (double)i / 10);
        tick_text(&ticks, i, text);
        assert_string_equal(text, wanted);
    }
    ticks = ticks_find(0, 20000, 5000);
    tick_text(&ticks, 4, text);
    assert_string_equal(text, "20k");
}

static void probabilities_fill_the_axis(void **state)
{
    struct table *table = sweep(21, 2);
    struct figure *figure = figure_from(table, NULL, NULL);
    (void)state;
    assert_true(figure->y.low == 0 && figure->y.high == 1);
    assert_int_equal(figure->series_count, 2); /* accuracy only: moved has no band */
    assert_string_equal(figure->series[1].name, "OOD");
    assert_true(!figure->series[0].style.dashed && figure->series[1].style.dashed && figure->series[1].style.open);
    assert_non_null(strstr(figure->caption, "Wilson 95 %"));
    figure_free(figure);
    table_free(table);
}

static void refuse(const struct table *table, const struct figure_options *options, const char *name, const char *words)
{
    struct err err = {0};
    char *path = in_folder(name);
    assert_false(figure_export(table, options, path, &err));
    if (!strstr(err.text, words)) fail_msg("'%s' does not say '%s'", err.text, words);
    assert_false(file_exists(path));
    mem_free(path);
}

static void what_cannot_be_drawn_is_refused(void **state)
{
    struct table *nothing = series((double[]){NAN, NAN}, 2), *good = series((double[]){0.1, 0.2}, 2);
    struct err err = {0};
    char *mine = in_folder("mine.txt");
    (void)state;
    refuse(nothing, NULL, "nothing.png", "nothing to draw");
    refuse(good, NULL, "picture.jpg", ".png");
    refuse(good, &(struct figure_options){.y = "acuracy"}, "column.png", "did you mean accuracy?");
    refuse(good, &(struct figure_options){.kind = "pie"}, "kind.png", "no kind of figure");
    refuse(good, &(struct figure_options){.width = 100}, "large.png", "0.5 to 40");
    refuse(good, &(struct figure_options){.width = 0.5, .height = 0.5, .dpi = 1e6}, "dots2.png", "20000 pixels");
    must(file_write(mine, "my notes\n", 9, &err), &err);
    refuse(good, NULL, "mine.png", "not written by loopscope");
    mem_free(mine);
    table_free(nothing);
    table_free(good);
}

/* Splits of several kinds in one figure: colour tells the kind, dashes tell ID from OOD. */
static void kinds_of_questions_differ_in_colour(void **state)
{
    static const char *const splits[] = {"test_two_hop_id", "test_two_hop_ood", "test_id", "test_ood"};
    (void)state;
    struct err err = {0};
    struct table *table = table_new("eval");
    table_column(table, "split", ROLE_LABEL, NULL);
    table_column(table, "stage", ROLE_AXIS, NULL);
    table_column(table, "accuracy", ROLE_VALUE, NULL);
    for (int s = 0; s < 4; s++)
        for (int stage = 1; stage < 4; stage++) table_row(table, (struct cell[]){cell_text(splits[s]), cell_number(stage), cell_number(0.2 * s)});
    struct figure *figure = figure_from(table, NULL, &err);
    assert_non_null(figure);
    assert_int_equal(figure->series_count, 4);
    assert_string_equal(figure->series[0].name, "ID, two hop");
    assert_string_equal(figure->series[3].name, "OOD");
    for (int s = 0; s < 4; s++) {
        assert_int_equal(figure->series[s].style.dashed, s % 2);
        assert_int_equal(figure->series[s].style.colour == figure->series[0].style.colour, s < 2);
    }
    figure_free(figure);
    table_free(table);
}

/* Boundaries before positions, the axis with few enough lines before the first one, details of points are no lines. */
static void the_axis_is_chosen(void **state)
{
    (void)state;
    static const char *const tokens[] = {"a", "b", "c", "d", "e", "f"};
    struct table *lens = table_new("lens"), *log = table_new("log");
    struct err err = {0};
    table_column(lens, "position", ROLE_AXIS, NULL);
    table_column(lens, "boundary", ROLE_AXIS, NULL);
    table_column(lens, "token", ROLE_LABEL, NULL);
    table_column(lens, "p_answer", ROLE_VALUE, NULL);
    table_column(log, "stage", ROLE_AXIS, NULL);
    table_column(log, "epoch", ROLE_AXIS, NULL);
    table_column(log, "loss", ROLE_VALUE, NULL);
    table_column(log, "grad", ROLE_VALUE, NULL);
    for (int p = 0; p < 2; p++)
        for (int k = 0; k < 3; k++) table_row(lens, (struct cell[]){cell_number(p), cell_number(k), cell_text(tokens[3 * p + k]), cell_number(0.5)});
    for (int s = 0; s < 8; s++)
        for (int e = 0; e < 30; e++) table_row(log, (struct cell[]){cell_number(s), cell_number(e), cell_number(1), cell_number(2)});
    struct figure *figure = figure_from(lens, NULL, &err);
    must(figure != NULL, &err);
    assert_string_equal(figure->x.name, "boundary k");
    assert_int_equal(figure->series_count, 2);
    assert_true(figure->x.whole);
    figure_free(figure);
    figure = figure_from(log, NULL, &err);
    must(figure != NULL, &err);
    assert_string_equal(figure->x.name, "epoch");
    assert_string_equal(figure->y.name, "loss (nats)"); /* both would be 16 lines */
    figure_free(figure);
    assert_null(figure_from(log, &(struct figure_options){.x = "stage"}, &err));
    assert_non_null(strstr(err.text, "--where 'epoch=29'"));
    table_free(lens);
    table_free(log);
}

static void growing_curves_start_empty(void **state)
{
    struct table *table = sweep(21, 0);
    struct figure *figure = figure_from(table, &(struct figure_options){.x_low = 0, .x_high = 0.5}, NULL);
    struct cells *cells = cells_new(20, 60);
    (void)state;
    assert_non_null(figure);
    assert_true(figure_empty(figure) && figure->x.low == 0 && figure->x.high == 0.5);
    figure_draw_cells(figure, cells, 0, 0, 20, 60);
    figure_free(figure);
    cells_free(cells);
    table_free(table);
}

static void extreme_values_do_no_harm(void **state)
{
    static const double values[][2] = {
        {1e308, -1e308}, {5e-324, 1e-323}, {1e9, 1e9 + 1e-6}, {0, 0}, {-7, -7}, {1e20, 2e20}, {INFINITY, 1}, {1e-9, 2e-9},
    };
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int fixed = 0; fixed < 2; fixed++) {
            struct err err = {0};
            struct text svg = {0};
            struct table *table = table_new("extreme");
            struct cells *cells = cells_new(20, 60);
            table_column(table, "x", ROLE_AXIS, NULL);
            table_column(table, fixed ? "accuracy" : "loss", ROLE_VALUE, NULL);
            for (int r = 0; r < 2; r++) table_row(table, (struct cell[]){cell_number(values[i][1 - r]), cell_number(values[i][r])});
            struct figure *figure = figure_from(table, NULL, &err);
            must(figure != NULL, &err);
            figure_draw_cells(figure, cells, 0, 0, 20, 60);
            if (!figure_empty(figure)) export_to(table, NULL, "extreme.svg", &svg);
            text_clear(&svg);
            cells_free(cells);
            figure_free(figure);
            table_free(table);
        }
}

static int make_folder(void **state) { return (void)state, mkdtemp(folder) ? 0 : -1; }

static int remove_folder(void **state)
{
    char **names;
    size_t count;
    struct err err;
    (void)state;
    if (!folder_list(folder, &names, &count, &err)) return -1;
    for (size_t i = 0; i < count; i++) {
        char *path = in_folder(names[i]);
        unlink(path);
        mem_free(path);
        mem_free(names[i]);
    }
    mem_free(names);
    return rmdir(folder);
}

static void pictures_of_cells_are_the_same_bytes(void **state)
{
    (void)state;
    struct cells *cells = cells_new(3, 20);
    struct cells_look look = {.ground = 0};
    struct text one = {0}, two = {0};
    struct err err = {0};
    for (int t = 0; t < TINT_COUNT; t++) look.colour[t] = 0xffffff;
    cells_text(cells, 0, 0, TINT_PLAIN, "漢字 ⠿█▌─ é ▸");
    assert_true(cells_png(cells, &look, &one, &err) && cells_png(cells, &look, &two, &err));
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.data, two.data, one.size);
    assert_memory_equal(one.data, "\x89PNG", 4);
    text_clear(&one), text_clear(&two);
    cells_free(cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_draws_its_example), cmocka_unit_test(same_table_same_bytes),           cmocka_unit_test(png_says_size_and_dots),
        cmocka_unit_test(nan_is_a_gap),                 cmocka_unit_test(a_lone_point_is_seen),            cmocka_unit_test(texts_never_overlap),
        cmocka_unit_test(ascii_cells_are_ascii),        cmocka_unit_test(cells_clip_and_cut),              cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(probabilities_fill_the_axis),  cmocka_unit_test(what_cannot_be_drawn_is_refused),
        cmocka_unit_test(pictures_of_cells_are_the_same_bytes),
        cmocka_unit_test(kinds_of_questions_differ_in_colour), cmocka_unit_test(bands_leave_dashes_alone),
        cmocka_unit_test(the_axis_is_chosen), cmocka_unit_test(growing_curves_start_empty),   cmocka_unit_test(extreme_values_do_no_harm),
    };
    return cmocka_run_group_tests_name("figures", tests, make_folder, remove_folder);
}
