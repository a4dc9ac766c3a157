import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { SessionId } from '../ids.ts'
import { HistoryMessage } from './history-message.ts'

/** Reads a branch of a session, in whole turns. Errors: `not-found`. */
export const sessionHistory = defineCall('session.history', {
  from: ['gateway'],
  to: ['orchestrator'],
  answeredBy: 'group',
  request: z.object({
    session: SessionId,
    /** The limit of turns; a page has fewer when they exceed the size of a message. */
    limit: z.number().int().min(1).max(100),
    /** The id of the user message before whose turn the page ends; absent for the newest page. */
    before: z.string().optional(),
    /** The id of a user message: the page is of the newest branch that has it. Absent: of the newest branch. */
    branch: z.string().optional(),
    /** The id of the user message of the only turn, on any branch. */
    only: z.string().optional(),
  }),
  reply: z.object({
    /** Oldest first. */
    messages: z.array(HistoryMessage),
    /** `before` of the next older page; absent on the last one. */
    next: z.string().optional(),
  }),
})
