#include "numbers/pool.h"

#include "ground/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct pool {
    int threads;            /* with the caller */
    pthread_t *others;
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    unsigned long round;    /* counts jobs, so that a thread never takes one twice */
    int working;
    bool quit;
    void (*task)(void *, int, int);
    void *job;
    int tasks;
    atomic_int next;
};

struct member { struct pool *pool; int thread; };

static void work(struct pool *pool, int thread)
{
    for (int i; (i = atomic_fetch_add(&pool->next, 1)) < pool->tasks;) pool->task(pool->job, i, thread);
}

static void *member_main(void *argument)
{
    struct member me = *(struct member *)argument;
    struct pool *pool = me.pool;
    unsigned long seen = 0;
    mem_free(argument);
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->quit && pool->round == seen) pthread_cond_wait(&pool->start, &pool->lock);
        if (pool->quit) break;
        seen = pool->round;
        pthread_mutex_unlock(&pool->lock);
        work(pool, me.thread);
        pthread_mutex_lock(&pool->lock);
        if (!--pool->working) pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

struct pool *pool_new(int threads)
{
    struct pool *pool = mem_new(sizeof *pool);
    pool->threads = threads < 1 ? 1 : threads;
    pool->others = mem_new(sizeof *pool->others * (size_t)pool->threads);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->done, NULL);
    for (int i = 1; i < pool->threads; i++) {
        struct member *member = mem_new(sizeof *member);
        *member = (struct member){pool, i};
        if (pthread_create(&pool->others[i], NULL, member_main, member)) {
            mem_free(member);
            pool->threads = i; /* the system gives no more: work with what there is */
        }
    }
    return pool;
}

void pool_free(struct pool *pool)
{
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 1; i < pool->threads; i++) pthread_join(pool->others[i], NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->start);
    pthread_cond_destroy(&pool->done);
    mem_free(pool->others);
    mem_free(pool);
}

int pool_threads(const struct pool *pool) { return pool->threads; }

void pool_run(struct pool *pool, int tasks, void (*task)(void *, int, int), void *job)
{
    if (pool->threads == 1 || tasks < 2) {
        for (int i = 0; i < tasks; i++) task(job, i, 0);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->job = job;
    pool->tasks = tasks;
    atomic_store(&pool->next, 0);
    pool->working = pool->threads - 1;
    pool->round++;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    work(pool, 0);
    pthread_mutex_lock(&pool->lock);
    while (pool->working) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
