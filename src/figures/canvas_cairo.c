#include "figures/canvas.h"
#include "figures/cells_picture.h"
#include "figures/font.h"
#include "figures/page.h"
#include "figures/png_write.h"
#include "ground/mem.h"
#include "ground/width.h"

#include <cairo-ft.h>
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <ft2build.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include FT_FREETYPE_H

enum { POINTS = 72 }; /* in an inch */

struct paper {
    struct canvas canvas; /* first, so that a pointer to it is a pointer to the paper */
    cairo_t *cairo;
};

/* Okabe and Ito, "Color universal design" (2008): told apart with every kind of colour blindness. */
static const double colours[COLOURS][3] = {
    {0, 114 / 255.0, 178 / 255.0}, {213 / 255.0, 94 / 255.0, 0}, {0, 158 / 255.0, 115 / 255.0}, {204 / 255.0, 121 / 255.0, 167 / 255.0},
    {230 / 255.0, 159 / 255.0, 0}, {86 / 255.0, 180 / 255.0, 233 / 255.0}, {0.2, 0.2, 0.2},
};
static const double ink = 0.13, line_width = 1.1, frame_width = 0.6, marker_size = 1.9;

/* Faces for the whole program: cairo keeps scaled fonts in a cache of its own for as long as it likes, and they need the face. */
static cairo_font_face_t *shared_face, *mono_face;

static cairo_font_face_t *load_face(FT_Library library, const unsigned char *data, size_t size)
{
    FT_Face face;
    if (FT_New_Memory_Face(library, data, (FT_Long)size, 0, &face)) return NULL;
    return cairo_ft_font_face_create_for_ft_face(face, FT_LOAD_NO_HINTING);
}

static void load_faces(void)
{
    FT_Library library;
    if (FT_Init_FreeType(&library)) return;
    shared_face = load_face(library, font_data, font_size());
    mono_face = load_face(library, font_mono_data, font_mono_size());
}

static cairo_font_face_t *get_face(bool mono)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_faces);
    return mono ? mono_face : shared_face;
}

static cairo_t *of(struct canvas *canvas) { return ((struct paper *)canvas)->cairo; }

static void set_colour(cairo_t *cairo, int colour, double opacity)
{
    if (colour < 0) cairo_set_source_rgba(cairo, ink, ink, ink, opacity);
    else cairo_set_source_rgba(cairo, colours[colour][0], colours[colour][1], colours[colour][2], opacity);
}

static double text_points(enum text_use use) { return use == TEXT_NAME ? 8 : 7; }

/* Readers expect a minus, keyboards give a hyphen: numbers get the real sign. */
static void add_shown(struct text *out, enum text_use use, const char *text)
{
    for (const char *s = text; *s; s++) {
        if (*s == '-' && use == TEXT_TICK) text_add(out, "\xe2\x88\x92");
        else text_add_bytes(out, s, 1);
    }
    text_add(out, "%s", "");
}

/* A text's box goes from the height of capitals to the baseline, for the names of axes to the depth of "g": the same for every text of one use. */
enum { CAPITALS = 729, DEPTH = 212, EM = 1000 };

static struct size measure(struct canvas *canvas, enum text_use use, const char *text)
{
    cairo_text_extents_t extents;
    double size = text_points(use);
    struct text shown = {0};
    add_shown(&shown, use, text);
    cairo_set_font_size(of(canvas), size);
    cairo_text_extents(of(canvas), shown.data, &extents);
    text_clear(&shown);
    return (struct size){extents.x_advance, size * (use == TEXT_NAME ? CAPITALS + DEPTH : CAPITALS) / EM};
}

static void draw_text(struct canvas *canvas, const struct place *place, const char *text)
{
    cairo_t *cairo = of(canvas);
    struct text shown = {0};
    struct size size = measure(canvas, place->use, text);
    add_shown(&shown, place->use, text);
    double across = place->across, down = place->down, capitals = text_points(place->use) * CAPITALS / EM;
    cairo_save(cairo);
    cairo_translate(cairo, place->x, place->y);
    if (place->turned) {
        cairo_rotate(cairo, -3.14159265358979323846 / 2);
        across = -place->down; /* along the text, which runs upwards */
        down = place->across;
    }
    cairo_move_to(cairo, -size.width * (across + 1) / 2, -size.height * (down + 1) / 2 + capitals);
    set_colour(cairo, -1, 1); /* the sample in front of a legend's text has the colour; text stays readable */
    cairo_show_text(cairo, shown.data);
    cairo_restore(cairo);
    text_clear(&shown);
}

