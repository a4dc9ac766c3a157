import type { StoredMsg } from '@nats-io/jetstream'
import { RepublishHeaders } from '@nats-io/jetstream'
import type { Msg, MsgHdrs } from '@nats-io/transport-node'
import type { LogEntry, LogFact } from '@mcp-host/contracts'
import { BusError, LOG_FACTS, matchSubject } from '@mcp-host/contracts'
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

/** Throws `invalid` when the message is not a fact of a session's log. */
export function parseEntry({ subject, seq, time, data, headers }: Stored): LogEntry {
  for (const kind of KINDS) {
    const params = matchSubject(LOG_FACTS[kind].subject, subject)
    if (params === undefined) continue
    const what = `${kind} at ${seq}`
    // The kind decides the schema, which TypeScript cannot follow through the table.
    const fact = decode(LOG_FACTS[kind].payload as z.ZodType, data, what)
    const envelope = readEnvelope({ headers }, what)
    return { kind, fact, session: params.session, seq, time, envelope } as LogEntry
  }
  throw new BusError('invalid', `no fact of a session's log has the subject ${subject}`)
}

export function parseStored({ subject, seq, time, data, header }: StoredMsg): LogEntry {
  return parseEntry({ subject, seq, time: time.getTime(), data, headers: header })
}

/** An entry as the server repeats it, with the sequence before it on the same subject. */
export function parseRepublished(message: Msg): { entry: LogEntry; previous: number } {
  const header = (name: string): string => message.headers?.get(name) ?? ''
  const entry = parseEntry({
    subject: header(RepublishHeaders.Subject),
    seq: Number(header(RepublishHeaders.Sequence)),
    time: Date.parse(header('Nats-Time-Stamp')),
    data: message.data,
    headers: message.headers,
  })
  return { entry, previous: Number(header(RepublishHeaders.LastSequence)) }
}
