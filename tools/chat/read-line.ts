import type { Interface } from 'node:readline'
import { createInterface } from 'node:readline'

/** The next line on a terminal; `undefined` when the signal or the end of the input comes first. */
export async function readLine(
  terminal: Interface,
  prompt: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const line = Promise.withResolvers<string | undefined>()
  const onEnd = (): void => line.resolve(undefined)
  signal.addEventListener('abort', onEnd)
  terminal.once('close', onEnd)
  if (signal.aborted) onEnd()
  else terminal.question(prompt, { signal }, line.resolve)
  try {
    return await line.promise
  } finally {
    signal.removeEventListener('abort', onEnd)
    terminal.off('close', onEnd)
  }
}

/** Reads a line while no other reader is active. `undefined` also when the input is not a terminal. */
export async function readLineAlone(
  prompt: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!process.stdin.isTTY) return undefined
  using terminal = createInterface({ input: process.stdin, output: process.stdout })
  return await readLine(terminal, prompt, signal)
}
