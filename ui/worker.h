/* The one thread that runs commands, so that the screen never waits for a model.
 *
 *     struct worker *worker = worker_new(session, command_line, err);     (NULL: the system has no pipe or no thread left)
 *     worker_ask(worker, result);                          (its line is queued; the result itself stays the screen's)
 *     poll(... worker_fd(worker) ...);
 *     while ((post = worker_take(worker))) result_take(post->result, post);
 *     worker_free(worker);                                 (stops what runs, waits for it)
 *
 * All functions are for the screen's thread. The lock is held only to move a pointer, never while computing or drawing. The session belongs to the
 * worker from worker_new to worker_free, but for its `stop`.
 */
#ifndef WORKER_H
#define WORKER_H

#include "result.h"

#include "doing/session.h"

/* Runs one command line: command_line, or what a test puts in its place. */
typedef bool command_runner(struct session *session, const char *line, struct sink *sink, struct err *err);

struct worker;

struct worker *worker_new(struct session *session, command_runner *run, struct err *err);
void worker_free(struct worker *worker);

bool worker_end(struct worker *worker, double seconds); /* stops it and waits so long: true, it has ended; the process must end now either way */

void worker_ask(struct worker *worker, struct result *result);  /* behind the others */
bool worker_drop(struct worker *worker, struct result *result); /* takes a waiting one back; false: it runs or has run */
void worker_stop(struct worker *worker, struct result *result); /* asks it to end soon, when it is the one that runs */
bool worker_pause(struct worker *worker, struct result *result, bool on); /* it waits at its next progress, or goes on; false: it does not run */
bool worker_busy(struct worker *worker);                        /* it runs something, or has something to run */
const struct result *worker_running(struct worker *worker);     /* NULL: nothing */

/* Before the next command, the session forgets the model (or data) at path and reads it again. */
void worker_forget(struct worker *worker, const char *path);

int worker_fd(const struct worker *worker);          /* readable while posts wait */
struct post *worker_take(struct worker *worker);     /* the oldest post, to give to result_take; NULL: none */

#endif