static void draw_line(struct canvas *canvas, const struct style *style, const double *x, const double *y, size_t count)
{
    cairo_t *cairo = of(canvas);
    cairo_new_path(cairo);
    for (size_t i = 0; i < count; i++) cairo_line_to(cairo, x[i], y[i]);
    cairo_set_dash(cairo, (double[]){3.6, 2}, style->dashed ? 2 : 0, 0);
    cairo_set_line_width(cairo, line_width);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    set_colour(cairo, style->colour, 1);
    cairo_stroke(cairo);
    cairo_set_dash(cairo, NULL, 0, 0);
}

static void draw_band(struct canvas *canvas, const struct style *style, const double *x, const double *low, const double *high, size_t count)
{
    cairo_t *cairo = of(canvas);
    cairo_new_path(cairo);
    for (size_t i = 0; i < count; i++) cairo_line_to(cairo, x[i], low[i]);
    for (size_t i = count; i-- > 0;) cairo_line_to(cairo, x[i], high[i]);
    cairo_close_path(cairo);
    set_colour(cairo, style->colour, 0.2);
    cairo_fill(cairo);
}

/* Shapes of about the same area, around (0, 0) with radius 1; the disc is drawn apart. */
static const struct { int count; double at[12][2]; } shapes[MARKER_KINDS] = {
    [MARKER_SQUARE] = {4, {{-.89, -.89}, {.89, -.89}, {.89, .89}, {-.89, .89}}},
    [MARKER_TRIANGLE] = {3, {{0, -1.35}, {1.17, .68}, {-1.17, .68}}},
    [MARKER_DIAMOND] = {4, {{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}}},
    [MARKER_DOWN] = {3, {{0, 1.35}, {1.17, -.68}, {-1.17, -.68}}},
    [MARKER_PLUS] = {12, {{-.4, -1.2}, {.4, -1.2}, {.4, -.4}, {1.2, -.4}, {1.2, .4}, {.4, .4}, {.4, 1.2}, {-.4, 1.2}, {-.4, .4}, {-1.2, .4},
                          {-1.2, -.4}, {-.4, -.4}}},
    [MARKER_CROSS] = {12, {{0, -.57}, {.6, -1.17}, {1.17, -.6}, {.57, 0}, {1.17, .6}, {.6, 1.17}, {0, .57}, {-.6, 1.17}, {-1.17, .6}, {-.57, 0},
                           {-1.17, -.6}, {-.6, -1.17}}},
};

static void draw_marker(struct canvas *canvas, const struct style *style, double x, double y, bool light, bool alone)
{
    cairo_t *cairo = of(canvas);
    double radius = light ? marker_size * 0.6 : marker_size;
    (void)alone; /* a marker on paper is seen with and without a line */
    cairo_new_path(cairo);
    if (style->marker == MARKER_DISC) cairo_arc(cairo, x, y, radius, 0, 2 * 3.14159265358979323846);
    for (int i = 0; i < shapes[style->marker].count; i++) {
        const double *corner = shapes[style->marker].at[i];
        cairo_line_to(cairo, x + radius * corner[0], y + radius * corner[1]);
    }
    cairo_close_path(cairo);
    if (!style->open) set_colour(cairo, style->colour, light ? 0.5 : 1);
    else cairo_set_source_rgba(cairo, 1, 1, 1, light ? 0 : 1); /* an open marker hides the line behind it */
    cairo_fill_preserve(cairo);
    set_colour(cairo, style->colour, light ? 0.5 : 1);
    cairo_set_line_width(cairo, light ? 0.4 : 0.8);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER);
    if (style->open || !light) cairo_stroke(cairo);
    else cairo_new_path(cairo);
}

static void draw_rule(struct canvas *canvas, double x0, double y0, double x1, double y1)
{
    cairo_t *cairo = of(canvas);
    cairo_move_to(cairo, x0, y0);
    cairo_line_to(cairo, x1, y1);
    cairo_set_line_width(cairo, frame_width);
    cairo_set_source_rgb(cairo, 0.6, 0.6, 0.6);
    cairo_stroke(cairo);
}

