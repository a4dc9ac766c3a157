import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { Msg } from '@nats-io/transport-node'
import type {
  AccountName,
  BucketAccess,
  BucketDefinition,
  CallContract,
  Envelope,
  EventContract,
  OpaqueCallContract,
  Participant,
  SubjectParams,
} from '@mcp-host/contracts'
import { ACCOUNTS, BUCKETS, BusError, fillSubject, ownValue } from '@mcp-host/contracts'
import { checkCredential, STORE_API } from './check-credential.ts'
import { type Broker, isLiveEvent, subscribe } from './broker.ts'
import type {
  Bucket,
  Bus,
  CallOptions,
  Counter,
  OpaqueCallHandler,
  OpaqueReplyListener,
  ServedRequest,
  SessionDirectory,
  Snapshots,
} from './bus.ts'
import {
  decode,
  encode,
  envelopeHeaders,
  errorReply,
  readEnvelope,
  throwErrorReply,
} from './codec.ts'
import type { Credential } from './connect.ts'
import { connectNats } from './connect.ts'
import { BrokerClock, brokerTime } from './broker-clock.ts'
import { decodeFrame, encodeFrame, withEnvelope } from './frame.ts'
import { NatsAudit } from './nats-audit.ts'
import { NatsBucket } from './nats-bucket.ts'
import { NatsCounter } from './nats-counter.ts'
import { NatsBlobs } from './nats-blobs.ts'
import { CATALOG_BUCKET, NatsCatalog } from './nats-catalog.ts'
import { DIRECTORY_BUCKET, NatsDirectory } from './nats-directory.ts'
import { isAlone, isMissing, toBusError } from './nats-error.ts'
import { LEASE_BUCKET, NatsLeases } from './nats-leases.ts'
import { MCP_CLIENT_BUCKET, NatsMcpClients } from './nats-mcp-clients.ts'
import { readSecret, SECRET_BUCKET } from './nats-secrets.ts'
import { LOG_HEAD_BUCKET, NatsLogHead } from './nats-log-head.ts'
import { partnerName } from './partner-name.ts'
import { NatsSessionLog } from './nats-session-log.ts'
import { NatsSnapshots, SNAPSHOT_BUCKET } from './nats-snapshots.ts'
import type { Asker } from './reply-inbox.ts'
import { ReplyInbox } from './reply-inbox.ts'
import type { StoreRoom } from './storage-health.ts'
import { StorageHealth } from './storage-health.ts'
import { ensureBlobs, ensureBucket, ensureStreams } from './streams.ts'

const ANSWER_LIMIT_MS = 2_000

/** The lifetime of blobs. Stores of an earlier version have no limit. */
const BLOBS_MS = 30 * 24 * 3_600_000

const CLOCK_OFF =
  'the clock of this machine differs from that of nats-server; synchronise both by NTP'

const LOST_END =
  'the end of the session logs is lost: the data of nats-server was damaged; run npm run doctor'

/** The offset that the clock of a sender of an earlier version may have. */
const OLD_SENDER_OFFSET_MS = 60_000

/** Short, because the publisher and the readers of an entry retry by themselves. */
const CATALOG_PATIENCE_MS = 2_000

/** The log of the bus; a pino logger fits. */
export interface BusLogger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface ConnectBusOptions {
  /** `nats://[token@]host:port`, several separated by commas. */
  readonly url: string
  /** The service's name, from which the process's id is made. */
  readonly name: string
  readonly logger: BusLogger
  /** The replicas of each message in a cluster, 1 to 5. Default 1. */
  readonly replicas?: number
  /** The room for the broker's data, where it is known. */
  readonly store?: StoreRoom | undefined
  /** The credential of the process. Default: the one in the URL. */
  readonly credential?: Credential | undefined
  /** Called with `denied` when the broker refuses the credential of a connection that was open before. */
  readonly onRefused?: (error: BusError) => void
  /** The clock of this machine, in epoch milliseconds. */
  readonly now?: () => number
}

/**
 * Connects to the broker, creates missing streams and buckets, and stays connected over restarts of the broker. With
 * the credential of a bus account, a service creates nothing: operations on missing streams throw `unavailable`.
 */
