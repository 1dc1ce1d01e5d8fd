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

/* Where a set that is made on demand is kept: in the cache, or where that cannot be written, among the temporary files. */
enum { PLACES = 2 };

static char *place(int i, const char *name)
{
    char *folder = i ? file_spare("datasets") : file_cache("datasets"), *path = folder ? path_join(folder, name) : NULL;
    mem_free(folder);
    return path;
}

static struct dataset *make_in(const char *folder, const char *line, const char *hash, struct sink *sink, struct err *err)
{
    return make_from_line(line, folder, sink, err) ? open_with_hash(folder, hash, sink, err) : NULL;
}

static struct dataset *make(char *const *places, const char *name, const char *line, const char *hash, struct sink *sink, struct err *err)
{
    struct err first = {0};
    struct dataset *data = places[0] ? make_in(places[0], line, hash, sink, &first) : NULL;
    if (data) {
        sink_note(sink, "the dataset %s did not exist yet and was made in %s (data %s)", name, places[0], line);
        return data;
    }
    if (!places[0]) err_set(&first, "%s is made when it is needed, and there is no place for it: XDG_CACHE_HOME may name one", name);
    data = places[1] && !first.stopped ? make_in(places[1], line, hash, sink, NULL) : NULL;
    if (data) sink_note(sink, "%s: so the dataset %s was made in %s (data %s)", first.text, name, places[1], line);
    else if (err) *err = first;
    if (!data && places[0]) err_add(err, " (the dataset %s is made in %s when it is needed: XDG_CACHE_HOME may name another place)", name, places[0]);
    return data;
}

struct dataset *spec_open(const char *path, const char *name, struct sink *sink, struct err *err)
{
    char *text = file_read(path, 1 << 16, NULL, err);
    char *line = text ? spec_value(text, "data") : NULL, *hash = text ? spec_value(text, "sha256") : NULL;
    char *places[PLACES] = {place(0, name), place(1, name)};
    struct dataset *data = NULL;
    if (text && !line) err_set(err, "%s: no line 'data ...' that says how the set is made", text_show(path));
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; /* sessions on several threads may want the same set at once: one of them makes it */
    pthread_mutex_lock(&making);
    for (int i = 0; line && !data && i < PLACES; i++) /* nothing there, or of another version: made anew */
        if (places[i]) data = open_with_hash(places[i], hash, NULL, NULL);
    if (line && !data && !(data = make(places, name, line, hash, sink, err))) err_in(err, "%s", text_show(path));
    pthread_mutex_unlock(&making);
    mem_free(text), mem_free(line), mem_free(hash);
    for (int i = 0; i < PLACES; i++) mem_free(places[i]);
    return data;
}
