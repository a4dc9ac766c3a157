import type { Bus } from '@mcp-host/bus'
import type { Envelope, SessionId, SessionRecord } from '@mcp-host/contracts'
import { BusError, withoutAlias } from '@mcp-host/contracts'
import { cleanTitle } from './clean-title.ts'
import { noSession, ownRecord } from './own-record.ts'
import { updateRecord } from './update-record.ts'

export interface UpdateDeps {
  readonly bus: {
    readonly directory: Pick<Bus['directory'], 'get' | 'put'>
    readonly sessions: Pick<Bus['sessions'], 'append'>
  }
  /** The names of the providers that there are; empty while that is not known. */
  readonly providers: () => readonly string[]
  /** Epoch milliseconds. */
  readonly now: () => number
}

export interface SessionChange {
  readonly title?: string | undefined
  /** `null`: the one that answers by default. */
  readonly model?: string | null | undefined
  /** Makes the session known when it is not. */
  readonly create?: boolean | undefined
}

/** Changes what its owner may choose of a session. Throws `not-found`, or `invalid` with the field. */
export async function updateSession(
  { bus, providers, now }: UpdateDeps,
  session: SessionId,
  { title: given, model: asked, create = false }: SessionChange,
  envelope: Envelope,
): Promise<SessionRecord> {
  const { principal } = envelope
  const title = given === undefined ? undefined : readableTitle(given)
  const model = typeof asked === 'string' ? knownModel(asked, providers()) : asked
  const own = (record: SessionRecord | undefined): SessionRecord =>
    record === undefined && create
      ? newRecord(session, principal, now())
      : ownRecord(session, record, principal)
  const titled = (record: SessionRecord): SessionRecord =>
    title === undefined ? record : { ...record, title, isTitled: true }
  // First, so that no log is there of which nobody knows.
  const known = await updateRecord(bus.directory, session, (record) => titled(own(record)))
  if (known === undefined) throw noSession(session)
  if (model === undefined) return known
  // Its place among the messages says which of them it is for.
  const fact = { type: 'model-chosen' as const, ...(model === null ? {} : { model }) }
  const options = { envelope, messageId: crypto.randomUUID() }
  const { seq } = await bus.sessions.append(session, { kind: 'control', fact }, options)
  const changed = await updateRecord(bus.directory, session, (record) => {
    const { model: before, ...others } = own(record)
    // Of two at once the later in the log counts.
    if ((others.modelSeq ?? 0) > seq) return { ...others, ...(before && { model: before }) }
    return { ...others, modelSeq: seq, ...(model === null ? {} : { model }) }
  })
  if (changed === undefined) throw noSession(session)
  return changed
}

function readableTitle(given: string): string {
  const title = cleanTitle(given)
  if (title !== '') return title
  throw new BusError('invalid', 'title: must have a visible character', { field: 'title' })
}

function knownModel(asked: string, known: readonly string[]): string {
  const model = withoutAlias(asked, (name) => known.includes(name))
  const [provider = ''] = model.split('/', 1)
  if (known.length === 0 || known.includes(provider)) return model
  const message = `model: there is no provider "${provider}"; there are ${known.join(', ')}`
  throw new BusError('invalid', message, { field: 'model' })
}

function newRecord(session: SessionId, owner: string, now: number): SessionRecord {
  return {
    id: session,
    owner,
    title: '',
    isTitled: false,
    createdAt: now,
    updatedAt: now,
    messages: 0,
    usage: [],
    state: 'active',
  }
}
