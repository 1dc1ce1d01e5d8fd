/* A screen against the one that was kept: what tests of screens share.
 *
 *     golden_compare("tests/screens", "SCREENS_WRITE", "grid", text);     (with SCREENS_WRITE set, the kept one is written anew)
 */
#ifndef TESTS_GOLDEN_FILE_H
#define TESTS_GOLDEN_FILE_H

#include "ground/file.h"
#include "ground/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void golden_compare(const char *folder, const char *writes, const char *name, const char *got)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s.txt", folder, name);
    struct err err = {0};
    if (getenv(writes)) {
        assert_true(file_write(path, got, strlen(got), &err));
        return;
    }
    char *want = file_read(path, 1 << 20, NULL, &err);
    if (!want) fail_msg("%s", err.text);
    if (strcmp(want, got) != 0) fail_msg("%s differs; the screen is\n%s", path, got);
    mem_free(want);
}

#endif
