import type { Bus } from '@mcp-host/bus'
import type { Cursor, Envelope, SessionEvent, SessionId } from '@mcp-host/contracts'
import {
  BusError,
  childEnvelope,
  cursorAfter,
  generationId,
  generationSnapshot,
} from '@mcp-host/contracts'
import { SessionReader } from '../projection/session-reader.ts'

const SNAPSHOT_TIMEOUT_MS = 1_000

/** A session's events from a cursor on, without gaps or repetitions, until the signal. */
export async function* followSession(
  bus: Bus,
  session: SessionId,
  start: Cursor,
  { envelope, signal }: { envelope: Envelope; signal: AbortSignal },
): AsyncIterable<SessionEvent> {
  const reader = new SessionReader(start)
  const options = { after: reader.readAfter, deltas: true, signal }
  for await (const item of bus.sessions.follow(session, options)) {
    switch (item.type) {
      case 'entry':
        yield* reader.entry(item.entry)
        if (reader.missesText) yield* missingText(bus, session, reader, envelope)
        break
      case 'delta': {
        const events = reader.delta(item.delta)
        yield* events === 'gap' ? missingText(bus, session, reader, envelope) : events
        break
      }
      case 'caught-up':
        yield* missingText(bus, session, reader, envelope)
        break
      default:
        item satisfies never
    }
  }
}

/** What the running generation has written beyond the cursor, from the worker that runs it. */
async function* missingText(
  bus: Bus,
  session: SessionId,
  reader: SessionReader,
  envelope: Envelope,
): AsyncIterable<SessionEvent> {
  if (reader.writing === undefined) return
  const { fence, offset } = reader.writing
  const params = { generation: generationId(session, fence) }
  const options = { envelope: childEnvelope(envelope), timeoutMs: SNAPSHOT_TIMEOUT_MS }
  try {
    const { deltas } = await bus.call(generationSnapshot, params, { offset }, options)
    for (const delta of deltas) {
      const events = reader.delta(delta)
      if (events !== 'gap') yield* events
    }
  } catch (error) {
    const { code } = BusError.from(error)
    // The generation is over or its worker is gone: the log brings the text or the reset.
    if (code !== 'unavailable' && code !== 'deadline') throw error
  }
}

/** Where a client begins that has seen nothing: at the running turn, else at what is new. */
export async function joinCursor(bus: Bus, session: SessionId): Promise<Cursor> {
  const last = await bus.sessions.lastTurnEvent(session)
  if (last?.kind !== 'turn') return cursorAfter(0)
  return cursorAfter(last.fact.type === 'turn-done' ? last.seq : last.fact.turn - 1)
}
