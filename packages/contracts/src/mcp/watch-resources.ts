import { z } from 'zod'
import { defineCall, defineEvent } from '../contract.ts'

/** Whoever watches says so again before that; what nobody watches any more is not asked of the server. */
export const WATCH_MS = 30_000

const watch = {
  request: z.object({ uris: z.array(z.string()) }),
  reply: z.object({}),
}

/**
 * Tell of changes of a server's resources, for `WATCH_MS` from now on. Errors: `unavailable` when
 * nobody has the server.
 */
export const watchResources = defineCall('mcp.{server}.watch', { answeredBy: 'group', ...watch })

/** The same of the process that one client has of its own. */
export const watchClientResources = defineCall('mcp.{server}.{client}.watch', {
  answeredBy: 'one',
  ...watch,
})

/** A resource that somebody watches is not what it was. */
export const resourceUpdated = defineEvent('mcp.{server}.updated', {
  durability: 'live',
  payload: z.object({
    uri: z.string(),
    /** Of a process that a client has of its own: nobody else is meant. */
    client: z.string().optional(),
  }),
})
