#include "doing/spec.h"

#include "ground/file.h"
#include "ground/mem.h"
#include "ground/text.h"
#include "learning/dataset.h"
#include "registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

char *spec_value(const char *text, const char *key)
{
    size_t size = strlen(key);
    for (const char *line = text; *line;) {
        const char *end = line + strcspn(line, "\n"), *s = line + strspn(line, " \t");
        if (!strncmp(s, key, size) && strchr(" \t=", s[size])) {
            s += size;
            s += strspn(s, " \t");
            if (*s == '=') s++;
            s += strspn(s, " \t");
            const char *stop = s + strcspn(s, "#\r\n");
            while (stop > s && strchr(" \t", stop[-1])) stop--;
            struct text value = {0};
            text_add_bytes(&value, s, (size_t)(stop - s));
            return value.data;
        }
        line = *end ? end + 1 : end;
    }
    return NULL;
}

static bool make_from_line(const char *line, const char *folder, struct sink *sink, struct err *err)
{
    char **words;
    size_t count;
    struct args args = {0};
    if (!words_split(line, &words, &count, err)) return false;
    const struct generator *generator = NULL;
    for (size_t i = 0; count > 0 && generators[i]; i++)
        if (!strcmp(generators[i]->name, words[0])) generator = generators[i];
    bool ok = generator || err_set(err, "'data %s' is no command that makes a dataset", text_show(line));
    ok = ok && args_parse(&args, generator->options, count - 1, words + 1, err) && generator_make(generator, &args, folder, sink, err);
    args_clear(&args);
    words_free(words, count);
    return ok;
}

static struct dataset *open_with_hash(const char *folder, const char *hash, struct sink *sink, struct err *err)
{
    struct dataset *data = dataset_open(folder, sink, err);
    if (!data || !hash || !strcmp(data->hash, hash)) return data;
    err_set(err, "%s: dataset.json has the hash %s, not %s: this is not the set that its spec describes", text_show(folder), data->hash,
            text_show(hash));
    dataset_free(data);
    return NULL;
}

struct wanted { const char *name, *line, *hash; };

/* Nothing there, or what another version made: made anew. *there: it could be written. */
static struct dataset *open_or_make(const struct wanted *set, const char *folder, const char *why, bool *there, struct sink *sink, struct err *err)
{
    struct dataset *data = open_with_hash(folder, set->hash, NULL, NULL);
    *there = data || make_from_line(set->line, folder, sink, err);
    if (data || !*there) return data;
    if ((data = open_with_hash(folder, set->hash, sink, err)))
        sink_note(sink, "%sthe dataset %s did not exist yet and was made in %s (data %s)", why, set->name, folder, set->line);
    return data;
}

static char *place(char *folder, const char *name)
{
    char *path = folder ? path_join(folder, name) : NULL;
    mem_free(folder);
    return path;
}

/* In the cache, or where that cannot be written, among the temporary files. */
static struct dataset *open_somewhere(const struct wanted *set, struct sink *sink, struct err *err)
{
    char *cache = place(file_cache("datasets"), set->name), *spare = place(file_spare("datasets"), set->name);
    struct err first = {0}, second = {0};
    struct text why = {0};
    bool there = false;
    struct dataset *data = cache ? open_or_make(set, cache, "", &there, sink, &first) : NULL;
    if (!cache) err_set(&first, "there is no folder for what is made when it is needed: XDG_CACHE_HOME may name one");
    text_add(&why, "%s: so ", first.text);
    bool go_on = !there && !first.stopped;
    if (go_on && spare) data = open_or_make(set, spare, why.data, &there, sink, &second);
    if (!data && err) *err = second.stopped ? second : first;
    if (!data && go_on && cache && !second.stopped)
        err_add(err, " (the dataset %s is made in %s when it is needed: XDG_CACHE_HOME may name another place)", set->name, cache);
    text_clear(&why);
    mem_free(cache), mem_free(spare);
    return data;
}

struct dataset *spec_open(const char *path, const char *name, struct sink *sink, struct err *err)
{
    char *text = file_read(path, 1 << 16, NULL, err);
    char *line = text ? spec_value(text, "data") : NULL, *hash = text ? spec_value(text, "sha256") : NULL;
    struct dataset *data = NULL;
    if (text && !line) err_set(err, "%s: no line 'data ...' that says how the set is made", text_show(path));
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; /* sessions on several threads may want the same set at once: one of them makes it */
    pthread_mutex_lock(&making);
    if (line && !(data = open_somewhere(&(struct wanted){name, line, hash}, sink, err))) err_in(err, "%s", text_show(path));
    pthread_mutex_unlock(&making);
    mem_free(text), mem_free(line), mem_free(hash);
    return data;
}
