#include "ground/file.h"

#include "ground/mem.h"
#include "ground/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What stands in a checkout for a file that git has not fetched yet. */
static bool is_pointer(int fd)
{
    static const char first[] = "version https://git-lfs";
    char start[sizeof first - 1];
    return pread(fd, start, sizeof start, 0) == (ssize_t)sizeof start && !memcmp(start, first, sizeof start);
}

static bool open_regular(const char *path, int *fd, size_t *size, struct file_mark *mark, struct err *err)
{
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 || fstat(*fd, &info)) {
        err_set(err, "%s: %s", text_show(path), strerror(errno));
        if (*fd >= 0) close(*fd);
        return false;
    }
    bool regular = S_ISREG(info.st_mode);
    if (!regular || is_pointer(*fd)) {
        close(*fd);
        if (regular) return err_set(err, "%s: this is a Git LFS pointer, not the file itself: run git lfs pull", text_show(path));
        return err_set(err, "%s: this is %s, not a file", text_show(path), S_ISDIR(info.st_mode) ? "a folder" : "a device or pipe");
    }
    *size = (size_t)info.st_size;
    *mark = (struct file_mark){(long long)info.st_dev, (long long)info.st_ino, (long long)info.st_size,
                               (long long)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec,
                               (long long)info.st_ctim.tv_sec * 1000000000 + info.st_ctim.tv_nsec};
    return true;
}

bool file_map(struct file_map *map, const char *path, struct err *err)
{
    int fd;
    *map = (struct file_map){.data = (const unsigned char *)""};
    if (!open_regular(path, &fd, &map->size, &map->mark, err)) return false;
    if (map->size) {
        map->mapping = mmap(NULL, map->size, PROT_READ, MAP_SHARED, fd, 0);
        if (map->mapping == MAP_FAILED) {
            map->mapping = NULL;
            close(fd);
            return err_set(err, "%s: cannot be mapped: %s", text_show(path), strerror(errno));
        }
        map->data = map->mapping;
    }
    close(fd);
    return true;
}

void file_unmap(struct file_map *map)
{
    if (map->mapping) munmap(map->mapping, map->size);
    *map = (struct file_map){.data = (const unsigned char *)""};
}

char *file_read(const char *path, size_t most, size_t *size, struct err *err)
{
    int fd;
    size_t want = 0, have = 0;
    struct file_mark mark;
    if (!open_regular(path, &fd, &want, &mark, err)) return NULL;
    if (want > most) {
        close(fd);
        err_set(err, "%s: %zu bytes, more than the %zu that make sense here", text_show(path), want, most);
        return NULL;
    }
    char *data = mem_new(want + 1);
    while (have < want) {
        ssize_t n = read(fd, data + have, want - have);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        have += (size_t)n;
    }
    close(fd);
    if (have < want) {
        mem_free(data);
        err_set(err, "%s: could be read only up to byte %zu of %zu", text_show(path), have, want);
        return NULL;
    }
    if (size) *size = have;
    return data;
}

/* Temporary files of processes that are gone are left over from a crash; nobody else will remove them. */
static void sweep_leftovers(const char *path)
{
    struct text folder = {0};
    const char *base = path_base(path);
    text_add_bytes(&folder, path, (size_t)(base - path));
    if (!folder.size) text_add(&folder, ".");
    DIR *dir = opendir(folder.data);
    size_t size = strlen(base);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (strncmp(entry->d_name, base, size) || !text_starts(entry->d_name + size, ".tmp-")) continue;
        long pid = strtol(entry->d_name + size + 5, NULL, 10);
        if (pid > 0 && pid != getpid() && access("/proc/self", F_OK) == 0) {
            struct text proc = {0};
            text_add(&proc, "/proc/%ld", pid);
            if (access(proc.data, F_OK)) unlinkat(dirfd(dir), entry->d_name, 0);
            text_clear(&proc);
        }
    }
    if (dir) closedir(dir);
    text_clear(&folder);
}

bool file_begin(struct file_writer *out, const char *path, struct err *err)
{
    static _Atomic int turn;
    struct text name = {0};
    sweep_leftovers(path);
    text_add(&name, "%s.tmp-%ld-%d", path, (long)getpid(), turn++);
    *out = (struct file_writer){.path = mem_text(path), .temporary = name.data};
    out->stream = fopen(out->temporary, "wbe");
    if (out->stream) return true;
    err_set(err, "%s: cannot be written: %s", text_show(path), strerror(errno));
    mem_free(out->path);
    mem_free(out->temporary);
    return false;
}

