import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { SessionRecord } from '../session/session-record.ts'

/** Lists the sessions of the caller (the envelope's principal), the newest first. */
export const listSessions = defineCall('session.list', {
  from: ['gateway'],
  to: ['orchestrator'],
  answeredBy: 'group',
  request: z.object({
    limit: z.number().int().min(1).max(100),
    /** `next` of the previous page. */
    before: z.string().optional(),
    /** A part of the title; case is ignored. */
    title: z.string().max(200).optional(),
    /** A key that the metadata has, whatever its value. */
    metadataKey: z.string().max(200).optional(),
    /** Whether sessions of the principal `local` are listed, too: the caller is the first admin. */
    withLocal: z.boolean().optional(),
  }),
  reply: z.object({
    sessions: z.array(SessionRecord),
    /** Absent on the last page. */
    next: z.string().optional(),
  }),
})
