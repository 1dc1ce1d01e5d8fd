#include "worker.h"

#include "ground/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct request {
    struct request *next;
    struct result *result; /* never looked into here: only handed back in posts */
    char *line;
    bool forget;           /* line is a path to forget */
};

struct worker {
    struct session *session;
    command_runner *run;
    pthread_t thread;
    int pipe[2];

    pthread_mutex_t lock;
    pthread_cond_t asked, let_on;
    struct request *first_request, **last_request;
    struct post *first_post, **last_post;
    struct result *running;
    bool stop, pause, end;
};

static void request_free(struct request *request)
{
    mem_free(request->line);
    mem_free(request);
}

/* One byte wakes the screen; it is written only when the list was empty, so the pipe can never fill. */
static void give(void *to, struct post *post)
{
    struct worker *worker = to;
    pthread_mutex_lock(&worker->lock);
    post->result = worker->running;
    bool wake = !worker->first_post;
    *worker->last_post = post;
    worker->last_post = &post->next;
    pthread_mutex_unlock(&worker->lock);
    if (wake && write(worker->pipe[1], "", 1) < 0) return; /* full means: it is awake already */
}

static bool go_on(void *to)
{
    struct worker *worker = to;
    pthread_mutex_lock(&worker->lock);
    while (worker->pause && !worker->stop) pthread_cond_wait(&worker->let_on, &worker->lock);
    bool stop = worker->stop;
    pthread_mutex_unlock(&worker->lock);
    return !stop;
}

static struct request *next_request(struct worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->running = NULL;
    while (!worker->first_request && !worker->end) pthread_cond_wait(&worker->asked, &worker->lock);
    struct request *request = worker->end ? NULL : worker->first_request;
    if (request) {
        worker->first_request = request->next;
        if (!worker->first_request) worker->last_request = &worker->first_request;
        worker->running = request->result;
        worker->stop = worker->pause = false;
        worker->session->stop = false;
    }
    pthread_mutex_unlock(&worker->lock);
    return request;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct request *request;
    while ((request = next_request(worker))) {
        if (request->forget) session_forget(worker->session, request->line);
        else {
            struct err err = {0};
            struct feed feed;
            feed_start(&feed, give, go_on, worker);
            feed_end(&feed, worker->run(worker->session, request->line, &feed.sink, &err), &err);
        }
        request_free(request);
    }
    return NULL;
}

static void release(struct worker *worker)
{
    close(worker->pipe[0]), close(worker->pipe[1]);
    pthread_cond_destroy(&worker->asked);
    pthread_cond_destroy(&worker->let_on);
    pthread_mutex_destroy(&worker->lock);
    mem_free(worker);
}

struct worker *worker_new(struct session *session, command_runner *run, struct err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return err_set(err, "no pipe for a worker: %s", strerror(errno)), NULL;
    struct worker *worker = mem_new(sizeof *worker);
    memcpy(worker->pipe, ends, sizeof ends);
    worker->session = session;
    worker->run = run;
    worker->last_request = &worker->first_request;
    worker->last_post = &worker->first_post;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->asked, NULL);
    pthread_cond_init(&worker->let_on, NULL);

    /* Signals are the screen's business: the worker, and the threads that computing starts from it, take none. */
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV), sigdelset(&all, SIGBUS), sigdelset(&all, SIGFPE), sigdelset(&all, SIGILL), sigdelset(&all, SIGABRT);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int wrong = pthread_create(&worker->thread, NULL, work, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!wrong) return worker;
    err_set(err, "no thread for a worker: %s", strerror(wrong));
    release(worker);
    return NULL;
}

static void stop_running(struct worker *worker)
{
    worker->stop = true;
    worker->session->stop = true;
    pthread_cond_signal(&worker->let_on);
}

static void ask_to_end(struct worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->end = true;
    stop_running(worker);
    pthread_cond_signal(&worker->asked);
    pthread_mutex_unlock(&worker->lock);
}

bool worker_end(struct worker *worker, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)seconds;
    ask_to_end(worker);
    return pthread_timedjoin_np(worker->thread, NULL, &until) == 0;
}

void worker_free(struct worker *worker)
{
    if (!worker) return;
    ask_to_end(worker);
    pthread_join(worker->thread, NULL);

    for (struct request *next, *r = worker->first_request; r; r = next) next = r->next, request_free(r);
    for (struct post *next, *p = worker->first_post; p; p = next) next = p->next, post_free(p);
    worker->session->stop = false;
    release(worker);
}

static void add(struct worker *worker, struct request *request)
{
    pthread_mutex_lock(&worker->lock);
    *worker->last_request = request;
    worker->last_request = &request->next;
    pthread_cond_signal(&worker->asked);
    pthread_mutex_unlock(&worker->lock);
}

void worker_ask(struct worker *worker, struct result *result)
{
    struct request *request = mem_new(sizeof *request);
    request->result = result;
    request->line = mem_text(result->line);
    add(worker, request);
}

void worker_forget(struct worker *worker, const char *path)
{
    struct request *request = mem_new(sizeof *request);
    request->line = mem_text(path);
    request->forget = true;
    add(worker, request);
}

bool worker_drop(struct worker *worker, struct result *result)
{
    struct request *found = NULL;
    pthread_mutex_lock(&worker->lock);
    for (struct request **at = &worker->first_request; *at; at = &(*at)->next)
        if ((*at)->result == result) {
            found = *at;
            *at = found->next;
            if (!*at) worker->last_request = at;
            break;
        }
    pthread_mutex_unlock(&worker->lock);
    if (found) request_free(found);
    return found;
}

void worker_stop(struct worker *worker, struct result *result)
{
    pthread_mutex_lock(&worker->lock);
    if (worker->running == result) stop_running(worker);
    pthread_mutex_unlock(&worker->lock);
}

bool worker_pause(struct worker *worker, struct result *result, bool on)
{
    pthread_mutex_lock(&worker->lock);
    bool here = worker->running == result;
    if (here) worker->pause = on;
    if (here && !on) pthread_cond_signal(&worker->let_on);
    pthread_mutex_unlock(&worker->lock);
    return here;
}

bool worker_busy(struct worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    bool busy = worker->running || worker->first_request;
    pthread_mutex_unlock(&worker->lock);
    return busy;
}

const struct result *worker_running(struct worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    const struct result *running = worker->running;
    pthread_mutex_unlock(&worker->lock);
    return running;
}

int worker_fd(const struct worker *worker) { return worker->pipe[0]; }

struct post *worker_take(struct worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    struct post *post = worker->first_post;
    if (post) {
        worker->first_post = post->next;
        if (!worker->first_post) worker->last_post = &worker->first_post;
    }
    char byte[16];
    if (!worker->first_post)
        while (read(worker->pipe[0], byte, sizeof byte) > 0) continue;
    pthread_mutex_unlock(&worker->lock);
    if (post) post->next = NULL;
    return post;
}
