import type {
  BucketDefinition,
  BusError,
  CallContract,
  CatalogEntry,
  Envelope,
  EventContract,
  LogEntry,
  LogFact,
  LostRange,
  McpClientRecord,
  OpaqueCallContract,
  SessionId,
  SessionRecord,
  SubjectParams,
  TextDelta,
  ToolProgress,
} from '@mcp-host/contracts'
import type { Frame } from './frame.ts'

export interface CallOptions {
  readonly envelope: Envelope
  /** The time limit for the answer, in milliseconds. */
  readonly timeoutMs: number
  /** Whether a receiver refuses the request after that time, for instance because it was frozen. Default: `false`. */
  readonly expires?: boolean
}

export interface ServedRequest<Request> {
  readonly request: Request
  readonly envelope: Envelope
  /** The time for which the caller still waits, in milliseconds, if it has said so. */
  readonly timeLeftMs?: number | undefined
}

/** The broker's clock, by which processes compare times: the clocks of their machines may differ. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** How far the clock of this machine is ahead of the broker's, in milliseconds. */
  offsetMs(): number
  /** `wrong` once the difference is large enough to be reported. */
  state(): 'right' | 'wrong'
}

/** The caller of an opaque call. It has callbacks instead of promises, since this is the hottest path. */
export interface OpaqueReplyListener<Reply> {
  /** Takes a reply and returns whether more will follow. If it throws, the call fails with that error. */
  onAnswer(answer: Frame<Reply>): boolean
  /** Called at the end when the call failed. */
  onFailure(error: BusError): void
  /** Called many times a second while the call waits. */
  onWaiting(): void
}

/** Handles an opaque call. `reply` sends a reply before the last one. */
export type OpaqueCallHandler<Request, Reply> = (
  request: Frame<Request> & { readonly envelope: Envelope },
  reply: (head: Reply, body: Uint8Array | string) => void,
) => Promise<{ readonly head: Reply; readonly body: Uint8Array | string }>

/** The services' interface to the broker. */
export interface Bus extends AsyncDisposable {
  /** The id of this process on the bus; new at every start. */
  readonly id: string
  readonly sessions: SessionLog
  readonly directory: SessionDirectory
  readonly snapshots: Snapshots
  readonly catalog: Catalog
  readonly leases: Leases
  readonly blobs: Blobs
  readonly mcpClients: McpClients
  readonly storage: Storage
  readonly audit: AuditStream
  readonly clock: Clock

  /** Milliseconds since the end of the last outage: 0 during one, `Infinity` when there was none. */
  sinceOutageMs(): number

  /**
   * Sends a request and waits for the answer. Throws `unavailable` when nothing was started: there is no listener, or the
   * request had expired on arrival. Throws `deadline` when no answer came in time: the outcome is unknown. Otherwise
   * throws the error of the receiver.
   */
  call<S extends string, Request, Reply>(
    contract: CallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    request: Request,
    options: CallOptions,
  ): Promise<Reply>

  /**
   * Handles calls until disposed. Calls that were delivered but not begun by then get `unavailable`. An error of the
   * handler becomes the reply.
   */
  serve<S extends string, Request, Reply>(
    contract: CallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    handler: (served: ServedRequest<Request>) => Promise<Reply> | Reply,
  ): Disposable

  /**
   * Sends a request like `call`, with a body that is not parsed on the way. The call may have several replies, and
   * `timeoutMs` limits the wait for each.
   */
  callOpaque<S extends string, Request, Reply>(
    contract: OpaqueCallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    request: { readonly head: Request; readonly body: Uint8Array | string },
    options: CallOptions,
    listener: OpaqueReplyListener<Reply>,
  ): void

  /** Like `serve`, for opaque calls. */
  serveOpaque<S extends string, Request, Reply>(
    contract: OpaqueCallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    handler: OpaqueCallHandler<Request, Reply>,
  ): Disposable

  /** Sends a live event to all listening processes. */
  emit<S extends string, Payload>(
    contract: EventContract<S, Payload>,
    params: SubjectParams<S>,
    payload: Payload,
  ): void

