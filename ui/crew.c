#include "crew.h"

#include "ground/mem.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

struct crew {
    struct session *session; /* of the first worker: borrowed */
    command_runner *run;
    struct worker *workers[CREW_MOST];
    struct session *own[CREW_MOST];
    int count, front, ready;
};

static bool add_worker(struct crew *crew, struct session *session, struct err *err)
{
    struct worker *worker = worker_new(session, crew->run, err);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = worker};
    if (!worker) return false;
    if (epoll_ctl(crew->ready, EPOLL_CTL_ADD, worker_fd(worker), &event) != 0) {
        err_set(err, "a worker cannot be listened to: %s", strerror(errno));
        worker_free(worker);
        return false;
    }
    crew->workers[crew->count++] = worker;
    return true;
}

struct crew *crew_new(struct session *session, command_runner *run, struct err *err)
{
    int ready = epoll_create1(EPOLL_CLOEXEC);
    if (ready < 0) return err_set(err, "workers cannot be listened to: %s", strerror(errno)), NULL;
    struct crew *crew = mem_new(sizeof *crew);
    crew->session = session;
    crew->run = run;
    crew->ready = ready;
    if (add_worker(crew, session, err)) return crew;
    crew_free(crew);
    return NULL;
}

void crew_free(struct crew *crew)
{
    if (!crew) return;
    for (int i = 0; i < crew->count; i++) worker_free(crew->workers[i]);
    for (int i = 0; i < crew->count; i++) session_free(crew->own[i]);
    close(crew->ready);
    mem_free(crew);
}

bool crew_end(struct crew *crew, double seconds)
{
    bool all = true;
    for (int i = crew->count; i-- > 0;) all &= worker_end(crew->workers[i], i == crew->front ? seconds : seconds / 4);
    return all;
}

void crew_ask(struct crew *crew, struct result *result) { worker_ask(crew->workers[crew->front], result); }

bool crew_drop(struct crew *crew, struct result *result)
{
    bool dropped = false;
    for (int i = 0; i < crew->count && !dropped; i++) dropped = worker_drop(crew->workers[i], result);
    return dropped;
}

void crew_stop(struct crew *crew, struct result *result)
{
    for (int i = 0; i < crew->count; i++) worker_stop(crew->workers[i], result);
}

bool crew_pause(struct crew *crew, struct result *result, bool on)
{
    if (on && crew_running(crew) == result && !crew_step_back(crew)) return false;
    for (int i = 0; i < crew->count; i++)
        if (worker_pause(crew->workers[i], result, on)) return true;
    return false;
}

void crew_forget(struct crew *crew, const char *path)
{
    for (int i = 0; i < crew->count; i++) worker_forget(crew->workers[i], path);
}

const struct result *crew_running(const struct crew *crew) { return worker_running(crew->workers[crew->front]); }

bool crew_step_back(struct crew *crew)
{
    int free = -1;
    for (int i = 0; i < crew->count; i++)
        if (i != crew->front && !worker_busy(crew->workers[i])) free = i;
    if (free < 0 && crew->count == CREW_MOST) return false;
    if (free < 0) {
        free = crew->count;
        crew->own[free] = session_new(crew->session->threads);
        if (!add_worker(crew, crew->own[free], NULL)) return session_free(crew->own[free]), false;
    }
    crew->front = free;
    return true;
}

int crew_fd(const struct crew *crew) { return crew->ready; }

struct post *crew_take(struct crew *crew)
{
    struct post *post = NULL;
    for (int i = 0; i < crew->count && !post; i++) post = worker_take(crew->workers[i]);
    return post;
}
