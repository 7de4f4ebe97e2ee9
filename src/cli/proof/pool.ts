/** Work that is shared out among threads, as many as the machine has cores or as were asked for. */

import { parentPort, Worker } from 'node:worker_threads'

/**
 * Has threads take tasks one by one until there are none.
 *
 * @param script a module that calls `work`
 * @param tasks asked for the next when a thread is free, so it may end whenever it likes
 * @param after hears of each result, in the order in which they come
 * @throws what a task threw
 */
export async function shareOut<Task, Result>(
  script: URL,
  tasks: Iterator<Task>,
  threads: number,
  after: (result: Result) => void,
): Promise<void> {
  // Copies of states live for a moment: with little room for the young, most time is collecting.
  const resourceLimits = { maxYoungGenerationSizeMb: 256, maxOldGenerationSizeMb: 8_192 }
  const workers = Array.from({ length: threads }, () => new Worker(script, { resourceLimits }))
  try {
    await Promise.all(workers.map((worker) => employ(worker, tasks, after)))
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}

function employ<Task, Result>(
  worker: Worker,
  tasks: Iterator<Task>,
  after: (result: Result) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = (): void => {
      const turn = tasks.next()
      if (turn.done) resolve()
      else worker.postMessage(turn.value)
    }
    worker.on('message', (result: Result) => {
      try {
        after(result)
        next()
      } catch (error) {
        reject(error as Error)
      }
    })
    worker.once('error', reject)
    next()
  })
}

/** What a thread of `shareOut` does with each task. */
export function work<Task, Result>(perform: (task: Task) => Result | Promise<Result>): void {
  const port = parentPort!
  port.on('message', (task: Task) => {
    // What it throws ends the thread, and so reaches who asked.
    void Promise.resolve(perform(task)).then((result) => port.postMessage(result))
  })
}