  /** Calls the listener with every live event, including those of this process, until disposed. */
  listen<S extends string, Payload>(
    contract: EventContract<S, Payload>,
    params: SubjectParams<S>,
    listener: (payload: Payload) => void,
  ): Disposable

  /** Opens a bucket and creates it if it is missing. Throws `unavailable`. */
  bucket<T>(definition: BucketDefinition<T>): Promise<Bucket<T>>

  /** Opens the counters that all processes share. Throws `unavailable`. */
  counter(): Promise<Counter>

  /** A random secret that all processes share, constant for each name. Throws `unavailable`. */
  secret(name: string): Promise<Uint8Array>

  /** Resolves when the broker answered; rejects with `unavailable` when it does not. */
  ping(): Promise<void>
}

/** The health of the broker's storage, as far as this process sees. */
export interface Storage {
  /** Why durable writes fail while the broker answers; `undefined` when they succeed. */
  fault(): string | undefined
  /** Throws `unavailable` when new work must not begin, because writes fail or the disk is nearly full. */
  checkRoom(): Promise<void>
  /** The room for the broker's data, where it is known. */
  disk(): Promise<DiskSpace | undefined>
  /** The sizes of the streams that grow with use. Throws `unavailable`. */
  streams(): Promise<StreamSize[]>
}

export interface DiskSpace {
  readonly sizeBytes: number
  /** How much can be written before new work is refused; negative while it is. */
  readonly roomBytes: number
}

export interface StreamSize {
  readonly stream: string
  readonly bytes: number
}

/** A message of the audit log: entries that one process appended together. */
export interface AuditMessage {
  readonly seq: number
  /** Id of that process on the bus. */
  readonly writer: string
  /** Each is JSON. */
  readonly entries: readonly string[]
}

export interface AuditState {
  readonly messages: number
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** How long messages are kept. */
  readonly maxAgeMs: number
}

/** The audit log of all processes. The bus does not know the content of its entries. */
export interface AuditStream {
  /** Creates the log if it is missing, and sets how long messages are kept. Throws `unavailable`. */
  open(options: { readonly maxAgeMs: number }): Promise<void>
  /**
   * Appends entries together. A writer waits for the end of one append before the next. Throws `unavailable`; the same
   * entries can then be appended again, and are stored once.
   */
  append(writer: string, entries: readonly string[]): Promise<void>
  /** The state of the log; `undefined` when there is none. Throws `unavailable`. */
  state(): Promise<AuditState | undefined>
  /**
   * The stored messages in order. `since`: only messages stored from this time on. `from`: only messages from this
   * sequence on. Throws `unavailable`.
   */
  read(options?: {
    readonly since?: Date | undefined
    readonly from?: number
  }): AsyncIterable<AuditMessage>
  /**
   * The stored messages from the newest one back. `since`: only messages stored from this time on. `from`: only messages
   * up to this sequence. Throws `unavailable`.
   */
  readBack(options?: {
    readonly since?: Date | undefined
    readonly from?: number | undefined
  }): AsyncIterable<AuditMessage>
}

/** An item of a followed session. `caught-up`: everything stored so far has been yielded. */
export type FollowItem =
  | { readonly type: 'entry'; readonly entry: LogEntry }
  | { readonly type: 'delta'; readonly delta: TextDelta }
  | { readonly type: 'progress'; readonly progress: ToolProgress }
  | { readonly type: 'caught-up' }

export interface AppendOptions {
  readonly envelope: Envelope
  /** Deduplicates repeated appends. Each id belongs to one writer and is unique within the session. */
  readonly messageId: string
  /** Append only if this is still the last sequence on the fact's subject. */
  readonly fence?: number
  /** How long to retry while the broker cannot be reached, in milliseconds. Default 30,000. */
  readonly patienceMs?: number
}

