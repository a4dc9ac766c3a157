import { z } from 'zod'
import { defineCall, defineEvent } from '../contract.ts'

/** A watch ends after this time unless it is renewed; the subscription at the server ends with the last watch. */
export const WATCH_MS = 30_000

const watch = {
  request: z.object({ uris: z.array(z.string()) }),
  reply: z.object({}),
}

/**
 * Subscribes to changes of resources of a server for `WATCH_MS`. Errors: `unavailable` when no supervisor runs the
 * server.
 */
export const watchResources = defineCall('mcp.{server}.watch', {
  from: ['gateway'],
  to: ['mcp-supervisor'],
  answeredBy: 'group',
  ...watch,
})

/** Subscribes to changes of resources of the process that serves one client alone. */
export const watchClientResources = defineCall('mcp.{server}.{client}.watch', {
  from: ['gateway'],
  to: ['mcp-supervisor'],
  answeredBy: 'one',
  ...watch,
})

/** Reports a change of a watched resource. */
export const resourceUpdated = defineEvent('mcp.{server}.updated', {
  from: ['mcp-supervisor'],
  to: ['gateway'],
  durability: 'live',
  payload: z.object({
    uri: z.string(),
    /** The client of a dedicated process: it alone gets the notification. */
    client: z.string().optional(),
  }),
})
