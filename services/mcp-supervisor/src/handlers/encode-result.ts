import { stringifyInThread } from 'mcp-host/thread'

/** Encoding more text makes all others wait too long. In UTF-16 units. */
const MAX_LENGTH_HERE = 4 * 1024 * 1024

/** A result as JSON; a large one is encoded by a thread. */
export async function encodeResult(result: object): Promise<Uint8Array> {
  const length = lengthOf(result)
  const here = (): Uint8Array => Buffer.from(JSON.stringify(result))
  // The tool has run: that a thread fails must not look like a failure of it.
  return length <= MAX_LENGTH_HERE ? here() : stringifyInThread(result).catch(here)
}

/** Of the texts in it, however deep. */
function lengthOf(part: object): number {
  return Object.values(part).reduce((sum: number, value: unknown) => {
    if (typeof value === 'string') return sum + value.length
    return typeof value === 'object' && value !== null ? sum + lengthOf(value) : sum
  }, 0)
}
