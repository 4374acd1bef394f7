/** Several pieces of work at a time, over a list that need not fit in memory. */

const AT_ONCE = 8;

/**
 * Runs `work` on each item, several at a time. The first failure stops the taking of items; when what is under way has
 * ended, it is thrown.
 */
export async function runInFlight<T>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<void>,
  atOnce = AT_ONCE,
): Promise<void> {
  const running = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;
  for await (const item of items) {
    const task: Promise<void> = work(item).catch((error) => {
      failure ??= { error };
    }).finally(() => running.delete(task));
    running.add(task);
    if (running.size >= atOnce) await Promise.race(running);
    if (failure) break;
  }
  await Promise.all(running);
  if (failure) throw failure.error;
}

/** Runs `work` on each item, several at a time, and yields what it returns in the order of the items. */
export async function* inOrder<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<R>,
  atOnce = AT_ONCE,
): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  try {
    for await (const item of items) {
      const task = work(item);
      // A failure is thrown when its turn comes.
      task.catch(() => {});
      running.push(task);
      if (running.length >= atOnce) yield await running.shift()!;
    }
    while (running.length > 0) yield await running.shift()!;
  } finally {
    await Promise.allSettled(running);
  }
}
