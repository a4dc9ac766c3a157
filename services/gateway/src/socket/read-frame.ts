import { BusError, parseInput, Up } from '@mcp-host/contracts'
import { isTooDeep, TOO_DEEP } from '@mcp-host/json'
import type { RawData } from 'ws'
import { z } from 'zod'

/** The largest frame that is read. `Up` limits its text further. */
export const MAX_FRAME_BYTES = 1024 * 1024

/** Parses a client's frame. Throws `invalid` when it is no JSON of a permitted size. */
export function parseFrame(data: RawData, isBinary: boolean): unknown {
  if (isBinary) throw new BusError('invalid', 'frames must be text, not binary')
  // The socket delivers whole frames.
  const bytes = data as Buffer
  if (bytes.length > MAX_FRAME_BYTES) {
    const message = `frame of ${bytes.length} bytes; at most ${MAX_FRAME_BYTES} are accepted`
    throw new BusError('invalid', message)
  }
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new BusError(
      'invalid',
      'frame is not JSON; send {"type":"message","payload":{"text":"…"}}',
    )
  }
}

/** The frame that was parsed. Throws `invalid` with the field at fault. */
export function checkFrame(parsed: unknown): Up {
  if (isTooDeep(parsed)) throw new BusError('invalid', `frame is ${TOO_DEEP}`)
  return parseInput(Up, parsed, 'frame')
}

const Id = z.string().max(64).optional()
const NamedFrame = z.object({
  type: z.string(),
  payload: z.object({ id: Id, messageId: Id }),
})

/** The client's id of a refused frame, as far as it can be read. */
export function frameId(parsed: unknown): string | undefined {
  try {
    const { type, payload } = parseInput(NamedFrame, parsed, 'frame')
    return type === 'cancel' ? payload.messageId : payload.id
  } catch {
    return undefined
  }
}
