import type { IncomingMessage } from 'node:http'
import { BusError } from '@mcp-host/contracts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { BodyReader } from './body-reader.ts'

const text = new TextDecoder()

/** Bodies are JSON, checked by the schemas of their routes; so are the other parts of a request. */
export function readBodies(app: FastifyInstance, bodies: BodyReader): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    async ({ routeOptions: { bodyLimit } }: FastifyRequest, payload: IncomingMessage) => {
      using body = await bodies.read(payload, bodyLimit)
      // Some clients say so of no body at all.
      if (body.bytes.length === 0) return undefined
      try {
        return JSON.parse(text.decode(body.bytes)) as unknown
      } catch (error) {
        // It names the place.
        const reason = error instanceof Error ? error.message : ''
        throw new BusError('invalid', `body: not JSON: ${reason}`)
      }
    },
  )
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart = '' }) => (data: unknown) => {
    // Fastify says null for a body that is not there.
    const parsed = schema.safeParse(data ?? undefined)
    return parsed.success
      ? { value: parsed.data }
      : { error: BusError.fromZod(parsed.error, httpPart) }
  })
  // What is answered was checked where it came from.
  app.setSerializerCompiler(() => JSON.stringify)
}
