import { BusError, parseInput, Up } from '@mcp-host/contracts'
import { isTooDeep, TOO_DEEP } from 'mcp-host/json'
import type { RawData } from 'ws'

/** Largest frame that is read; `Up` limits the text in it further. */
export const MAX_FRAME_BYTES = 1024 * 1024

/** The frame a client sent. Throws `invalid`, naming the field at fault. */
export function readFrame(data: RawData, isBinary: boolean): Up {
  if (isBinary) throw new BusError('invalid', 'frames must be text, not binary')
  // The socket hands out whole frames.
  const bytes = data as Buffer
  if (bytes.length > MAX_FRAME_BYTES) {
    const message = `frame of ${bytes.length} bytes; at most ${MAX_FRAME_BYTES} are accepted`
    throw new BusError('invalid', message)
  }
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new BusError(
      'invalid',
      'frame is not JSON; send {"type":"message","payload":{"text":"…"}}',
    )
  }
  if (isTooDeep(value)) throw new BusError('invalid', `frame is ${TOO_DEEP}`)
  return parseInput(Up, value, 'frame')
}
