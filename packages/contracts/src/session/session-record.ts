import { z } from 'zod'
import { SessionId } from '../ids.ts'
import { ModelUsage } from '../model/content.ts'
import { SessionSettings } from './session-settings.ts'

/** What is known of a session without reading its log. Written by the orchestrators. */
export const SessionRecord = z.object({
  id: SessionId,
  /** Who wrote the first message. */
  owner: z.string(),
  title: z.string(),
  /** Whether a user chose the title; else it is the beginning of the first message. */
  isTitled: z.boolean(),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** Of the last message or turn. */
  updatedAt: z.number(),
  /** Who answers what names nobody, as `provider/model` or `provider`, where the user chose that. */
  model: z.string().optional(),
  /** Where in its log that was chosen last. */
  modelSeq: z.number().int().positive().optional(),
  ...SessionSettings.shape,
  /** Where in its log they were chosen last. */
  settingsSeq: z.number().int().positive().optional(),
  /** The caller's own, which means nothing to the host. */
  metadata: z.record(z.string(), z.json()).optional(),
  /** User messages on all branches. */
  messages: z.number().int().nonnegative(),
  /** How many entries its log has had at least: fewer than that, and some were lost. */
  entries: z.number().int().nonnegative().optional(),
  /** What all turns took, by model. */
  usage: z.array(ModelUsage),
  /** `deleted`: its log is gone; the record stays for a while, so that nobody writes it anew. */
  state: z.enum(['active', 'deleted']),
  /** Of a deleted one: whether nothing had happened in it for too long. */
  isExpired: z.boolean().optional(),
})
export type SessionRecord = z.infer<typeof SessionRecord>