static void draw_spine(struct canvas *canvas, bool upright, double at, double from, double to, const double *ticks, size_t count)
{
    cairo_t *cairo = of(canvas);
    double length = upright ? -canvas->tick.width : canvas->tick.height, end = at + length;
    cairo_new_path(cairo);
    if (upright) cairo_move_to(cairo, at, from), cairo_line_to(cairo, at, to);
    else cairo_move_to(cairo, from, at), cairo_line_to(cairo, to, at);
    for (size_t i = 0; i < count; i++) {
        if (upright) cairo_move_to(cairo, at, ticks[i]), cairo_line_to(cairo, end, ticks[i]);
        else cairo_move_to(cairo, ticks[i], at), cairo_line_to(cairo, ticks[i], end);
    }
    set_colour(cairo, -1, 1);
    cairo_set_line_width(cairo, frame_width);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_SQUARE);
    cairo_stroke(cairo);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT);
}

static void set_clip(struct canvas *canvas, const struct rect *rect)
{
    cairo_t *cairo = of(canvas);
    double slack = 2 * marker_size; /* markers on the edge stay whole */
    if (!rect) {
        cairo_restore(cairo);
        return;
    }
    cairo_save(cairo);
    cairo_rectangle(cairo, rect->left - slack, rect->top - slack, rect->right - rect->left + 2 * slack, rect->bottom - rect->top + 2 * slack);
    cairo_clip(cairo);
}

static bool draw(const struct page *page, const struct figure *figure, cairo_surface_t *surface, struct table *boxes, struct err *err)
{
    struct paper paper = {
        .canvas = {
            .width = page->width * POINTS, .height = page->height * POINTS, .inset = {3, 3}, .frame = {0, 0}, .tick = {2.5, 2.5}, .gap = {2.5, 3},
            .legend = {18, 9.5}, .apart = {18, 4}, .edge = {2, 2}, .least_step = 20, .turns = true,
            .measure = measure, .text = draw_text, .line = draw_line, .band = draw_band,
            .marker = draw_marker, .rule = draw_rule, .spine = draw_spine, .clip = set_clip,
        },
        .cairo = cairo_create(surface),
    };
    cairo_font_options_t *options = cairo_font_options_create();
    if (page->format == PAGE_PNG) cairo_scale(paper.cairo, page->dpi / POINTS, page->dpi / POINTS);
    cairo_set_source_rgb(paper.cairo, 1, 1, 1);
    cairo_paint(paper.cairo);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE); /* the same layout at every resolution */
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(paper.cairo, options);
    cairo_font_options_destroy(options);
    cairo_set_font_face(paper.cairo, get_face(false));
    bool fits = figure_draw(figure, &paper.canvas, boxes);
    cairo_status_t status = cairo_status(paper.cairo);
    cairo_destroy(paper.cairo);
    cairo_surface_flush(surface);
    if (!status) status = cairo_surface_status(surface);
    if (!fits) return err_set(err, "a figure of %.6gx%.6g in has no room beside its numbers and names: make it larger", page->width, page->height);
    return !status || err_set(err, "the figure cannot be drawn: %s", cairo_status_to_string(status));
}

static cairo_status_t take_bytes(void *out, const unsigned char *bytes, unsigned size)
{
    text_add_bytes(out, (const char *)bytes, size);
    return CAIRO_STATUS_SUCCESS;
}

static bool draw_png(const struct page *page, const struct figure *figure, struct text *out, struct table *boxes, struct err *err)
{
    int width = (int)lround(page->width * page->dpi), height = (int)lround(page->height * page->dpi);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    bool ok = draw(page, figure, surface, boxes, err);
    if (ok) {
        struct picture picture = {
            .pixels = (const uint32_t *)(const void *)cairo_image_surface_get_data(surface),
            .row_pixels = (size_t)cairo_image_surface_get_stride(surface) / sizeof(uint32_t),
            .width = width, .height = height, .dpi = page->dpi, .texts = page->texts, .text_count = page->text_count,
        };
        ok = png_write(&picture, out, err);
    }
    cairo_surface_destroy(surface);
    for (size_t i = 0; boxes && i < boxes->row_count * boxes->column_count; i++) boxes->cells[i].number *= page->dpi / POINTS;
    return ok;
}

