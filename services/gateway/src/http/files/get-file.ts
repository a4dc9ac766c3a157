import type { Bus } from '@mcp-host/bus'
import type { SessionId } from '@mcp-host/contracts'
import { BusError, cleanType, UNKNOWN_TYPE } from '@mcp-host/contracts'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults } from '../../edge/api.ts'
import type { StoreFileDeps } from './store-file.ts'
import { checkSession } from '../../session/check-session.ts'
import { SessionParams } from '../sessions/session-params.ts'

/** The types that pages show. A page of this host would run or apply others, such as scripts and style sheets. */
const SHOWN =
  /^(?:image\/(?:png|jpeg|gif|webp)|audio\/(?:aac|flac|mp4|mpeg|ogg|wav|webm|x-wav)|application\/pdf|text\/plain)$/

export function addGetFile(api: Api, deps: Pick<StoreFileDeps, 'bus' | 'signSession'>): void {
  api.get(
    '/session/:id/file/:key',
    {
      schema: {
        tags: ['chat'],
        operationId: 'getFile',
        summary: 'Get an attachment of a message, a file that a tool returned, or a large result',
        params: SessionParams.extend({ key: z.string().describe('Key of the file.') }),
        response: faults(400, 404, 503),
      },
    },
    async ({ params: { id, key }, principal }, reply) => {
      await checkSession(deps, id, principal)
      return sendFile(deps.bus, reply, id, key)
    },
  )
}

/** Answers with a file of a session. Throws `not-found`. */
export async function sendFile(
  bus: Pick<Bus, 'blobs'>,
  reply: FastifyReply,
  session: SessionId,
  key: string,
): Promise<FastifyReply> {
  const found = key.startsWith(`${session}.`) ? await bus.blobs.find(key) : undefined
  if (found === undefined) {
    throw new BusError('not-found', `key: this session has no file "${key}"`, { field: 'key' })
  }
  // A stored file must not run scripts on this origin.
  reply.header('content-security-policy', "default-src 'none'; sandbox")
  reply.header('x-content-type-options', 'nosniff')
  const type = cleanType(found.mimeType)
  if (SHOWN.test(type)) reply.type(type)
  else reply.type(UNKNOWN_TYPE).header('content-disposition', 'attachment')
  return reply.send(Buffer.from(await bus.blobs.get(key)))
}
