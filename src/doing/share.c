#include "doing/share.h"

#include "ground/file.h"
#include "ground/mem.h"
#include "ground/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool holds_both(const char *folder)
{
    char *models = path_join(folder, "models"), *datasets = path_join(folder, "datasets");
    bool ok = file_is_folder(models) && file_is_folder(datasets);
    mem_free(models);
    mem_free(datasets);
    return ok;
}

/* The working folder, the program's own folder or the one above it (a checkout builds into build/), or where make install puts things. */
char *share_folder(void)
{
    if (holds_both(".")) return mem_text(".");
    char exe[4096], *found = NULL;
    ssize_t size = readlink("/proc/self/exe", exe, sizeof exe - 1);
    for (int up = 0; size > 0 && up < 2 && !found; up++) {
        exe[size] = 0;
        char *slash = strrchr(exe, '/');
        size = slash ? slash - exe : 0;
        exe[size] = 0;
        char *installed = path_join(exe, "share/loopscope");
        if (holds_both(exe)) found = mem_text(exe);
        else if (holds_both(installed)) found = mem_text(installed);
        mem_free(installed);
    }
    return found ? found : mem_text(PREFIX "/share/loopscope");
}

/* share/KIND/NAME, or NULL when there is no such thing. */
static char *below(const char *folder, const char *kind, const char *name)
{
    struct text path = {0};
    if (!strcmp(folder, ".")) text_add(&path, "%s/%s", kind, name);
    else text_add(&path, "%s/%s/%s", folder, kind, name);
    if (file_exists(path.data)) return path.data;
    text_clear(&path);
    return NULL;
}

char *share_find(const char *share, const char *kind, const char *name)
{
    if (file_is_folder(name)) return mem_text(name);
    char *found = *name != '/' ? below(".", kind, name) : NULL;
    if (!found && *name != '/') found = below(share, kind, name);
    if (!found && *name != '/') { /* "models/vanilla" means the bundled one anywhere */
        char *path = path_join(share, name);
        if (file_exists(path)) return path;
        mem_free(path);
    }
    return found || !file_exists(name) ? found : mem_text(name);
}

static void name_add(struct share_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->names[i], name)) return;
    mem_grow(&list->names, &list->room, list->count + 1, sizeof *list->names);
    list->names[list->count++] = mem_text(name);
}

void share_list_free(struct share_list *list)
{
    for (size_t i = 0; i < list->count; i++) mem_free(list->names[i]);
    mem_free(list->names);
}

static const char *name_at(const void *list, size_t i)
{
    const struct share_list *names = list;
    return i < names->count ? path_base(names->names[i]) : NULL;
}

/* Entries of folder/kind that hold `mark`, and with an ending the files that end so; a missing folder has none. */
static void add_folder(struct share_list *list, const char *folder, const char *kind, const char *mark, const char *ending)
{
    char **names, *parent = strcmp(folder, ".") ? path_join(folder, kind) : mem_text(kind);
    size_t count = 0;
    if (!folder_list(parent, &names, &count, NULL)) count = 0, names = NULL;
    for (size_t i = 0; i < count; i++) {
        char *path = path_join(parent, names[i]), *file = path_join(path, mark);
        if (file_exists(file)) name_add(list, path);
        size_t size = strlen(path);
        if (ending && text_ends(path, ending)) path[size - strlen(ending)] = 0, name_add(list, path);
        mem_free(path);
        mem_free(file);
        mem_free(names[i]);
    }
    mem_free(names);
    mem_free(parent);
}

static int by_path(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

struct share_list share_list(const char *share, const char *kind, const char *mark, const char *ending)
{
    struct share_list list = {0};
    add_folder(&list, share, kind, mark, ending);
    if (strcmp(share, ".")) add_folder(&list, ".", kind, mark, ending);
    if (list.count) qsort(list.names, list.count, sizeof *list.names, by_path);
    return list;
}

const char *share_name(const struct share_list *list, size_t i)
{
    const char *name = path_base(list->names[i]);
    for (size_t before = 0; before < i; before++)
        if (!strcmp(path_base(list->names[before]), name)) return NULL;
    return name;
}

bool share_missing(const struct share_list *list, const char *path, const char *what, struct err *err)
{
    const char *near = text_nearest(path_base(path), name_at, list);
    err_set(err, "%s: no such %s", text_show(path), what);
    if (near) err_add(err, ": did you mean %s?", near);
    err_add(err, near ? " Bundled:" : ": give a folder, or one of the bundled");
    for (size_t i = 0; i < list->count; i++)
        if (share_name(list, i)) err_add(err, "%s %s", i ? "," : "", share_name(list, i));
    if (!list->count) err_add(err, " (none here)");
    return false;
}
