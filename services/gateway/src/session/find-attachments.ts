import type { Bus } from '@mcp-host/bus'
import type { Attachment, SessionId } from '@mcp-host/contracts'
import { BusError, UNKNOWN_TYPE } from '@mcp-host/contracts'

/** Size limit for all files of a message together; providers accept no more. */
const MAX_BYTES = 20 * 1024 * 1024

/**
 * The stored files of a message, in the form that the log has. Throws `invalid` for a file that this session does not
 * have. `field`: the request field with the keys.
 */
export async function findAttachments(
  { blobs }: Pick<Bus, 'blobs'>,
  session: SessionId,
  keys: readonly string[],
  field: string,
): Promise<{ attachments?: Attachment[] }> {
  if (keys.length === 0) return {}
  const attachments = await Promise.all(
    keys.map(async (key) => {
      const found = key.startsWith(`${session}.`) ? await blobs.find(key) : undefined
      if (found === undefined) {
        const message = `${field}: this session has no file "${key}"; store it again`
        throw new BusError('invalid', message, { field })
      }
      const { mimeType = UNKNOWN_TYPE, name, bytes, digest } = found
      return { mimeType, ...(name === undefined ? {} : { name }), blob: { key, bytes, digest } }
    }),
  )
  const bytes = attachments.reduce((sum, { blob }) => sum + blob.bytes, 0)
  if (bytes > MAX_BYTES) {
    const message = `${field}: ${bytes} bytes together; at most ${MAX_BYTES} may come with one message`
    throw new BusError('invalid', message, { field })
  }
  return { attachments }
}
