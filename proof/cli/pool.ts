/** Work that is shared out among threads, as many as the machine has cores or as were asked for. */

import { parentPort, type ResourceLimits, Worker } from 'node:worker_threads'

// Copies of states live for a moment: with little room for the young, most time is collecting.
const ROOM: ResourceLimits = { maxYoungGenerationSizeMb: 256, maxOldGenerationSizeMb: 8_192 }

/** How tasks are shared out, where not as most are. */
export interface Sharing<Task> {
  /**
   * Hears of a task whose thread died, as one does that has no memory left; the next task has a
   * fresh thread. Without it the first death ends all.
   */
  lost?: (task: Task, why: Error) => void
  /** What each thread may use, in MB. */
  limits?: ResourceLimits
}

/**
 * Has threads take tasks one by one until there are none.
 *
 * @param script a module that calls `work`
 * @param tasks asked for the next when a thread is free, so it may end whenever it likes
 * @param after hears of each result, in the order in which they come
 * @throws what a task threw, unless there is a `lost` that hears it
 */
export async function shareOut<Task, Result>(
  script: URL,
  tasks: Iterator<Task>,
  threads: number,
  after: (result: Result) => void,
  { lost, limits = ROOM }: Sharing<Task> = {},
): Promise<void> {
  const workers = new Set<Worker>()
  const keepOne = async (): Promise<void> => {
    for (;;) {
      const worker = new Worker(script, { resourceLimits: limits })
      workers.add(worker)
      const death = await employ(worker, tasks, after)
      if (!death) return
      if (!lost) throw death.why
      lost(death.task, death.why)
      // What it held is free before the next begins.
      await worker.terminate()
    }
  }
  try {
    await Promise.all(Array.from({ length: threads }, keepOne))
  } finally {
    await Promise.all([...workers].map((worker) => worker.terminate()))
  }
}

interface Death<Task> {
  task: Task
  why: Error
}

/** @returns null when there are no more tasks, or at which of them the thread died */
function employ<Task, Result>(
  worker: Worker,
  tasks: Iterator<Task>,
  after: (result: Result) => void,
): Promise<Death<Task> | null> {
  return new Promise((resolve, reject) => {
    let task: Task
    const next = (): void => {
      const turn = tasks.next()
      if (turn.done) return resolve(null)
      task = turn.value
      worker.postMessage(task)
    }
    worker.on('message', (result: Result) => {
      try {
        after(result)
        next()
      } catch (error) {
        reject(error as Error)
      }
    })
    worker.once('error', (why) => resolve({ task, why: why as Error }))
    // Of a thread that ends without an error nothing else would be heard.
    worker.once('exit', (code) => {
      resolve({ task, why: new Error(`its thread ended with exit code ${code}`) })
    })
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
