import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { ServerName } from '../ids.ts'

const names = z.array(z.string())

/** The effect of a reload, by server name. */
export const ReloadResult = z.object({
  added: names,
  changed: names,
  removed: names,
  unchanged: names,
})
export type ReloadResult = z.infer<typeof ReloadResult>

/**
 * Pings a supervisor, makes it read its configuration again, restarts one of its servers, or reads the last lines of
 * its stderr. A stopped supervisor does not answer. A faulty configuration is `invalid` and changes nothing; a server that this supervisor does not
 * run is `not-found`.
 */
export const supervisorControl = defineCall('sup.{supervisor}.ctl', {
  from: ['gateway', 'orchestrator', 'mcp-supervisor', 'tools'],
  to: ['mcp-supervisor'],
  answeredBy: 'one',
  request: z.discriminatedUnion('action', [
    z.object({ action: z.literal('ping') }),
    z.object({ action: z.literal('reload') }),
    z.object({ action: z.literal('restart'), server: ServerName }),
    z.object({ action: z.literal('read-output'), server: ServerName }),
  ]),
  reply: z.object({
    reload: ReloadResult.optional(),
    /** The last lines of a server, without its secrets and folders. They may have other secrets. */
    output: z.array(z.string()).optional(),
  }),
})
