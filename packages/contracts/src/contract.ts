import type { z } from 'zod'
import type { Participant } from './access/participants.ts'

/** Which processes use a message. Permissions on the bus are made from it, and a test compares it with the sources. */
interface Participants {
  readonly from: readonly Participant[]
  readonly to: readonly Participant[]
}

/** A message without an answer, such as a fact of a session's log. */
export interface EventContract<S extends string, Payload> extends Participants {
  readonly kind: 'event'
  readonly subject: S
  /** `log`: appended to the session's log and kept. `live`: sent once, to the processes that listen. */
  readonly durability: 'log' | 'live'
  readonly payload: z.ZodType<Payload>
}

/** A request with one reply. */
export interface CallContract<S extends string, Request, Reply> extends Participants {
  readonly kind: 'call'
  readonly subject: S
  /** `group`: any one replica answers. `one`: only the process that runs the work listens. */
  readonly answeredBy: 'group' | 'one'
  readonly request: z.ZodType<Request>
  readonly reply: z.ZodType<Reply>
}

/** A request with an opaque body, such as JSON of another program, and one or more replies of the same kind. */
export interface OpaqueCallContract<S extends string, Request, Reply> extends Omit<
  CallContract<S, Request, Reply>,
  'kind'
> {
  readonly kind: 'opaque-call'
}

export type Contract =
  | EventContract<string, unknown>
  | CallContract<string, unknown, unknown>
  | OpaqueCallContract<string, unknown, unknown>

export function defineEvent<S extends string, Payload>(
  subject: S,
  shape: Omit<EventContract<S, Payload>, 'kind' | 'subject'>,
): EventContract<S, Payload> {
  return { kind: 'event', subject, ...shape }
}

export function defineCall<S extends string, Request, Reply>(
  subject: S,
  shape: Omit<CallContract<S, Request, Reply>, 'kind' | 'subject'>,
): CallContract<S, Request, Reply> {
  return { kind: 'call', subject, ...shape }
}

export function defineOpaqueCall<S extends string, Request, Reply>(
  subject: S,
  shape: Omit<OpaqueCallContract<S, Request, Reply>, 'kind' | 'subject'>,
): OpaqueCallContract<S, Request, Reply> {
  return { kind: 'opaque-call', subject, ...shape }
}
