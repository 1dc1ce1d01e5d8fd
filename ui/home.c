#include "home.h"

#include "ground/text.h"

#include <stdlib.h>

char *home_path(enum home home, const char *name)
{
    static const struct { const char *variable, *folder; } homes[] = {
        [HOME_CONFIG] = {"XDG_CONFIG_HOME", ".config"}, [HOME_STATE] = {"XDG_STATE_HOME", ".local/state"},
    };
    const char *set = getenv(homes[home].variable), *own = getenv("HOME");
    struct text path = {0};
    if (set && *set == '/') text_add(&path, "%s/loopscope/%s", set, name); /* the rules ask for an absolute path */
    else if (own && *own == '/') text_add(&path, "%s/%s/loopscope/%s", own, homes[home].folder, name);
    return path.data;
}
