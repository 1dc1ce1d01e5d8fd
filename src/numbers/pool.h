/* Threads: a number of tasks shared among a few threads; the caller works too and returns when all are done.
 *
 *     struct pool *pool = pool_new(2);
 *     pool_run(pool, shards, shard_task, &job);        (calls shard_task(&job, i, thread) for every i < shards, in any order)
 *     pool_free(pool);
 *
 * Which thread takes which task must not matter for the result: a task writes only what belongs to it. `thread` (0 ... threads-1) picks scratch
 * memory.
 */
#ifndef NUMBERS_POOL_H
#define NUMBERS_POOL_H

struct pool;

struct pool *pool_new(int threads);
void pool_free(struct pool *pool);
int pool_threads(const struct pool *pool);
void pool_run(struct pool *pool, int tasks, void (*task)(void *job, int i, int thread), void *job);

#endif
