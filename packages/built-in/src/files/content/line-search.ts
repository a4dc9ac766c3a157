import { Worker } from 'node:worker_threads'

import { type LineMatches, type LinePattern, matchLines } from './match-lines.ts'

const MEMORY_LIMIT_MB = 64

/** The program of the thread. It is a text because a bundled library cannot find its files. */
const SCRIPT = `
const { parentPort, workerData } = require('node:worker_threads')
const matchLines = ${matchLines.toString()}
parentPort.on('message', (content) => parentPort.postMessage(matchLines(workerData, content)))`

/**
 * Finds lines in one file after another. What may take long, a regular expression or a comparison in any case, runs in a
 * thread, which is ended at its limit.
 */
export class LineSearch implements AsyncDisposable {
  readonly #pattern: LinePattern
  readonly #limitMs: number
  #thread: Worker | undefined

  constructor(pattern: LinePattern, limitMs: number) {
    checkPattern(pattern)
    this.#pattern = pattern
    this.#limitMs = limitMs
  }

  async find(content: string, signal: AbortSignal): Promise<LineMatches> {
    const { isRegex, ignoreCase } = this.#pattern
    if (!isRegex && !ignoreCase) return matchLines(this.#pattern, content)
    this.#thread ??= this.#start()
    return askThread(this.#thread, content, this.#limitMs, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.terminate()
  }

  #start(): Worker {
    const thread = new Worker(SCRIPT, {
      eval: true,
      env: {},
      execArgv: [],
      workerData: this.#pattern,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB },
    })
    // One that ends when nobody waits for it must not end the process.
    return thread.on('error', () => undefined)
  }
}

/** An expression is compiled without being run, which takes time in proportion to its length. */
function checkPattern({ text, isRegex }: LinePattern): void {
  if (!isRegex) return
  try {
    void new RegExp(text, 'u')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const remedy = 'correct it, or leave out regex to search for literal text'
    throw new Error(`text: ${reason}; ${remedy}`, { cause: error })
  }
}

/** The search fails as a whole: the thread is ended with it. */
async function askThread(
  thread: Worker,
  content: string,
  limitMs: number,
  signal: AbortSignal,
): Promise<LineMatches> {
  const answer = Promise.withResolvers<LineMatches>()
  const slow = new Error(`text: comparing one file takes more than ${limitMs} ms; make it simpler`)
  const timer = setTimeout(() => answer.reject(slow), limitMs)
  const stop = (): void => answer.reject(signal.reason)
  const end = (): void =>
    answer.reject(new Error('text: the regular expression takes too much memory'))
  thread.once('message', answer.resolve).once('error', end).once('exit', end)
  signal.addEventListener('abort', stop)
  try {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the target is a thread, not a window
    thread.postMessage(content)
    return await answer.promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    thread.off('message', answer.resolve).off('error', end).off('exit', end)
  }
}
