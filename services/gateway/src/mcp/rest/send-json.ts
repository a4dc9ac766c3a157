import type { FastifyReply } from 'fastify'

/** Sends JSON without parsing it. */
export function sendJson(reply: FastifyReply, json: string | Buffer): FastifyReply {
  return reply.type('application/json').send(json)
}
