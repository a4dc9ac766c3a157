import { z } from 'zod'
import { JsonObject } from '../json-value.ts'
import { defineCall } from '../contract.ts'
import { SessionId } from '../ids.ts'
import { SessionRecord } from '../session/session-record.ts'
import { SettingsChange } from '../session/session-settings.ts'

/**
 * Changes a session's title, model, settings and metadata; absent fields stay as they are. Errors: `not-found`;
 * `invalid` when the title has no visible character or there is no such provider.
 */
export const updateSession = defineCall('session.update', {
  from: ['gateway'],
  to: ['orchestrator'],
  answeredBy: 'group',
  request: z.object({
    session: SessionId,
    title: z.string().min(1).max(200).optional(),
    /** The model of the next messages, as `provider/model` or `provider`; `null`: the default model. */
    model: z.string().nullable().optional(),
    ...SettingsChange.shape,
    /** Data of the caller; `null` removes it. */
    metadata: JsonObject.nullable().optional(),
    /** Creates the record of the session before its first message. */
    create: z.boolean().optional(),
  }),
  reply: SessionRecord,
})
