import type { Bus } from '@mcp-host/bus'
import type { Attachment, SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** What a file is taken for whose type nobody has said. */
export const UNKNOWN_TYPE = 'application/octet-stream'

/**
 * The stored files that a message names, as it has them in the log. Throws `invalid` for one that this
 * session does not have; `field` is what named it.
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
  return { attachments }
}
