import type { Bus } from '@mcp-host/bus'
import type { Principal, SessionId } from '@mcp-host/contracts'
import { BusError, cleanType } from '@mcp-host/contracts'
import type { SignSession } from '@mcp-host/mcp-endpoint'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import type { BodyReader } from '../../edge/body-reader.ts'
import { isChatIdOf } from '../../session/chat-id.ts'
import { checkSession } from '../../session/check-session.ts'
import { SessionParams } from '../sessions/session-params.ts'
import type { UploadedFile } from './multipart-file.ts'
import { isMultipart, readMultipartFile } from './multipart-file.ts'

/** Larger files are refused. */
const MAX_FILE_BYTES = 20 * 1024 * 1024

const MAX_NAME_LENGTH = 255
const Name = z.string().min(1).max(MAX_NAME_LENGTH)

const Stored = z
  .object({
    key: z.string().describe('Names the file in a message.'),
    mimeType: z.string().describe('As it was sent.'),
    name: z.string().optional().describe('As it was given.'),
    bytes: z.number().int().describe('How many it has.'),
  })
  .meta({ id: 'File', description: 'A file that is stored and can come with a message.' })

export interface StoreFileDeps {
  readonly bus: Bus
  readonly bodies: BodyReader
  readonly signSession: SignSession
}

export function addStoreFile(api: Api, deps: StoreFileDeps): void {
  const { bus, bodies } = deps
  api.post(
    '/session/:id/file',
    {
      schema: {
        tags: ['chat'],
        operationId: 'storeFile',
        summary: 'Store a file that is to come with a message',
        description: `The body is the file itself, of up to ${MAX_FILE_BYTES} bytes, with its type as \`Content-Type\`, or a form of \`multipart/form-data\` with one file. It is kept for 30 days.`,
        params: SessionParams,
        querystring: z.object({
          name: Name.optional().describe('Name of the file. Default: the name in the form.'),
        }),
        response: {
          201: jsonAnswer('It is stored.', Stored),
          ...faults(400, 404, 413, 415, 429, 503),
        },
      },
    },
    async ({ params, query: { name }, raw, headers, principal }, reply) => {
      await checkBegun(deps, params.id, principal)
      using body = await bodies.read(raw, MAX_FILE_BYTES)
      const file = await readFile(body.bytes, headers['content-type'])
      if (file.bytes.length === 0) {
        throw new BusError('invalid', 'body: must be the file; it is empty', { field: 'body' })
      }
      await bus.storage.checkRoom()
      const given = name ?? file.name?.slice(-MAX_NAME_LENGTH)
      const about = {
        mimeType: cleanType(file.mimeType),
        ...(given === undefined ? {} : { name: given }),
      }
      const { key, bytes } = await bus.blobs.put(file.bytes, { session: params.id, ...about })
      return reply.code(201).send({ key, ...about, bytes })
    },
  )
}

/** Throws `not-found` for a session whose id no gateway has made and that has no message. */
async function checkBegun(
  deps: StoreFileDeps,
  session: SessionId,
  principal: Principal,
): Promise<void> {
  const { bus, signSession } = deps
  await checkSession(deps, session, principal)
  const isBegun =
    isChatIdOf(principal, session, signSession) ||
    (await bus.directory.get(session)) !== undefined ||
    (await bus.sessions.lastSequence(session)) > 0
  if (isBegun) return
  const message = 'there is no such session; begin one with POST /api/chat/session'
  throw new BusError('not-found', message, { field: 'id' })
}

/** The file of a request: its body, or the file of the form in it. */
async function readFile(bytes: Uint8Array<ArrayBuffer>, contentType = ''): Promise<UploadedFile> {
  if (isMultipart(contentType)) return readMultipartFile(bytes, contentType)
  return { bytes, mimeType: contentType }
}
