/* Workers: one for what is on the screen, and others for long work that goes on behind it. Each has a session of its own, so they share nothing.
 *
 *     struct crew *crew = crew_new(session, command_line, err);     (NULL: the system has no worker for it)
 *     crew_ask(crew, result);                 (of the worker in front)
 *     crew_step_back(crew);                   (what runs goes on behind; another worker stands in front)
 *     poll(... crew_fd(crew) ...);
 *     while ((post = crew_take(crew))) result_take(post->result, post);
 *     crew_free(crew);
 */
#ifndef CREW_H
#define CREW_H

#include "worker.h"

enum { CREW_MOST = 4 };

struct crew;

struct crew *crew_new(struct session *session, command_runner *run, struct err *err); /* the session is borrowed, until crew_free */
void crew_free(struct crew *crew);
bool crew_end(struct crew *crew, double seconds); /* as worker_end, for all */

void crew_ask(struct crew *crew, struct result *result);
bool crew_drop(struct crew *crew, struct result *result);
void crew_stop(struct crew *crew, struct result *result);
bool crew_pause(struct crew *crew, struct result *result, bool on); /* false: it does not run, or nobody is left to work while it waits */
void crew_forget(struct crew *crew, const char *path);

const struct result *crew_running(const struct crew *crew); /* what the worker in front runs; NULL: nothing */
bool crew_step_back(struct crew *crew);                     /* false: all workers are busy, or no other can be had; nothing has changed */

int crew_fd(const struct crew *crew);
struct post *crew_take(struct crew *crew);

#endif