export interface ReadOptions {
  /**
   * A sequence that is known to be stored. The read waits until a replica has it, or throws `unavailable` after 30 s.
   * Later entries may be missing.
   */
  readonly through?: number
  /** The largest number of entries, counted from the first. */
  readonly limit?: number
  /** The last sequence to read. */
  readonly until?: number
}

/** The outcome for a job: done, or the delay before it is redelivered. 0: at once. */
export type InputVerdict = 'done' | { readonly retryMs: number }

/** The delivery of jobs to this process. Disposing it ends the delivery; jobs in flight go on. */
export interface InputJobs extends AsyncDisposable {
  /** The jobs in flight, in the form for `handBack`, the oldest first. */
  readonly held: () => string[]
}

/** The end of a session's log. */
export interface LogEnd {
  /** Its last sequence, 0 when it is empty. */
  readonly seq: number
  /** The last turn event, if there was one. */
  readonly turnEvent: LogEntry | undefined
  /** Sequences of all sessions whose entries were lost with damaged data. */
  readonly lost?: readonly LostRange[]
}

/** Numbers of entries by log. */
export interface LogCounts {
  readonly counts: ReadonlyMap<SessionId, number>
  /** Whether the counts add up to the broker's total; otherwise its data is damaged. */
  readonly isReliable: boolean
  /** Sequences whose entries were lost with damaged data. */
  readonly lost: readonly LostRange[]
}

/**
 * The logs of all sessions: one append-only log each, the source of truth. While the broker is away all operations
 * retry, and throw `unavailable` in the end.
 */
export interface SessionLog {
  /** The lost ranges of the log that this process knows of. */
  readonly lostRanges: readonly LostRange[]
  /**
   * Appends a fact and returns its sequence. Retries while the broker is away. Errors: `conflict` when another process
   * has passed the fence, `unavailable` when the retries ended (the outcome is unknown), `invalid`.
   */
  append(
    session: SessionId,
    fact: LogFact,
    options: AppendOptions,
  ): Promise<{ seq: number; duplicate: boolean }>

  /** The entries after a sequence in order, including all that were stored before the call. */
  read(session: SessionId, after: number, options?: ReadOptions): Promise<LogEntry[]>

  /**
   * The last sequence of the session's log, 0 when it is empty. Read from the stream's leader, so that no entry is
   * missed.
   */
  lastSequence(session: SessionId): Promise<number>

  /**
   * Whether the last control fact of the log deletes the session. False once an orchestrator has erased the log, which
   * it does after marking the session's record.
   */
  isDeleted(session: SessionId): Promise<boolean>

  /** The end of the session's log, from the stream's leader. */
  end(session: SessionId): Promise<LogEnd>

  /**
   * Like `end`, but also listens until disposed, so that a `follow()` that begins meanwhile need not read the end
   * again.
   */
  listen(session: SessionId): Promise<LogEnd & Disposable>

  /**
   * Every entry after a sequence, each once and in order, then each new one, until the signal. With `deltas` also live
   * text, where a lost delta shows in the offset of the next, and the progress of tools, which may be lost.
   * Throws `not-found` once the session was deleted, `unavailable` when the entry yielded last was lost.
   */
  follow(
    session: SessionId,
    options: { after: number; deltas: boolean; signal: AbortSignal },
  ): AsyncIterable<FollowItem>

  /**
   * Delivers every user message and control fact to one consumer among all processes, until its handler returns `done`.
   */
  consumeInputs(handler: (entry: LogEntry) => Promise<InputVerdict>): Promise<InputJobs>

  /** Returns a job of a dead process to the broker, so that another process gets it at once. */
  handBack(job: string): void

  /** The number of inputs whose handler has not returned `done`, in all processes. Throws `unavailable`. */
  unfinishedInputs(): Promise<number>

  /** The number of entries of each session, counted by the broker without reading them. */
  counts(): Promise<LogCounts>

  /** Deletes all of a session's log. */
  purge(session: SessionId): Promise<void>
}

export interface PutRecordOptions {
  /** Writes only if this is still the revision; 0: only if there is no record. */
  readonly revision?: number
  /** Removes the record after this time, in whole seconds; for records that mark a deletion. */
  readonly ttlMs?: number
}

