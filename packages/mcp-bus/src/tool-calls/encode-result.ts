import { stringifyInThread } from '@mcp-host/json/thread'

/** The limit for encoding here, in UTF-16 units. Longer texts would block the event loop. */
const MAX_LENGTH_HERE = 4 * 1024 * 1024

/** A result as JSON; a large one is encoded by a thread. */
export function encodeResult(result: object): Uint8Array | Promise<Uint8Array> {
  const length = lengthOf(result)
  const here = (): Uint8Array => Buffer.from(JSON.stringify(result))
  // The tool has run, so a failure of the thread must not look like one of the tool.
  return length <= MAX_LENGTH_HERE ? here() : stringifyInThread(result).catch(here)
}

/** The total length of all texts at any depth. */
function lengthOf(part: object): number {
  let length = 0
  for (const value of Object.values(part) as unknown[]) {
    if (typeof value === 'string') length += value.length
    else if (typeof value === 'object' && value !== null) length += lengthOf(value)
  }
  return length
}
