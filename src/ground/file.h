/* Files: read whole or mapped, and written so that nothing is ever half there.
 *
 *     struct file_map map;
 *     if (!file_map(&map, path, err)) return false;    ... map.data, map.size ...    file_unmap(&map);
 *
 *     struct file_writer out;
 *     if (!file_begin(&out, path, err)) return false;  (a temporary file beside path, named for this process)
 *     file_put(&out, bytes, size);                     (errors are kept until the end)
 *     return file_commit(&out, err);                   (flush, fsync, rename, fsync the folder; or no file at all)
 */
#ifndef GROUND_FILE_H
#define GROUND_FILE_H

#include "ground/err.h"

#include <stddef.h>
#include <stdio.h>

struct file_map {
    const unsigned char *data; /* never NULL, also when size is 0 */
    size_t size;
    void *mapping;
    struct file_mark {
        long long device, inode, size, modified, changed;
    } mark; /* times in ns: a file that was written or replaced has another mark */
};

/* Refuses what is not a regular file, or only a pointer of Git LFS, by saying what it is. Read only; the pages are shared with other processes. */
bool file_map(struct file_map *map, const char *path, struct err *err);
void file_unmap(struct file_map *map);

/* The whole file with a NUL behind it, to free with mem_free; *size may be NULL. Refuses the same, and more than `most` bytes. */
char *file_read(const char *path, size_t most, size_t *size, struct err *err);

struct file_writer {
    char *path, *temporary;
    FILE *stream;
    int wrong; /* errno of the first failure, 0 so far */
};

bool file_begin(struct file_writer *out, const char *path, struct err *err);
void file_put(struct file_writer *out, const void *bytes, size_t size);
bool file_commit(struct file_writer *out, struct err *err);
void file_abandon(struct file_writer *out); /* removes the temporary file; path stays as it was */

/* begin, put, commit in one. */
bool file_write(const char *path, const void *bytes, size_t size, struct err *err);

/* Could a file of this name be written now? Asked before long work. Leaves nothing behind. */
bool file_may_write(const char *path, struct err *err);

bool file_exists(const char *path);
bool file_is_folder(const char *path);

/* Makes the folder and those above it; fine when it is there. */
bool folder_make(const char *path, struct err *err);

/* Names in a folder, sorted by byte, without "." and ".."; free each and the list. */
bool folder_list(const char *path, char ***names, size_t *count, struct err *err);

/* "$XDG_CACHE_HOME/loopscope/NAME" or "~/.cache/loopscope/NAME", to free; NULL: there is no such place. Not made. */
char *file_cache(const char *name);

/* Where that goes when the cache cannot be written: "$TMPDIR/loopscope-UID/NAME" (or in /tmp), to free; NULL: there stands what others
 * could write to. Not made. */
char *file_spare(const char *name);

/* "folder/name", to free with mem_free; an absolute name stands alone. */
char *path_join(const char *folder, const char *name);
const char *path_base(const char *path); /* behind the last slash */

#endif
