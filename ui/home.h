/* Where the program may keep things of its user: the XDG folders.
 *
 *     char *path = home_path(HOME_STATE, "log");          ("/home/me/.local/state/loopscope/log", to free; NULL: there is no home)
 */
#ifndef HOME_H
#define HOME_H

enum home { HOME_CONFIG, HOME_STATE };
char *home_path(enum home home, const char *name);

#endif
