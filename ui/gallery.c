#include "gallery.h"

#include "figures/export.h"
#include "ground/file.h"
#include "ground/mem.h"

#include <string.h>

static void empty(char ***list, size_t *count)
{
    while (*count) mem_free((*list)[--*count]);
}

static void add(char ***list, size_t *count, size_t *room, const char *path)
{
    for (size_t i = 0; i < *count; i++)
        if (!strcmp((*list)[i], path)) return;
    mem_grow(list, room, *count + 1, sizeof **list);
    (*list)[(*count)++] = mem_text(path);
}

static bool is_figure(const char *name) { return text_ends(name, ".png") || text_ends(name, ".svg") || text_ends(name, ".pdf"); }

void gallery_look(struct gallery *gallery)
{
    char **names;
    size_t count;
    struct err err = {0};
    const char *folder = gallery->folder ? gallery->folder : "figures";
    empty(&gallery->paths, &gallery->count);
    if (file_is_folder(folder) && folder_list(folder, &names, &count, &err)) {
        for (size_t i = 0; i < count; i++) {
            char *path = path_join(folder, names[i]);
            if (is_figure(names[i])) add(&gallery->paths, &gallery->count, &gallery->room, path);
            mem_free(path), mem_free(names[i]);
        }
        mem_free(names);
    }
    for (size_t i = 0; i < gallery->extra_count; i++) add(&gallery->paths, &gallery->count, &gallery->room, gallery->extra[i]);
}

static void forget_table(struct gallery *gallery)
{
    table_free(gallery->table);
    mem_free(gallery->loaded), mem_free(gallery->wrong);
    gallery->table = NULL;
    gallery->loaded = gallery->wrong = NULL;
}

void gallery_add(struct gallery *gallery, const char *path)
{
    add(&gallery->extra, &gallery->extra_count, &gallery->extra_room, path);
    forget_table(gallery); /* it may have been written anew */
    gallery_look(gallery);
}

void gallery_release(struct gallery *gallery)
{
    empty(&gallery->paths, &gallery->count);
    empty(&gallery->extra, &gallery->extra_count);
    mem_free(gallery->paths), mem_free(gallery->extra);
    forget_table(gallery);
    *gallery = (struct gallery){0};
}

static char *table_path(const char *path)
{
    struct text tsv = {0};
    text_add_bytes(&tsv, path, strlen(path) - 4); /* .png, .svg and .pdf are equally long */
    text_add(&tsv, ".tsv");
    return tsv.data;
}

const struct table *gallery_table(struct gallery *gallery, size_t at, const char **wrong)
{
    *wrong = NULL;
    if (at >= gallery->count) return NULL;
    const char *path = gallery->paths[at];
    if (!gallery->loaded || strcmp(gallery->loaded, path) != 0) {
        struct err err = {0};
        char *tsv = table_path(path);
        forget_table(gallery);
        gallery->loaded = mem_text(path);
        gallery->table = table_read(tsv, &err);
        if (!gallery->table) gallery->wrong = mem_text(err.text);
        mem_free(tsv);
    }
    *wrong = gallery->wrong;
    return gallery->table;
}

bool gallery_export(struct gallery *gallery, size_t at, const struct figure_options *options, const char *path, struct text *line, struct err *err)
{
    const char *wrong;
    const struct table *table = gallery_table(gallery, at, &wrong);
    if (!table) return err_set(err, "%s", wrong ? wrong : "there is no figure");
    char *tsv = table_path(gallery->paths[at]);
    struct figure_options with = *options;
    with.source = tsv;
    bool ok = figure_export(table, &with, path, err);
    text_add(line, "plot ");
    text_add_quoted(line, tsv);
    text_add(line, " -o ");
    text_add_quoted(line, path);
    text_add(line, " --size %gx%g --dpi %g", options->width, options->height, options->dpi);
    mem_free(tsv);
    if (ok) gallery_add(gallery, path);
    return ok;
}
