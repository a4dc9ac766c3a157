import type { Bus } from '@mcp-host/bus'
import type { Envelope, SessionId, SessionRecord, SettingsChange } from '@mcp-host/contracts'
import { BusError, changeSettings, SessionSettings, withoutAlias } from '@mcp-host/contracts'
import { cleanTitle } from './clean-title.ts'
import { newRecord } from './new-record.ts'
import { noSession, ownRecord } from './own-record.ts'
import { updateRecord } from './update-record.ts'

/** The limit for a caller's metadata, in characters of JSON. */
const MAX_METADATA_LENGTH = 16_384

export interface UpdateDeps {
  readonly bus: {
    readonly directory: Pick<Bus['directory'], 'get' | 'put'>
    readonly sessions: Pick<Bus['sessions'], 'append'>
  }
  /** The names of the configured providers; empty while they are unknown. */
  readonly providers: () => readonly string[]
  /** Epoch milliseconds. */
  readonly now: () => number
}

export interface SessionChange {
  readonly title?: string | undefined
  /** `null`: the default model. */
  readonly model?: string | null | undefined
  readonly systemPrompt?: SettingsChange['systemPrompt']
  readonly temperature?: SettingsChange['temperature']
  readonly maxToolCalls?: SettingsChange['maxToolCalls']
  readonly servers?: SettingsChange['servers']
  /** `null` removes the metadata. */
  readonly metadata?: SessionRecord['metadata'] | null | undefined
  /** Whether to create a record when the session has none. */
  readonly create?: boolean | undefined
}

/** Changes the properties of a session that its owner may choose. Throws `not-found`, or `invalid` with the field. */
export async function updateSession(
  { bus, providers, now }: UpdateDeps,
  session: SessionId,
  { title: given, model: asked, metadata, create = false, ...settings }: SessionChange,
  envelope: Envelope,
): Promise<SessionRecord> {
  const { principal } = envelope
  const title = given === undefined ? undefined : readableTitle(given)
  const model = typeof asked === 'string' ? knownModel(asked, providers()) : asked
  const own = (record: SessionRecord | undefined): SessionRecord =>
    record === undefined && create
      ? newRecord(session, principal, now())
      : ownRecord(session, record, envelope)
  const described = ({ metadata: before, ...record }: SessionRecord): SessionRecord => ({
    ...record,
    ...(title === undefined ? {} : { title, isTitled: true }),
    ...withMetadata(metadata === undefined ? before : (metadata ?? undefined)),
  })
  // The record is written first, so that every log has one.
  const known = await updateRecord(bus.directory, session, (record) => described(own(record)))
  if (known === undefined) throw noSession(session)
  const hasSettings = Object.values(settings).some((value) => value !== undefined)
  const chosen = hasSettings
    ? await chooseSettings(bus, session, settings, { envelope, own })
    : known
  if (model === undefined) return chosen
  // The place in the log decides for which messages the model is used.
  const fact = { type: 'model-chosen' as const, ...(model === null ? {} : { model }) }
  const options = { envelope, messageId: crypto.randomUUID() }
  const { seq } = await bus.sessions.append(session, { kind: 'control', fact }, options)
  const changed = await updateRecord(bus.directory, session, (record) => {
    const { model: before, ...others } = own(record)
    // Of two concurrent changes the later one in the log wins.
    if ((others.modelSeq ?? 0) > seq) return { ...others, ...(before && { model: before }) }
    return { ...others, modelSeq: seq, ...(model === null ? {} : { model }) }
  })
  if (changed === undefined) throw noSession(session)
  return changed
}

function withMetadata(metadata: SessionRecord['metadata']): Pick<SessionRecord, 'metadata'> {
  if (metadata === undefined) return {}
  if (JSON.stringify(metadata).length <= MAX_METADATA_LENGTH) return { metadata }
  const message = `metadata: must not be longer than ${MAX_METADATA_LENGTH} characters of JSON`
  throw new BusError('invalid', message, { field: 'metadata' })
}

/** Stores settings in the log, from which turns read them, and in the record. */
async function chooseSettings(
  bus: UpdateDeps['bus'],
  session: SessionId,
  settings: SettingsChange,
  {
    envelope,
    own,
  }: {
    readonly envelope: Envelope
    readonly own: (record: SessionRecord | undefined) => SessionRecord
  },
): Promise<SessionRecord> {
  const fact = { type: 'settings-chosen' as const, ...settings }
  const options = { envelope, messageId: crypto.randomUUID() }
  const { seq } = await bus.sessions.append(session, { kind: 'control', fact }, options)
  const changed = await updateRecord(bus.directory, session, (record) => {
    const known = own(record)
    const { systemPrompt, temperature, maxToolCalls, servers, ...others } = known
    // Of two concurrent changes the later one in the log wins.
    if ((others.settingsSeq ?? 0) > seq) return known
    const before = SessionSettings.parse({ systemPrompt, temperature, maxToolCalls, servers })
    return { ...others, ...changeSettings(before, settings), settingsSeq: seq }
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
