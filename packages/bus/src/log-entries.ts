import type { StoredMsg } from '@nats-io/jetstream'
import { RepublishHeaders } from '@nats-io/jetstream'
import type { Msg, MsgHdrs } from '@nats-io/transport-node'
import type { Envelope, LogEntry, LogFact, SessionId } from '@mcp-host/contracts'
import { LOG_FACTS, matchSubject, storedSubject } from '@mcp-host/contracts'
import type { z } from 'zod'
import { decode, readEnvelope } from './codec.ts'

const KINDS = Object.keys(LOG_FACTS) as LogFact['kind'][]

interface Stored {
  readonly subject: string
  readonly seq: number
  /** Epoch milliseconds. */
  readonly time: number
  readonly data: Uint8Array
  readonly headers: MsgHdrs | undefined
}

/** The envelope of an unreadable entry. */
const NO_ENVELOPE: Envelope = {
  requestId: '',
  traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-00`,
  principal: '',
}

/** Called for an entry that cannot be read. */
export type OnUnreadable = (error: unknown, session: SessionId) => void

/** The entry of a message; `undefined` for a kind of fact that this version does not know. */
export function parseEntry(
  { subject, seq, time, data, headers }: Stored,
  onUnreadable: OnUnreadable,
): LogEntry | undefined {
  for (const kind of KINDS) {
    const params = matchSubject(LOG_FACTS[kind].subject, subject)
    if (params === undefined) continue
    // Only session ids are written to these subjects.
    const at = { session: params.session as SessionId, seq, time }
    const what = `${kind} at ${seq}`
    try {
      // The kind decides the schema, which TypeScript cannot derive from the table.
      const fact = decode(LOG_FACTS[kind].payload as z.ZodType, data, what)
      return { kind, fact, ...at, envelope: readEnvelope({ headers }, what) } as LogEntry
    } catch (error) {
      onUnreadable(error, at.session)
      return { kind: 'unreadable', of: kind, fact: undefined, ...at, envelope: NO_ENVELOPE }
    }
  }
  return undefined
}

export function parseStored(
  { subject, seq, time, data, header }: StoredMsg,
  onUnreadable: OnUnreadable,
): LogEntry | undefined {
  return parseEntry({ subject, seq, time: time.getTime(), data, headers: header }, onUnreadable)
}

/**
 * A republished entry, with the previous sequence on the same subject. `undefined` also when the broker sent a message
 * to this subject for another reason. Of repeated headers, the last is from the broker and the others are from the
 * writer.
 */
export function parseRepublished(
  message: Msg,
  onUnreadable: OnUnreadable,
): { entry: LogEntry; previous: number } | undefined {
  const header = (name: string): string => message.headers?.last(name) ?? ''
  const subject = header(RepublishHeaders.Subject)
  if (subject !== storedSubject(message.subject)) return undefined
  const stored = {
    subject,
    seq: Number(header(RepublishHeaders.Sequence)),
    time: Date.parse(header('Nats-Time-Stamp')),
    data: message.data,
    headers: message.headers,
  }
  const entry = parseEntry(stored, onUnreadable)
  return entry && { entry, previous: Number(header(RepublishHeaders.LastSequence)) }
}
