import { z } from 'zod'
import { defineBucket } from './bucket.ts'
import { PrincipalId } from './principal.ts'

/** The limit of an operator's words, in UTF-16 units. */
export const MAX_NOTICE_LENGTH = 500

/** Maintenance that an operator has announced: no new messages are taken. */
export const Maintenance = z.object({
  /** The operator's words for users, such as the time of its end; may be empty. */
  notice: z.string().max(MAX_NOTICE_LENGTH),
  /** Epoch milliseconds. */
  since: z.number(),
  by: PrincipalId,
})
export type Maintenance = z.infer<typeof Maintenance>

/** Has one record, under this key, while there is maintenance. */
export const maintenanceBucket = defineBucket('MAINTENANCE', {
  record: Maintenance,
  what: 'the maintenance of the host',
})
export const MAINTENANCE_KEY = 'host'