export async function connectBus({
  url,
  name,
  logger,
  replicas = 1,
  store,
  credential,
  onRefused,
  now = Date.now,
}: ConnectBusOptions): Promise<Bus> {
  const id = `${name}-${crypto.randomUUID().slice(0, 8)}`
  const connection = await connectNats(url, id, credential, onRefused)
  const warn = (error: unknown, action: string): void => {
    logger.warn({ component: 'bus', action, err: error }, 'bus trouble')
  }
  try {
    const isOwner = await checkCredential(connection, name)
    const api = isOwner ? '$JS.API' : STORE_API
    const options = { timeout: ANSWER_LIMIT_MS, apiPrefix: api }
    const manager = await jetstreamManager(connection, { ...options, checkAPI: false })
    const broker = { connection, jetstream: jetstream(connection, options), manager, api, warn }
    const storage = new StorageHealth({
      ...broker,
      store,
      replicas,
      canPurge: isOwner || name === 'orchestrator',
      isConnected: () => connection.info !== undefined && !connection.isClosed(),
      onFault: (fault) => {
        const fields = { component: 'bus', action: 'store' }
        if (fault === undefined) logger.info(fields, 'writes are stored again')
        else logger.error(fields, fault)
      },
    })
    const head = new NatsLogHead({
      ...broker,
      canRepair: isOwner || name === 'orchestrator',
      onLoss: (range) =>
        logger.error({ component: 'bus', action: 'check-log', ...range }, LOST_END),
    })
    if (isOwner) await ensureStores(broker, replicas)
    await head.check()
    const clock = new BrokerClock({
      ask: () => brokerTime(broker),
      wall: now,
      onOffset: (offsetMs, isLarge) => {
        const fields = { component: 'bus', action: 'clock', offsetMs: Math.round(offsetMs) }
        if (isLarge) logger.warn(fields, CLOCK_OFF)
        else logger.info(fields, 'the clock of this machine agrees with that of nats-server again')
      },
    })
    await clock.start()
    const bus = new NatsBus({ id, broker, storage, head, clock, replicas, isOwner })
    void bus.watchConnection(logger)
    return bus
  } catch (error) {
    await connection.close()
    if (error instanceof BusError) throw error
    if (isAlone(error)) {
      const message = `nats-server is no cluster and cannot keep ${replicas} replicas; set NATS_REPLICAS=1`
      throw new BusError('invalid', message, { cause: error })
    }
    if (isMissing(error)) {
      const message =
        'nats-server has no streams of the host yet; create them with: npm run bus-accounts -- provision'
      throw new BusError('unavailable', message, { cause: error })
    }
    // The broker may have just started, or have no leader yet: a retry may succeed.
    const reason = error instanceof Error ? error.message : String(error)
    const message = `nats-server is not ready: ${reason}; if it stays so, its data may be damaged: npm run doctor`
    throw new BusError('unavailable', message, { cause: error })
  }
}

const FIRST_BUCKETS = [
  CATALOG_BUCKET,
  LEASE_BUCKET,
  DIRECTORY_BUCKET,
  SNAPSHOT_BUCKET,
  MCP_CLIENT_BUCKET,
  LOG_HEAD_BUCKET,
]

/** Creates the streams, buckets and stores that every service uses, where they are missing. */
async function ensureStores(broker: Broker, replicas: number): Promise<void> {
  const { jetstream: client, manager } = broker
  await Promise.all([
    ...FIRST_BUCKETS.map((name) => createBucket(broker, name, replicas)),
    ensureBlobs(client, manager, { replicas, maxAgeMs: BLOBS_MS }),
    ensureStreams(manager, { replicas }),
  ])
}

function createBucket(
  { jetstream: client, manager }: Broker,
  name: string,
  replicas: number,
): Promise<void> {
  const access: BucketAccess | undefined = ownValue(BUCKETS, name)
  return ensureBucket(client, manager, name, { replicas, ...access })
}