void file_put(struct file_writer *out, const void *bytes, size_t size)
{
    if (!out->wrong && size && fwrite(bytes, 1, size, out->stream) != size) out->wrong = errno ? errno : EIO;
}

void file_abandon(struct file_writer *out)
{
    if (out->stream) fclose(out->stream);
    unlink(out->temporary);
    mem_free(out->path);
    mem_free(out->temporary);
    *out = (struct file_writer){0};
}

static int sync_folder(const char *path)
{
    struct text folder = {0};
    text_add_bytes(&folder, path, (size_t)(path_base(path) - path));
    if (!folder.size) text_add(&folder, ".");
    int fd = open(folder.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int wrong = fd < 0 || (fsync(fd) && errno != EINVAL) ? errno : 0; /* EINVAL: this file system has no such thing */
    if (fd >= 0) close(fd);
    text_clear(&folder);
    return wrong;
}

bool file_commit(struct file_writer *out, struct err *err)
{
    if (!out->wrong && fflush(out->stream)) out->wrong = errno;
    if (!out->wrong && fsync(fileno(out->stream)) && errno != EINVAL) out->wrong = errno;
    int closed = fclose(out->stream);
    out->stream = NULL;
    if (!out->wrong && closed) out->wrong = errno;
    if (!out->wrong && rename(out->temporary, out->path)) out->wrong = errno;
    if (!out->wrong) out->wrong = sync_folder(out->path);
    bool ok = !out->wrong;
    if (!ok) err_set(err, "%s: cannot be written: %s", text_show(out->path), strerror(out->wrong));
    file_abandon(out);
    return ok;
}

bool file_write(const char *path, const void *bytes, size_t size, struct err *err)
{
    struct file_writer out;
    if (!file_begin(&out, path, err)) return false;
    file_put(&out, bytes, size);
    return file_commit(&out, err);
}

bool file_may_write(const char *path, struct err *err)
{
    struct file_writer out;
    if (!*path || file_is_folder(path)) return err_set(err, "'%s': this is %s, not a file to write", text_show(path), *path ? "a folder" : "no name");
    if (!file_begin(&out, path, err)) return false;
    file_abandon(&out);
    return true;
}

bool file_exists(const char *path) { return access(path, F_OK) == 0; }

bool file_is_folder(const char *path)
{
    struct stat info;
    return !stat(path, &info) && S_ISDIR(info.st_mode);
}

bool folder_make(const char *path, struct err *err)
{
    char *part = mem_text(path);
    for (char *s = part + 1;; s++) {
        if (*s && *s != '/') continue;
        char end = *s;
        *s = 0;
        int wrong = mkdir(part, 0777) ? errno : 0;
        if (wrong && !file_is_folder(part)) {
            err_set(err, "%s: the folder cannot be made: %s", text_show(part), strerror(wrong));
            mem_free(part);
            return false;
        }
        *s = end;
        if (!end) break;
    }
    mem_free(part);
    return true;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

bool folder_list(const char *path, char ***names, size_t *count, struct err *err)
{
    DIR *dir = opendir(path);
    size_t room = 0;
    *names = NULL;
    *count = 0;
    if (!dir) return err_set(err, "%s: %s", text_show(path), strerror(errno));
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        mem_grow(names, &room, *count + 1, sizeof **names);
        (*names)[(*count)++] = mem_text(entry->d_name);
    }
    closedir(dir);
    if (*count) qsort(*names, *count, sizeof **names, by_name);
    return true;
}

char *file_cache(const char *name)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    struct text path = {0};
    if (cache && *cache == '/') text_add(&path, "%s/loopscope/%s", cache, name);
    else if (home && *home == '/') text_add(&path, "%s/.cache/loopscope/%s", home, name);
    return path.data;
}

char *file_spare(const char *name)
{
    const char *temporary = getenv("TMPDIR");
    struct text path = {0};
    struct stat info;
    text_add(&path, "%s/loopscope-%ld", temporary && *temporary == '/' ? temporary : "/tmp", (long)geteuid());
    bool there = !lstat(path.data, &info), mine = there && S_ISDIR(info.st_mode) && info.st_uid == geteuid() && !(info.st_mode & 022);
    if (mine || !there) text_add(&path, "/%s", name);
    else text_clear(&path);
    return path.data;
}

char *path_join(const char *folder, const char *name)
{
    struct text path = {0};
    if (*name == '/') text_add(&path, "%s", name);
    else text_add(&path, "%s%s%s", folder, *folder && text_ends(folder, "/") ? "" : "/", name);
    return path.data;
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