/** A record with its revision. */
export interface BucketRecord<T> {
  readonly record: T
  readonly revision: number
}

/**
 * Records of one kind by key. All operations retry for 30 s while the broker is away, then throw `unavailable`. They
 * throw `conflict` when another process has written since the given revision.
 */
export interface Bucket<T> {
  /** The time for times in records, by the broker's clock, in epoch milliseconds. */
  now(): number
  /** Reads from the leader, since replicas may lag. */
  get(key: string): Promise<BucketRecord<T> | undefined>
  /** Writes and returns the revision. */
  put(key: string, record: T, options?: PutRecordOptions): Promise<number>
  /** Removes a record. With a revision, only that one is removed: when several processes remove it, one succeeds. */
  remove(key: string, revision?: number): Promise<void>
  /** All records, kept up to date until the bus is closed. Resolves once the existing records are read. */
  watch(): Promise<BucketView<T>>
}

/** Counters shared by all processes, by key and window of time. */
export interface Counter {
  /**
   * Adds to a counter and returns the sum. `window`: the number of windows since the epoch. Throws `unavailable` or
   * `deadline`.
   */
  add(
    key: string,
    amount: number,
    about: { readonly window: number; readonly windowMs: number },
  ): Promise<number>
}

/** The records of a bucket. The view may lag behind. */
export interface BucketView<T> {
  readonly records: ReadonlyMap<string, T>
  /** Calls after each change, until disposed. */
  readonly onChange: (listener: () => void) => Disposable
}

/** Records of sessions besides their logs. All operations retry for 30 s, then throw `unavailable`. */
export interface SessionDirectory {
  /** The record and its revision, from the stream's leader, since replicas may lag. */
  get(
    session: SessionId,
  ): Promise<{ readonly record: SessionRecord; readonly revision: number } | undefined>
  /** Writes and returns the revision. Throws `conflict` when another process wrote since the given revision. */
  put(record: SessionRecord, options?: PutRecordOptions): Promise<number>
  remove(session: SessionId): Promise<void>
  /** All records, kept up to date until the bus is closed. Resolves once the existing records are read. */
  watch(): Promise<DirectoryView>
}

/** The records of all sessions. The view may lag behind. */
export interface DirectoryView {
  readonly records: ReadonlyMap<SessionId, SessionRecord>
}

/**
 * The latest snapshot of the folded state of each session, kept for 30 days. Retries and errors are those of `Blobs`.
 */
export interface Snapshots {
  put(session: SessionId, bytes: Uint8Array): Promise<void>
  get(session: SessionId): Promise<Uint8Array | undefined>
  /** A missing snapshot is not an error. */
  remove(session: SessionId): Promise<void>
}

/** The present state of the host: servers with their tools, the default model, and the processes that run them. */
export interface Catalog {
  /** With `ttlMs`, in whole seconds, the entry expires unless it is put again in time. */
  put(entry: CatalogEntry, options?: { readonly ttlMs?: number }): Promise<void>
  remove(entry: CatalogEntry): Promise<void>
  /**
   * All entries, kept up to date until the bus is closed. Resolves once the existing entries are read. `withLists`: whether
   * lists that are too large for an entry are read; without them such an entry has no tools. Default: `true`.
   */
  watch(options?: { readonly withLists?: boolean }): Promise<CatalogView>
}

export interface CatalogView {
  readonly entries: ReadonlyMap<string, CatalogEntry>
  /** Calls after each change, until disposed. */
  readonly onChange: (listener: () => void) => Disposable
}

/** Records of MCP clients' sessions, which expire a week after the last change. */
export interface McpClients {
  /** Writes the changed record of a client; retries after a concurrent write. Throws `unavailable`. */
  change(id: string, change: (record: McpClientRecord) => McpClientRecord): Promise<void>
  /** All records, kept up to date until the bus is closed. Resolves once the existing records are read. */
  watch(): Promise<McpClientView>
}

