#include "ground/file.h"
#include "ground/json.h"
#include "ground/mem.h"
#include "ground/text.h"
#include "learning/dataset.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every option but --out is written out, so that the text says everything and the same set has the same text. */
static void add_command(const struct generator *generator, const struct args *args, struct text *out)
{
    text_add(out, "data %s", generator->name);
    for (const struct option *o = generator->options; o->name; o++) {
        const char *value = args_text(args, o->name);
        if (!value || !strcmp(o->name, "out")) continue;
        text_add(out, " --%s", o->name);
        if (o->kind == OPTION_FLAG) continue;
        text_add(out, " ");
        if (o->kind == OPTION_INT) text_add(out, "%ld", args_int(args, o->name)); /* 007 is 7 */
        else text_add_quoted(out, value);
    }
}

static bool is_part(const char *name) { return !strcmp(name, "dataset.json") || !strcmp(name, "vocab.json") || text_ends(name, ".jsonl"); }

/* Only what a dataset consists of is ever removed. */
static void remove_set(const char *folder)
{
    char **names;
    size_t count;
    if (!folder_list(folder, &names, &count, NULL)) return;
    for (size_t i = 0; i < count; i++) {
        char *path = path_join(folder, names[i]);
        if (is_part(names[i])) unlink(path);
        mem_free(path);
        mem_free(names[i]);
    }
    mem_free(names);
    rmdir(folder);
}

/* May what stands at the folder be replaced? Only by its like, and only when nothing else lies beside it. */
static bool may_replace(const char *folder, const char *kind, struct err *err)
{
    struct stat info;
    if (lstat(folder, &info)) return errno == ENOENT || err_set(err, "%s: %s", text_show(folder), strerror(errno));
    if (!S_ISDIR(info.st_mode)) return err_set(err, "%s: stands there already and is no folder: give another --out", text_show(folder));
    char **names, *stranger = NULL, *path = path_join(folder, "dataset.json");
    size_t count;
    bool ok = folder_list(folder, &names, &count, err);
    for (size_t i = 0; ok && i < count; i++) {
        if (!is_part(names[i]) && !stranger) stranger = names[i];
        else mem_free(names[i]);
    }
    if (ok) mem_free(names);
    struct json *meta = ok && count && !stranger ? json_read(path, 1 << 20, NULL) : NULL;
    const char *found = json_string(json_get(meta, "kind"));
    if (ok && stranger) ok = err_set(err, "%s: holds more than a dataset (%s): give another --out", text_show(folder), text_show(stranger));
    else if (ok && count && !found) ok = err_set(err, "%s: exists and is no dataset: give another --out", text_show(folder));
    else if (ok && count && strcmp(found, kind))
        ok = err_set(err, "%s: exists and is a dataset of another kind (%s): give another --out", text_show(folder), text_show(found));
    json_free(meta);
    mem_free(stranger);
    mem_free(path);
    return ok;
}

/* The old set, if there is one, steps aside and is removed when the new one stands. */
static bool put_in_place(const char *made, const char *folder, struct err *err)
{
    struct text aside = {0};
    text_add(&aside, "%s.old-%ld", folder, (long)getpid());
    bool was = !rename(folder, aside.data), ok = !rename(made, folder);
    if (!ok) {
        err_set(err, "%s: cannot be put into place: %s", text_show(folder), strerror(errno));
        if (was && rename(aside.data, folder)) err_add(err, "; the older set is now %s", text_show(aside.data));
    } else if (was) {
        remove_set(aside.data);
    }
    text_clear(&aside);
    return ok;
}

bool generator_make(const struct generator *generator, const struct args *args, const char *folder, struct sink *sink, struct err *err)
{
    struct text command = {0}, neighbour = {0};
    char *place = mem_text(folder);
    for (size_t size = strlen(place); size > 1 && place[size - 1] == '/'; size--) place[size - 1] = 0;
    add_command(generator, args, &command);
    text_add(&neighbour, "%s.tmp-%ld", place, (long)getpid());
    bool ok = may_replace(place, generator->name, err) && folder_make(neighbour.data, err);
    if (ok) {
        ok = generator->make(args, neighbour.data, command.data, sink, err) && put_in_place(neighbour.data, place, err);
        if (!ok) remove_set(neighbour.data);
    }
    text_clear(&command);
    text_clear(&neighbour);
    mem_free(place);
    return ok;
}
