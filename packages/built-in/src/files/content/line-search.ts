import { Worker } from 'node:worker_threads'

import { type LineMatches, type LinePattern, matchLines } from './match-lines.ts'

const MEMORY_LIMIT_MB = 64

/** The program of the thread. It is a text because a bundled library cannot find its files. */
const SCRIPT = `
const { parentPort, workerData } = require('node:worker_threads')
const matchLines = ${matchLines.toString()}
parentPort.on('message', (content) => parentPort.postMessage(matchLines(workerData, content)))`

/**
 * Finds lines in one file after another. A regular expression runs in a thread, which is ended when it takes too long; literal
 * text takes time in proportion to the file.
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
    if (!this.#pattern.isRegex) return matchLines(this.#pattern, content)
    this.#thread ??= new Worker(SCRIPT, {
      eval: true,
      env: {},
      execArgv: [],
      workerData: this.#pattern,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB },
    })
    return askThread(this.#thread, content, this.#limitMs, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.terminate()
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
  const slow = new Error(
    `text: the regular expression takes more than ${limitMs} ms for one file; make it simpler`,
  )
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
