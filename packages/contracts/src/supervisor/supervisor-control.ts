import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { ServerName } from '../ids.ts'

const names = z.array(z.string())

/** What a reload did, by server name. */
export const ReloadResult = z.object({
  added: names,
  changed: names,
  removed: names,
  unchanged: names,
})
export type ReloadResult = z.infer<typeof ReloadResult>

/**
 * Ask a supervisor whether it lives, to read its configuration again, or to start a server again. Nobody
 * answers when it is gone. A faulty configuration is `invalid` and changes nothing; a server that this
 * supervisor does not run is `not-found`.
 */
export const supervisorControl = defineCall('sup.{supervisor}.ctl', {
  answeredBy: 'one',
  request: z.discriminatedUnion('action', [
    z.object({ action: z.literal('ping') }),
    z.object({ action: z.literal('reload') }),
    z.object({ action: z.literal('restart'), server: ServerName }),
  ]),
  reply: z.object({ reload: ReloadResult.optional() }),
})
