import { Worker } from 'node:worker_threads'

export interface PageJob {
  readonly html: string
  /** The base of its links. */
  readonly url: string
  readonly format: 'markdown' | 'text'
}

export interface ConvertedPage {
  readonly title: string
  readonly text: string
}

export interface ConvertLimits {
  /** The time limit for the conversion of one page. */
  readonly convertMs: number
  /** The memory limit for the conversion of one page, besides that of its WebAssembly. */
  readonly convertMb: number
}

/**
 * Converts a page in a thread of its own, which is ended at the limits for time and memory: HTML can make any converter
 * slow. The converter is loaded there, so that the host does not hold it.
 */
export function convertPage(
  job: PageJob,
  { convertMs, convertMb }: ConvertLimits,
  signal: AbortSignal,
): Promise<ConvertedPage> {
  // The build puts the program of the thread beside this one.
  const program = import.meta.url.endsWith('.ts') ? './page-thread.ts' : './page-thread.js'
  const thread = new Worker(new URL(program, import.meta.url), {
    env: {},
    execArgv: [],
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: convertMb },
  })
  const { promise, resolve, reject } = Promise.withResolvers<ConvertedPage>()
  const fail = (reason: string, cause?: unknown): void =>
    reject(
      new Error(`the page cannot be converted, since ${reason}; try the format raw`, { cause }),
    )
  const cancel = (): void => reject(signal.reason)
  const timer = setTimeout(() => fail(`it takes more than ${convertMs} ms`), convertMs)
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel()
  thread.on('message', resolve)
  // Its message may have paths of the machine.
  thread.on('error', (error) => {
    const isTooLarge = Object(error).code === 'ERR_WORKER_OUT_OF_MEMORY'
    fail(isTooLarge ? 'it needs too much memory' : 'its thread has failed', error)
  })
  thread.on('exit', () => fail('its thread has ended'))
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
    void thread.terminate()
  })
}