/** Connects the reply inbox with the caller of an opaque call. */
class OpaqueCallAsker<Reply> implements Asker {
  readonly quietMs: number
  readonly #contract: Pick<OpaqueCallContract<string, never, Reply>, 'subject' | 'reply'>
  readonly #listener: OpaqueReplyListener<Reply>

  constructor(
    contract: Pick<OpaqueCallContract<string, never, Reply>, 'subject' | 'reply'>,
    quietMs: number,
    listener: OpaqueReplyListener<Reply>,
  ) {
    this.#contract = contract
    this.quietMs = quietMs
    this.#listener = listener
  }

  onAnswer(message: Msg): boolean {
    throwErrorReply(message)
    return !this.#listener.onAnswer(decodeFrame(this.#contract.reply, message.data, 'the answer'))
  }

  onFailure(error: unknown): void {
    this.#listener.onFailure(toBusError(error, partnerName(this.#contract.subject)))
  }

  onWaiting(): void {
    this.#listener.onWaiting()
  }
}

/** Describes a request in errors without its subject, which callers do not know. */
function requestTo({ subject }: { readonly subject: string }): string {
  return `the request to the ${partnerName(subject)}`
}

/** The account of the service that answers. */
function responderOf({ to }: { readonly to: readonly Participant[] }): AccountName {
  return ACCOUNTS[to[0] ?? 'tools']
}

/** When a request expires by the broker's clock. Senders of earlier versions wrote the time of their own clock. */
function expiryOf({ expiresAt, deadline }: Envelope): number {
  return expiresAt ?? (deadline === undefined ? Infinity : deadline + OLD_SENDER_OFFSET_MS)
}

interface NatsBusDeps {
  readonly id: string
  readonly broker: Broker
  readonly storage: StorageHealth
  readonly head: NatsLogHead
  readonly clock: BrokerClock
  readonly replicas: number
  /** Whether this process may create streams and buckets. */
  readonly isOwner: boolean
}

class NatsBus implements Bus {
  readonly id: string
  readonly sessions: NatsSessionLog
  readonly directory: SessionDirectory
  readonly snapshots: Snapshots
  readonly catalog: NatsCatalog
  readonly leases: NatsLeases
  readonly blobs: NatsBlobs
  readonly mcpClients: NatsMcpClients
  readonly storage: StorageHealth
  readonly audit: NatsAudit
  readonly clock: BrokerClock
  readonly #head: NatsLogHead
  readonly #broker: Broker
  readonly #replicas: number
  readonly #isOwner: boolean
  readonly #inbox: ReplyInbox
  /** When the last outage ended, by `performance.now()`; `undefined` during one. */
  #outageEnd: number | undefined = -Infinity
  /** Live events of this turn of the event loop, which are sent in one write, since writes are expensive. */
  #outbox: { subject: string; data: Uint8Array }[] = []

  constructor({ id, broker, storage, head, clock, replicas, isOwner }: NatsBusDeps) {
    const inbox = new ReplyInbox(broker.connection, id)
    const deps = { ...broker, inbox }
    this.id = id
    this.#broker = broker
    this.#replicas = replicas
    this.#isOwner = isOwner
    this.#head = head
    this.#inbox = inbox
    this.clock = clock
    this.storage = storage
    this.blobs = new NatsBlobs(deps)
    this.sessions = new NatsSessionLog({ ...deps, storage, head })
    this.directory = new NatsDirectory({ ...deps, clock })
    this.snapshots = new NatsSnapshots({ ...broker, blobs: this.blobs })
    const blobs = new NatsBlobs(deps, { patienceMs: CATALOG_PATIENCE_MS })
    this.catalog = new NatsCatalog({ ...deps, blobs })
    this.leases = new NatsLeases({ ...deps, id })
    this.mcpClients = new NatsMcpClients(deps)
    this.audit = new NatsAudit({ ...deps, replicas, isOwner })
  }