static void add_xml(struct text *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '&') text_add(out, "&amp;");
        else if (*s == '<') text_add(out, "&lt;");
        else if (*s == '>') text_add(out, "&gt;");
        else if ((unsigned char)*s >= 0x20 || *s == '\n') text_add_bytes(out, s, 1);
    }
}

/* Copies an SVG with the texts as metadata behind its first tag, and without cairo's count of surfaces, which grows from one export to the next. */
static void finish_svg(const struct page *page, const struct text *svg, struct text *out)
{
    const char *s = svg->data, *tag = strstr(s, "<svg"), *end = tag ? strchr(tag, '>') : NULL;
    static const char counted[] = "id=\"surface";
    if (end) {
        text_add_bytes(out, s, (size_t)(end + 1 - s));
        text_add(out, "\n<metadata>\n");
        for (size_t i = 0; i < page->text_count; i++) {
            add_xml(out, page->texts[i].key);
            text_add(out, ": ");
            add_xml(out, page->texts[i].value);
            text_add(out, "\n");
        }
        text_add(out, "</metadata>");
        s = end + 1;
    }
    for (const char *next; (next = strstr(s, counted)); s = next + strspn(next, "0123456789")) {
        next += strlen(counted);
        text_add_bytes(out, s, (size_t)(next - s));
    }
    text_add(out, "%s", s);
}

static bool draw_svg(const struct page *page, const struct figure *figure, struct text *out, struct table *boxes, struct err *err)
{
    struct text svg = {0};
    cairo_surface_t *surface = cairo_svg_surface_create_for_stream(take_bytes, &svg, page->width * POINTS, page->height * POINTS);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PT);
    bool ok = draw(page, figure, surface, boxes, err);
    cairo_surface_finish(surface);
    cairo_surface_destroy(surface);
    if (ok && svg.size) finish_svg(page, &svg, out);
    text_clear(&svg);
    return ok;
}

static bool draw_pdf(const struct page *page, const struct figure *figure, struct text *out, struct table *boxes, struct err *err)
{
    cairo_surface_t *surface = cairo_pdf_surface_create_for_stream(take_bytes, out, page->width * POINTS, page->height * POINTS);
    struct text facts = {0};
    for (size_t i = 0; i < page->text_count; i++) text_add(&facts, "%s%s: %s", i ? "; " : "", page->texts[i].key, page->texts[i].value);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "none"); /* no date can be read from it, so none is written */
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "loopscope " VERSION);
    if (facts.size) cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_SUBJECT, facts.data);
    text_clear(&facts);
    bool ok = draw(page, figure, surface, boxes, err);
    cairo_surface_finish(surface);
    cairo_surface_destroy(surface);
    return ok;
}

bool page_draw(const struct page *page, const struct figure *figure, struct text *out, struct table *boxes, struct err *err)
{
    if (!get_face(false)) return err_set(err, "the font inside the program cannot be read");
    return page->format == PAGE_PNG   ? draw_png(page, figure, out, boxes, err)
           : page->format == PAGE_SVG ? draw_svg(page, figure, out, boxes, err)
                                      : draw_pdf(page, figure, out, boxes, err);
}

/* ---- grids of cells */

/* Pixels: the height is what the font asks for at a size that makes its advance 18, so that lines of one cell meet those of the next. */
enum { CELL_WIDE = 18, CELL_HIGH = 35, CELL_EDGE = 20, CELL_DPI = 192 };
static const double cell_font = 29.898, cell_base = 27.5;

static void set_rgb(cairo_t *cairo, unsigned rgb)
{
    cairo_set_source_rgb(cairo, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
}

/* Bits of a braille character: dots 1 2 3 7 on the left from above, 4 5 6 8 on the right. */
static void draw_braille(cairo_t *cairo, unsigned bits, double x, double y)
{
    static const unsigned char bit[4][2] = {{0, 3}, {1, 4}, {2, 5}, {6, 7}};
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 2; c++)
            if (bits >> bit[r][c] & 1) {
                cairo_new_sub_path(cairo);
                cairo_arc(cairo, x + CELL_WIDE * (0.25 + 0.5 * c), y + CELL_HIGH * (0.125 + 0.25 * r), 2.6, 0, 2 * 3.14159265358979323846);
            }
    cairo_fill(cairo);
}

