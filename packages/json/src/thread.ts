import { Worker } from 'node:worker_threads'

import { readJson } from './read-json.ts'

/** Larger messages are parsed by a thread, since they would block the event loop. */
export const MAX_BYTES_PARSED_HERE = 4 * 1024 * 1024

/** The program of a thread. It is a text because a bundled library cannot find its files. */
const script = (work: string): string => `
const { getPriority, setPriority } = require('node:os')
const { parentPort, workerData } = require('node:worker_threads')
// On Linux a thread has a priority of its own, elsewhere this would be that of the whole process.
if (process.platform === 'linux' && getPriority() < 10) setPriority(10)
${work}`

const PARSE = script(`
const read = ${readJson.toString()}
const { buffer, byteOffset, length } = workerData
parentPort.postMessage(read(Buffer.from(buffer, byteOffset, length).toString(), (text) => text))`)

const STRINGIFY = script(`
const bytes = new TextEncoder().encode(JSON.stringify(workerData))
parentPort.postMessage(bytes, [bytes.buffer])`)

/** The last queued job. One thread runs at a time, since several large values could fill the memory. */
let last: Promise<unknown> = Promise.resolve()

/**
 * Parses JSON in UTF-8 in a thread, without blocking the event loop; faster from about a megabyte on. The bytes are
 * transferred. Throws `SyntaxError`, and errors of the thread.
 */
export function parseInThread(bytes: Uint8Array<ArrayBuffer>): Promise<unknown> {
  return run(PARSE, bytes, [bytes.buffer])
}

/** `JSON.stringify` to UTF-8 in a thread. Throws the error of the thread. */
export function stringifyInThread(value: unknown): Promise<Uint8Array<ArrayBuffer>> {
  return run(STRINGIFY, value, []) as Promise<Uint8Array<ArrayBuffer>>
}

function run(code: string, workerData: unknown, transferList: ArrayBuffer[]): Promise<unknown> {
  const result = last.then(() => {
    const thread = new Worker(code, { eval: true, env: {}, workerData, transferList })
    return new Promise((resolve, reject) => {
      thread.once('message', resolve)
      // The value is nested too deep for this thread's stack.
      thread.once('messageerror', reject)
      thread.once('error', reject)
      thread.once('exit', () => reject(new Error('the thread has ended')))
    })
  })
  last = result.catch(() => undefined)
  return result
}