  async bucket<T>(definition: BucketDefinition<T>): Promise<Bucket<T>> {
    try {
      await this.#createBucket(definition.name)
      return new NatsBucket({ ...this.#broker, inbox: this.#inbox, clock: this.clock }, definition)
    } catch (error) {
      throw toBusError(error, 'broker')
    }
  }

  counter(): Promise<Counter> {
    return NatsCounter.open(this.#broker, { replicas: this.#replicas, isOwner: this.#isOwner })
  }

  secret(name: string): Promise<Uint8Array> {
    return readSecret(this.#broker, () => this.#createBucket(SECRET_BUCKET), name)
  }

  async #createBucket(name: string): Promise<void> {
    if (this.#isOwner) await createBucket(this.#broker, name, this.#replicas)
  }

  sinceOutageMs(): number {
    return this.#outageEnd === undefined ? 0 : performance.now() - this.#outageEnd
  }

  /** Follows the connection until it is closed. */
  async watchConnection(logger: BusLogger): Promise<void> {
    for await (const status of this.#broker.connection.status()) {
      if (status.type === 'disconnect') {
        logger.warn({ component: 'bus', action: 'disconnect' }, 'nats-server is gone, reconnecting')
        this.#outageEnd = undefined
        this.#head.interrupted()
        this.sessions.interrupted()
        this.leases.interrupted()
      } else if (status.type === 'reconnect') {
        logger.info({ component: 'bus', action: 'reconnect' }, 'nats-server is back')
        this.#outageEnd = performance.now()
        this.storage.reset()
        // Sessions are checked once the losses are known.
        void this.#head.recheck().then(() => this.sessions.checkAll())
        this.leases.checkAll()
      } else if (status.type === 'error' || status.type === 'slowConsumer') {
        const fields = { component: 'bus', action: status.type, status }
        logger.error(fields, 'nats-server reports trouble')
      }
    }
  }

  async call<S extends string, Request, Reply>(
    contract: CallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    request: Request,
    options: CallOptions,
  ): Promise<Reply> {
    const subject = fillSubject(contract.subject, params)
    const partner = partnerName(contract.subject)
    const data = encode(contract.request, request, requestTo(contract))
    try {
      const reply = await this.#inbox.request(subject, data, {
        timeoutMs: options.timeoutMs,
        headers: envelopeHeaders(this.#stamped(options)),
        responder: responderOf(contract),
      })
      throwErrorReply(reply)
      return decode(contract.reply, reply.data, `the answer of the ${partner}`)
    } catch (error) {
      // The request may have been refused because the broker's clock was set.
      if (options.expires === true) void this.clock.measure()
      throw toBusError(error, partner)
    }
  }

  serve<S extends string, Request, Reply>(
    contract: CallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    handler: (served: ServedRequest<Request>) => Promise<Reply> | Reply,
  ): Disposable {
    const what = requestTo(contract)
    return this.#answer(contract, params, async (message) => {
      const request = decode(contract.request, message.data, what)
      const envelope = readEnvelope(message, what)
      if (this.clock.mayBeOver(expiryOf(envelope))) await this.#refuseExpired(envelope, what)
      const { expiresAt } = envelope
      const timeLeftMs = expiresAt === undefined ? undefined : expiresAt - this.clock.now()
      const reply = await handler({ request, envelope, timeLeftMs })
      return encode(contract.reply, reply, `answer to ${what}`)
    })
  }

  /** The envelope to send, with the time at which the request expires. */
  #stamped({ envelope, timeoutMs, expires = false }: CallOptions): Envelope {
    if (!expires) return envelope
    const expiresAt = this.clock.now() + timeoutMs
    return { ...envelope, expiresAt, deadline: expiresAt }
  }