/* Lower and left eighths, and the full block. */
static bool draw_block(cairo_t *cairo, unsigned code, double x, double y)
{
    double part = code <= 0x2588 ? (code - 0x2580) / 8.0 : (0x2590 - code) / 8.0;
    if (code < 0x2581 || code > 0x258f) return false;
    if (code <= 0x2588) cairo_rectangle(cairo, x, y + CELL_HIGH * (1 - part), CELL_WIDE, CELL_HIGH * part);
    else cairo_rectangle(cairo, x, y, CELL_WIDE * part, CELL_HIGH);
    cairo_fill(cairo);
    return true;
}

static bool has_glyph(cairo_t *cairo, unsigned code)
{
    FT_Face face = cairo_ft_scaled_font_lock_face(cairo_get_scaled_font(cairo));
    bool has = face && FT_Get_Char_Index(face, code) != 0;
    cairo_ft_scaled_font_unlock_face(cairo_get_scaled_font(cairo));
    return has;
}

static void draw_letter(cairo_t *cairo, const char *letter, double x, double y, int wide, bool bold)
{
    unsigned code = 0;
    if (!text_utf8(letter, &code) || code == ' ') return;
    if (code >= 0x2800 && code < 0x2900) draw_braille(cairo, code - 0x2800, x, y);
    else if (draw_block(cairo, code, x, y)) return;
    else if (!has_glyph(cairo, code)) {
        cairo_rectangle(cairo, x + 3, y + 6, CELL_WIDE * wide - 6, CELL_HIGH - 12);
        cairo_set_line_width(cairo, 1.5);
        cairo_stroke(cairo);
    } else {
        cairo_move_to(cairo, x, y + cell_base);
        cairo_text_path(cairo, letter);
        if (bold) cairo_set_line_width(cairo, 1.4), cairo_fill_preserve(cairo), cairo_stroke(cairo);
        else cairo_fill(cairo);
    }
}

static void draw_cells(cairo_t *cairo, const struct cells *cells, const struct cells_look *look)
{
    set_rgb(cairo, look->ground);
    cairo_paint(cairo);
    cairo_set_font_face(cairo, get_face(true));
    cairo_set_font_size(cairo, cell_font);
    for (int pass = 0; pass < 2; pass++) /* grounds first: a letter may reach over the edge of its cell */
        for (int i = 0; i < cells->rows * cells->cols; i++) {
            const struct glyph *glyph = &cells->at[i];
            bool reverse = glyph->look & LOOK_REVERSE, wide = i + 1 < cells->rows * cells->cols && *glyph->text && !*cells->at[i + 1].text;
            double x = CELL_EDGE + i % cells->cols * CELL_WIDE, y = CELL_EDGE + i / cells->cols * (double)CELL_HIGH;
            set_rgb(cairo, reverse != (pass == 0) ? look->ground : look->colour[glyph->tint]);
            if (!pass && reverse) cairo_rectangle(cairo, x, y, CELL_WIDE, CELL_HIGH), cairo_fill(cairo);
            if (pass) draw_letter(cairo, glyph->text, x, y, wide ? 2 : 1, look->bold[glyph->tint] || glyph->look & LOOK_BOLD);
            if (pass && glyph->look & LOOK_UNDERLINE) cairo_rectangle(cairo, x, y + CELL_HIGH - 4, CELL_WIDE, 1.5), cairo_fill(cairo);
        }
}

bool cells_png(const struct cells *cells, const struct cells_look *look, struct text *out, struct err *err)
{
    int width = cells->cols * CELL_WIDE + 2 * CELL_EDGE, height = cells->rows * CELL_HIGH + 2 * CELL_EDGE;
    if (!get_face(true)) return err_set(err, "the font inside the program cannot be read");
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_t *cairo = cairo_create(surface);
    draw_cells(cairo, cells, look);
    cairo_status_t status = cairo_status(cairo);
    cairo_destroy(cairo);
    cairo_surface_flush(surface);
    struct png_text texts[] = {{"Software", "loopscope " VERSION}};
    struct picture picture = {
        .pixels = (const uint32_t *)(const void *)cairo_image_surface_get_data(surface),
        .row_pixels = (size_t)cairo_image_surface_get_stride(surface) / sizeof(uint32_t),
        .width = width, .height = height, .dpi = CELL_DPI, .texts = texts, .text_count = 1,
    };
    bool ok = status ? err_set(err, "the picture cannot be drawn: %s", cairo_status_to_string(status)) : png_write(&picture, out, err);
    cairo_surface_destroy(surface);
    return ok;
}
