import type { IncomingMessage } from 'node:http'
import { BusError, parseInput } from '@mcp-host/contracts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isTooDeep, TOO_DEEP } from 'mcp-host/json'
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
      const value = parse(body.bytes)
      if (isTooDeep(value)) throw new BusError('invalid', `body: is ${TOO_DEEP}`)
      return value
    },
  )
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart = '' }) => (data: unknown) => {
    // Fastify says null for a body that is not there.
    try {
      return { value: parseInput(schema, data ?? undefined, httpPart) }
    } catch (error) {
      return { error: BusError.from(error) }
    }
  })
  // Answers were checked at their source.
  app.setSerializerCompiler(() => JSON.stringify)
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(text.decode(bytes))
  } catch (error) {
    // It names the place.
    const reason = error instanceof Error ? error.message : ''
    throw new BusError('invalid', `body: not JSON: ${reason}`)
  }
}