  /** Throws `unavailable`, since an expired request is not begun. */
  async #refuseExpired(envelope: Envelope, what: string): Promise<void> {
    if (!(await this.clock.isOver(expiryOf(envelope)))) return
    throw new BusError('unavailable', `${what} came too late and was not begun`)
  }

  /** Answers every message on a contract's subject until disposed. */
  #answer<S extends string>(
    { subject: what, answeredBy }: { readonly subject: S; readonly answeredBy: 'group' | 'one' },
    params: SubjectParams<S>,
    answer: (message: Msg) => Promise<Uint8Array>,
  ): Disposable {
    let isOpen = true
    const respond = async (message: Msg): Promise<void> => {
      try {
        if (!isOpen) {
          throw new BusError('unavailable', `the ${partnerName(what)} is closing; try again`)
        }
        message.respond(await answer(message))
      } catch (error) {
        // Also the error of a reply that is too large to be sent.
        const known = BusError.from(error)
        if (known.code === 'internal') this.#broker.warn(error, `serve ${what}`)
        const { data, headers } = errorReply(known)
        message.respond(data, { headers })
      }
    }
    const subscription = this.#broker.connection.subscribe(fillSubject(what, params), {
      ...(answeredBy === 'group' ? { queue: 'replicas' } : {}),
      callback: (failure, message) => {
        if (failure === null) void respond(message)
        else this.#broker.warn(failure, `serve ${what}`)
      },
    })
    return {
      [Symbol.dispose]: () => {
        isOpen = false
        // Delivered messages are still answered. Draining fails when the connection is closed.
        subscription.drain().catch(() => undefined)
      },
    }
  }

  callOpaque<S extends string, Request, Reply>(
    contract: OpaqueCallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    { head, body }: { readonly head: Request; readonly body: Uint8Array | string },
    options: CallOptions,
    listener: OpaqueReplyListener<Reply>,
  ): void {
    const asker = new OpaqueCallAsker(contract, options.timeoutMs, listener)
    try {
      const subject = fillSubject(contract.subject, params)
      // Messages during an outage would be dropped at the reconnect.
      if (this.sinceOutageMs() === 0) throw new BusError('unavailable', 'nats-server is away')
      this.#inbox.begin(subject, encodeFrame([this.#stamped(options), head], body), asker, {
        responder: responderOf(contract),
      })
    } catch (error) {
      asker.onFailure(error)
    }
  }

  serveOpaque<S extends string, Request, Reply>(
    contract: OpaqueCallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    handler: OpaqueCallHandler<Request, Reply>,
  ): Disposable {
    const what = requestTo(contract)
    return this.#answer(contract, params, async (message) => {
      const { head, body } = decodeFrame(withEnvelope(contract.request), message.data, what)
      const [envelope, request] = head
      if (this.clock.mayBeOver(expiryOf(envelope))) await this.#refuseExpired(envelope, what)
      const last = await handler({ head: request, body, envelope }, (part, partBody) => {
        message.respond(encodeFrame(part, partBody))
      })
      return encodeFrame(last.head, last.body)
    })
  }

  emit<S extends string, Payload>(
    contract: EventContract<S, Payload>,
    params: SubjectParams<S>,
    payload: Payload,
  ): void {
    const subject = fillSubject(contract.subject, params)
    this.#outbox.push({ subject, data: encode(contract.payload, payload, 'the event') })
    if (this.#outbox.length === 1) setImmediate(() => this.#sendOutbox())
  }

  listen<S extends string, Payload>(
    contract: EventContract<S, Payload>,
    params: SubjectParams<S>,
    listener: (payload: Payload) => void,
  ): Disposable {
    const subject = fillSubject(contract.subject, params)
    return subscribe(this.#broker, subject, `listen to ${contract.subject}`, (message) => {
      if (!isLiveEvent(message)) return
      listener(decode(contract.payload, message.data, contract.subject))
    })
  }

  #sendOutbox(): void {
    const messages = this.#outbox
    this.#outbox = []
    // Live events may be lost, also at the end.
    if (this.#broker.connection.isClosed()) return
    for (const { subject, data } of messages) {
      try {
        this.#broker.connection.publish(subject, data)
      } catch (error) {
        // The event may be too large; the others are still sent.
        this.#broker.warn(error, `emit ${subject}`)
      }
    }
  }

  async ping(): Promise<void> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new Error('timed out')), 1_000)
    try {
      await Promise.race([this.#broker.connection.flush(), late.promise])
    } catch (error) {
      throw new BusError('unavailable', 'nats-server does not answer', { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.leases.close()
    this.storage[Symbol.dispose]()
    this.clock[Symbol.dispose]()
    await this.#head.close()
    await this.#broker.connection.close()
  }
}
