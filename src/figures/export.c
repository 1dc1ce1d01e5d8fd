#include "figures/export.h"

#include "figures/canvas.h"
#include "figures/page.h"
#include "ground/file.h"
#include "ground/hash.h"
#include "ground/mem.h"

#include <string.h>
#include <sys/stat.h>

static const char software[] = "loopscope " VERSION;

static bool find_format(const char *path, enum page_format *format, struct err *err)
{
    static const struct { const char *ending; enum page_format format; } formats[] = {{".png", PAGE_PNG}, {".svg", PAGE_SVG}, {".pdf", PAGE_PDF}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (text_ends(path_base(path), formats[i].ending) && strlen(path_base(path)) > 4) return *format = formats[i].format, true;
    err_set(err, "%s: the ending says no format that figures are written in: NAME.png, NAME.svg or NAME.pdf would be right", text_show(path));
    return err_usage(err);
}

static bool set_page(struct page *page, const struct figure_options *options, struct err *err)
{
    page->width = options->width > 0 ? options->width : 3.4;
    page->height = options->height > 0 ? options->height : 2.55;
    page->dpi = options->dpi > 0 ? options->dpi : 300;
    if (page->width < 0.5 || page->height < 0.5 || page->width > 40 || page->height > 40)
        return err_set(err, "a figure of %.6gx%.6g in: each side must be 0.5 to 40 inches", page->width, page->height);
    if (page->format == PAGE_PNG && fmax(page->width, page->height) * page->dpi > 20000)
        return err_set(err, "a figure of %.6gx%.6g in at %.6g dpi is more than 20000 pixels long: choose fewer dpi", page->width,
                       page->height, page->dpi);
    return true;
}

static char *beside(const char *path, const char *ending)
{
    struct text name = {0};
    text_add_bytes(&name, path, strlen(path) - 4);
    text_add(&name, "%s", ending);
    return name.data;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, two;
    return a && b && !stat(a, &one) && !stat(b, &two) && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

/* A file of that name may be there only when an earlier export wrote it. */
static bool check_ours(const char *path, const char *mark, const char *figure, struct err *err)
{
    if (!file_exists(path)) return true;
    char *content = file_read(path, 1 << 30, NULL, err);
    if (!content) return false;
    bool ours = strstr(content, mark) != NULL;
    mem_free(content);
    return ours || err_set(err, "%s: stands beside %s and was not written by loopscope: choose another name for the figure", text_show(path),
                           text_show(path_base(figure)));
}

struct export {
    const struct table *table;
    const struct figure_options *options;
    struct figure *figure;
    struct page page;
    struct png_text *texts;
    size_t count, room;
    char *command;         /* of the table, or the plotting of it */
    char hash[HASH_HEX];   /* of the table as TSV */
    struct text tsv;
};

static void add_text(struct export *e, const char *key, const char *value)
{
    mem_grow(&e->texts, &e->room, e->count + 1, sizeof *e->texts);
    e->texts[e->count++] = (struct png_text){key, value};
}

static void collect_texts(struct export *e)
{
    const char *command = table_fact_get(e->table, "command");
    struct text line = {0};
    if (command) text_add(&line, "%s", command);
    else {
        text_add(&line, "plot ");
        text_add_quoted(&line, e->options->source ? e->options->source : e->table->name);
    }
    e->command = line.data;
    add_text(e, "Software", software);
    add_text(e, "Command", e->command);
    for (size_t i = 0; i < e->table->fact_count; i++)
        if (strcmp(e->table->facts[i].key, "command")) add_text(e, e->table->facts[i].key, e->table->facts[i].value);
    add_text(e, "Table-SHA-256", e->hash);
    add_text(e, "Description", e->figure->caption);
    e->page.texts = e->texts;
    e->page.text_count = e->count;
}

static void make_notes(const struct export *e, struct text *out)
{
    text_add(out, "%s\n\n", e->figure->caption);
    for (size_t i = 0; i + 1 < e->count; i++) text_add(out, "%s: %s\n", e->texts[i].key, e->texts[i].value); /* the last is the caption */
}

static bool export_start(struct export *e, const struct table *table, const struct figure_options *options, struct err *err)
{
    static const struct figure_options none = {0};
    e->table = table;
    e->options = options ? options : &none;
    if (!set_page(&e->page, e->options, err)) return false;
    e->figure = figure_from(table, e->options, err);
    if (!e->figure) return false;
    if (!figure_empty(e->figure)) return true;
    return err_set(err, "%s: nothing to draw: %s", text_show(table->name),
                   table->row_count ? "no row has both numbers of a point (all are NaN or missing)" : "the table has no rows");
}

static void export_end(struct export *e)
{
    figure_free(e->figure);
    text_clear(&e->tsv);
    mem_free(e->texts);
    mem_free(e->command);
}

static bool export_write(struct export *e, const char *path, const char *tsv, const char *txt, struct err *err)
{
    bool keep = is_same_file(tsv, e->options->source); /* the table is there already, perhaps with remarks of its own */
    struct text image = {0}, notes = {0};
    if (is_same_file(path, e->options->source) || is_same_file(txt, e->options->source))
        return err_set(err, "%s: this would overwrite the table: choose another name for the figure", text_show(e->options->source));
    if (!keep && !check_ours(tsv, "# table: ", path, err)) return false;
    if (!check_ours(txt, software, path, err)) return false;
    table_tsv(e->table, &e->tsv);
    hash_bytes(e->hash, e->tsv.data, e->tsv.size);
    collect_texts(e);
    make_notes(e, &notes);
    bool ok = page_draw(&e->page, e->figure, &image, NULL, err) && file_write(path, image.data, image.size, err) &&
              (keep || file_write(tsv, e->tsv.data, e->tsv.size, err)) && file_write(txt, notes.data, notes.size, err);
    text_clear(&image);
    text_clear(&notes);
    return ok;
}

bool figure_export(const struct table *table, const struct figure_options *options, const char *path, struct err *err)
{
    struct export e = {0};
    if (!find_format(path, &e.page.format, err)) return false;
    char *tsv = beside(path, ".tsv"), *txt = beside(path, ".txt");
    bool ok = export_start(&e, table, options, err) && export_write(&e, path, tsv, txt, err);
    export_end(&e);
    mem_free(tsv);
    mem_free(txt);
    return ok;
}

bool figure_may_export(const char *path, struct err *err)
{
    enum page_format format;
    if (!find_format(path, &format, err) || !file_may_write(path, err)) return false;
    char *tsv = beside(path, ".tsv"), *txt = beside(path, ".txt");
    bool ok = check_ours(tsv, "# table: ", path, err) && check_ours(txt, software, path, err);
    mem_free(tsv);
    mem_free(txt);
    return ok;
}

struct table *figure_layout(const struct table *table, const struct figure_options *options, struct err *err)
{
    struct export e = {.page = {.format = PAGE_PNG}};
    struct text image = {0};
    struct table *boxes = boxes_new();
    if (!export_start(&e, table, options, err) || !page_draw(&e.page, e.figure, &image, boxes, err)) {
        table_free(boxes);
        boxes = NULL;
    }
    text_clear(&image);
    export_end(&e);
    return boxes;
}
