import type { IncomingMessage } from 'node:http'
import { BusError, parseInput } from '@mcp-host/contracts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { excessOf, isTooDeep, TOO_DEEP } from '@mcp-host/json'
import type { z } from 'zod'
import type { BodyReader } from './body-reader.ts'

const text = new TextDecoder()

/** Reads JSON bodies, and validates all parts of a request with the schemas of its route. */
export function readBodies(app: FastifyInstance, bodies: BodyReader): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    async ({ routeOptions: { bodyLimit } }: FastifyRequest, payload: IncomingMessage) => {
      using body = await bodies.read(payload, bodyLimit)
      // Some clients declare JSON and send no body.
      if (body.bytes.length === 0) return undefined
      const value = parse(body.bytes)
      if (isTooDeep(value)) throw new BusError('invalid', `body: is ${TOO_DEEP}`)
      return value
    },
  )
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart = '' }) => (data: unknown) => {
    // Fastify passes null for a missing body.
    try {
      return { value: parseInput(schema, data ?? undefined, httpPart) }
    } catch (error) {
      return { error: BusError.from(error) }
    }
  })
  // The handlers' answers are validated at their source.
  app.setSerializerCompiler(() => JSON.stringify)
}

function parse(bytes: Uint8Array): unknown {
  const excess = excessOf(bytes)
  if (excess !== undefined) throw new BusError('invalid', `body: ${excess}; send less at a time`)
  try {
    return JSON.parse(text.decode(bytes))
  } catch (error) {
    // The parser's message names the position.
    const reason = error instanceof Error ? error.message : ''
    throw new BusError('invalid', `body: not JSON: ${reason}`)
  }
}