/** A view that has all writes of this process, and may lag behind those of others. */
export interface McpClientView {
  /** The record of a client; `undefined` when it has not been read or was evicted. */
  get(client: string): McpClientRecord | undefined
  /** Reads the record of a client into the view; returns `undefined` when the view has it. Throws `unavailable`. */
  read(client: string): Promise<void> | undefined
  /** Protects the record of a client from eviction, until disposed. */
  hold(client: string): Disposable
  /** Calls after each change, until disposed. */
  readonly onChange: (listener: () => void) => Disposable
}

/** The stored holder of a lease. */
export interface LeaseRecord {
  /** The holder's id on the bus. */
  readonly holder: string
  /** Grows with every renewal. */
  readonly revision: number
}

/**
 * Mutual exclusion between processes. A lease ends when its holder does not renew it. Everything here throws
 * `unavailable` when the broker cannot be reached.
 */
export interface Leases {
  /**
   * Takes the lease; `undefined` while another process holds it. `ttlMs` counts in whole seconds. `isFixed`: the lease
   * is not renewed, so it ends after that time.
   */
  acquire(
    key: string,
    options: { readonly ttlMs: number; readonly isFixed?: boolean },
  ): Promise<Lease | undefined>
  /** Replaces the lease of a dead holder; `undefined` when it was renewed or taken meanwhile. */
  take(
    key: string,
    deadHolderRevision: number,
    options: { readonly ttlMs: number },
  ): Promise<Lease | undefined>
  /** The present holder, from the stream's leader, since replicas may lag. */
  holder(key: string): Promise<LeaseRecord | undefined>
  /** The leases whose keys match, such as `server.*`, kept up to date until the bus is closed. */
  watch(pattern: string): Promise<LeaseView>
}

/** A lease of this process, which renews itself unless it is fixed. */
export interface Lease extends AsyncDisposable {
  readonly key: string
  readonly revision: number
  /**
   * Whether no other process can hold the lease, by the local clock. False while the broker cannot be reached, and
   * after that until the lease is confirmed.
   */
  readonly isHeld: boolean
  /** Aborts when another process took it, or when it could not be renewed in time. */
  readonly lost: AbortSignal
  /** Ends the lease, so that other processes need not wait for its expiry. Never throws. */
  release(): Promise<void>
}

/** The holders of leases. The view may lag behind. */
export interface LeaseView {
  readonly holders: ReadonlyMap<string, LeaseRecord>
  /** Calls after each change of a holder, until disposed. */
  readonly onChange: (listener: () => void) => Disposable
}

/** The reference that is sent in place of a value that is too large for a message. */
export interface StoredBlob {
  readonly key: string
  readonly bytes: number
  /** In the form `SHA-256=…`. */
  readonly digest: string
}

/** Metadata of a stored value. */
export interface BlobAbout {
  /** The session that the value belongs to. */
  readonly session?: SessionId
  readonly mimeType?: string
  /** The file's name. */
  readonly name?: string
}

/**
 * Values that are too large for a message, kept for 30 days. All operations retry for 30 s, then throw `unavailable`;
 * `exhausted` when the broker has no room.
 */
export interface Blobs {
  put(bytes: Uint8Array, about?: BlobAbout): Promise<StoredBlob>
  /** The metadata of a value; `undefined` when it is missing. */
  find(key: string): Promise<(StoredBlob & Omit<BlobAbout, 'session'>) | undefined>
  /**
   * A new copy of the value, which the caller may change. Throws `not-found`, also when the value has another digest
   * than the given one: another process has replaced it.
   */
  get(
    key: string,
    expected?: { readonly digest?: string | undefined },
  ): Promise<Uint8Array<ArrayBuffer>>
  /** The value in pieces, each read when it is asked for. Throws `not-found`, and for a damaged value before its end. */
  read(key: string): AsyncIterable<Uint8Array>
  /** A missing key is not an error. */
  remove(key: string): Promise<void>
  /** Removes all values of a session. Reads the names of all blobs. */
  removeAll(session: SessionId): Promise<void>
}
