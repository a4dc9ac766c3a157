import { Worker } from 'node:worker_threads'

/** As text: a file would have to be found from wherever the library is bundled into. */
const script = (work: string): string => `
const { getPriority, setPriority } = require('node:os')
const { parentPort, workerData } = require('node:worker_threads')
// Small work goes first. On Linux this is the thread's own priority, elsewhere that of the whole process.
if (process.platform === 'linux' && getPriority() < 10) setPriority(10)
${work}`

const PARSE = script(`
const { buffer, byteOffset, length } = workerData
parentPort.postMessage(JSON.parse(Buffer.from(buffer, byteOffset, length).toString()))`)

const STRINGIFY = script(`
const bytes = new TextEncoder().encode(JSON.stringify(workerData))
parentPort.postMessage(bytes, [bytes.buffer])`)

/** One thread at a time: many large values at once must not fill memory. */
let last: Promise<unknown> = Promise.resolve()

/**
 * `JSON.parse` of UTF-8 in a thread, without blocking the event loop; worth it from about a megabyte on. The bytes are
 * transferred. Throws `SyntaxError`, and errors of the thread.
 */
export function parseInThread(bytes: Uint8Array<ArrayBuffer>): Promise<unknown> {
  return inTurn(() => run(PARSE, bytes, [bytes.buffer]))
}

/** `JSON.stringify` as UTF-8 in the same way. Throws what the thread failed with. */
export function stringifyInThread(value: unknown): Promise<Uint8Array<ArrayBuffer>> {
  return inTurn(() => run(STRINGIFY, value, [])) as Promise<Uint8Array<ArrayBuffer>>
}

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = last.then(work)
  last = mine.catch(() => undefined)
  return mine
}

async function run(code: string, workerData: unknown, transferList: ArrayBuffer[]) {
  const thread = new Worker(code, { eval: true, env: {}, workerData, transferList })
  return new Promise<unknown>((resolve, reject) => {
    thread.once('message', resolve)
    // Nested too deep for this thread's stack.
    thread.once('messageerror', reject)
    thread.once('error', reject)
    thread.once('exit', () => reject(new Error('the thread has ended')))
  })
}
