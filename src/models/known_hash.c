#include "models/known_hash.h"

#include "ground/file.h"
#include "ground/hash.h"
#include "ground/mem.h"
#include "ground/text.h"
#include "models/tensor_file.h"

#include <string.h>
#include <time.h>

static const size_t large = (size_t)64 << 20;
static const long long settled = 1000000000; /* ns: a file this young could still be written without another time stamp */

/* The path of the set's hash, to free; NULL: not worth it, too young, or no place. */
static char *place(const struct tensor_set *set)
{
    struct text marks = {0};
    struct timespec now;
    size_t bytes = 0;
    bool young = clock_gettime(CLOCK_REALTIME, &now) != 0;
    for (size_t i = 0; i < set->file_count; i++) {
        const struct file_mark *m = &set->files[i].map.mark;
        bytes += set->files[i].map.size;
        young = young || (long long)now.tv_sec * 1000000000 + now.tv_nsec - m->changed < settled;
        text_add(&marks, "%s %lld %lld %lld %lld %lld\n", set->files[i].name, m->device, m->inode, m->size, m->modified, m->changed);
    }
    char name[HASH_HEX], *folder = bytes < large || young ? NULL : file_cache("hashes"), *path = NULL;
    if (folder) {
        hash_bytes(name, marks.data, marks.size);
        path = path_join(folder, name);
    }
    text_clear(&marks);
    mem_free(folder);
    return path;
}

bool known_hash_get(const struct tensor_set *set, char hex[HASH_HEX])
{
    char *path = place(set), *text = path && file_exists(path) ? file_read(path, HASH_HEX, NULL, NULL) : NULL;
    bool good = text && strlen(text) == HASH_HEX - 1 && strspn(text, "0123456789abcdef") == HASH_HEX - 1;
    if (good) memcpy(hex, text, HASH_HEX);
    mem_free(text);
    mem_free(path);
    return good;
}

void known_hash_put(const struct tensor_set *set)
{
    char *path = place(set), *folder = path ? file_cache("hashes") : NULL;
    if (folder && folder_make(folder, NULL)) file_write(path, set->hash, HASH_HEX - 1, NULL);
    mem_free(folder);
    mem_free(path);
}
