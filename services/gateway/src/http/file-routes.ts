import type { SessionId } from '@mcp-host/contracts'
import { BusError, cleanType } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api, ApiDeps } from '../edge/api.ts'
import { checkNotDeleted, faults, jsonAnswer, SessionParams } from '../edge/api.ts'
import type { SignSession } from '../mcp/core/signed-id.ts'
import { isSigned } from '../mcp/core/signed-id.ts'
import type { BodyReader } from '../edge/body-reader.ts'
import type { UploadedFile } from './multipart-file.ts'
import { isMultipart, readMultipartFile } from './multipart-file.ts'

/** Larger files are not taken. */
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

export interface FileRouteDeps extends Pick<ApiDeps, 'bus'> {
  readonly bodies: BodyReader
  readonly signSession: SignSession
}

/** Files that come with messages. */
export function addFileRoutes(api: Api, { bus, bodies, signSession }: FileRouteDeps): void {
  const tags = ['chat']
  /** Refuses files for sessions that were not issued here and have no message. */
  async function checkBegun(session: SessionId): Promise<void> {
    await checkNotDeleted(bus, session)
    const isBegun =
      isSigned(session, signSession) ||
      (await bus.directory.get(session)) !== undefined ||
      (await bus.sessions.lastSequence(session)) > 0
    if (isBegun) return
    const message = 'there is no such session; begin one with POST /api/chat/session'
    throw new BusError('not-found', message, { field: 'id' })
  }

  // The file itself, whatever it says it is; it is read when the rest of the request is right.
  api.removeAllContentTypeParsers()
  api.addContentTypeParser('*', async () => undefined)

  api.post(
    '/session/:id/file',
    {
      schema: {
        tags,
        operationId: 'storeFile',
        summary: 'Store a file that is to come with a message',
        description: `The body is the file itself, of up to ${MAX_FILE_BYTES} bytes, with its type as \`Content-Type\`, or a form of \`multipart/form-data\` with one file. It is kept for 30 days.`,
        params: SessionParams,
        querystring: z.object({
          name: Name.optional().describe('Of the file; by default as the form says.'),
        }),
        response: {
          201: jsonAnswer('It is stored.', Stored),
          ...faults(400, 404, 413, 415, 429, 503),
        },
      },
    },
    async ({ params, query: { name }, raw, headers }, reply) => {
      await checkBegun(params.id)
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

  api.get(
    '/session/:id/file/:key',
    {
      schema: {
        tags,
        operationId: 'getFile',
        summary:
          'Get what came with a message, what a tool returned beside text, or a whole large result',
        params: SessionParams.extend({ key: z.string().describe('Of the file.') }),
        response: faults(400, 404, 503),
      },
    },
    async ({ params: { id, key } }, reply) => {
      await checkNotDeleted(bus, id)
      const found = key.startsWith(`${id}.`) ? await bus.blobs.find(key) : undefined
      if (found === undefined) {
        throw new BusError('not-found', `key: this session has no file "${key}"`, { field: 'key' })
      }
      // A stored file must not run scripts on this origin.
      reply.header('content-security-policy', "default-src 'none'; sandbox")
      reply.header('x-content-type-options', 'nosniff')
      reply.type(cleanType(found.mimeType))
      return reply.send(Buffer.from(await bus.blobs.get(key)))
    },
  )
}

/** The file of a request: its body, or the file of the form in it. */
async function readFile(bytes: Uint8Array<ArrayBuffer>, contentType = ''): Promise<UploadedFile> {
  if (isMultipart(contentType)) return readMultipartFile(bytes, contentType)
  return { bytes, mimeType: contentType }
}
