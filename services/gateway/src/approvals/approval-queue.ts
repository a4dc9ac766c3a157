import type { Bucket, BucketRecord, BucketView, Bus } from '@mcp-host/bus'
import type { Caller } from '@mcp-host/contracts'
import { BusError, isAdmin } from '@mcp-host/contracts'
import type { GatewayAudit, NamedCall } from '../gateway-audit.ts'
import { RecentRecords } from '../limits/recent-records.ts'
import { digest } from '@mcp-host/json'
import type { ApprovalRecord } from './approval-record.ts'
import { approvals } from './approval-record.ts'

/** Limit for waiting calls of one principal. Calls at several gateways at once may exceed it, since replicas lag. */
const MAX_PENDING = 50
/** The limit for arguments, since a user has to read them before the decision. */
const MAX_ARGUMENTS_LENGTH = 64 * 1024

interface OpenQueue {
  readonly bucket: Bucket<ApprovalRecord>
  readonly view: Pick<BucketView<ApprovalRecord>, 'records'>
}

const ID = /^[0-9a-f]{32}$/

export interface ApprovalQueueDeps {
  readonly bus: Pick<Bus, 'bucket'>
  readonly audit: Pick<GatewayAudit, 'approvalAsked' | 'approvalAnswered'>
}

/** A call in the queue, with its id. */
export type QueuedApproval = ApprovalRecord & { readonly id: string }

/**
 * The queue of calls whose callers cannot be asked. A user decides about them over other routes. All gateways share the
 * queue.
 */
export class ApprovalQueue {
  readonly #deps: ApprovalQueueDeps
  readonly #timeoutMs: number
  #opened: Promise<OpenQueue> | undefined
  readonly #recent = new RecentRecords<ApprovalRecord>()

  /** `timeoutMs`: the time for the decision and the call together. */
  constructor(deps: ApprovalQueueDeps, { timeoutMs }: { readonly timeoutMs: number }) {
    this.#deps = deps
    this.#timeoutMs = timeoutMs
  }

  /**
   * Adds a call to the queue. A call that waits already is not added again. Throws `exhausted`, `invalid`,
   * `unavailable`.
   */
  async ask(caller: Caller, { server, tool, arguments: args }: NamedCall): Promise<QueuedApproval> {
    const json = JSON.stringify(args)
    if (json.length > MAX_ARGUMENTS_LENGTH) {
      const message = `arguments: a call that a user has to allow may have ${MAX_ARGUMENTS_LENGTH} characters`
      throw new BusError('invalid', message, { field: 'arguments' })
    }
    const hash = await digest(args)
    const queue = await this.#open()
    const { bucket, view } = queue
    const isWaiting = ({ principal, state }: ApprovalRecord): boolean =>
      principal === caller.id && state === 'pending'
    const waiting = open(queue, isWaiting)
    const known = waiting.find((each) => isSame(each, { server, tool, hash }))
    if (known !== undefined && (await this.#isOpen(known))) return known
    // Nothing is waited for between this count and the addition, so that calls at once do not all pass the limit.
    const records = this.#recent.with(view.records)
    if (open({ bucket, view: { records } }, isWaiting).length >= MAX_PENDING) {
      const message = `${MAX_PENDING} calls wait for a decision; decide on them first`
      throw new BusError('exhausted', message)
    }
    const now = bucket.now()
    const record: ApprovalRecord = {
      principal: caller.id,
      server,
      tool,
      arguments: JSON.parse(json),
      hash,
      state: 'pending',
      createdAt: now,
      expiresAt: now + this.#timeoutMs,
    }
    const id = crypto.randomUUID().replaceAll('-', '')
    await this.#recent.add(id, record, () =>
      bucket.put(id, record, { revision: 0, ttlMs: this.#timeoutMs }),
    )
    this.#deps.audit.approvalAsked(caller, { server, tool, arguments: args, call: id })
    return { id, ...record }
  }

  /** The calls that wait for a decision, oldest first: those of the caller, or all for an admin. */
  async list(caller: Caller): Promise<QueuedApproval[]> {
    return open(
      await this.#open(),
      (record) => record.state === 'pending' && maySee(caller, record),
    ).toSorted((one, other) => one.createdAt - other.createdAt)
  }

  /** A call in the queue. Throws `not-found`, also for the call of another principal. */
  async get(caller: Caller, id: string): Promise<QueuedApproval> {
    return { id, ...(await this.#find(caller, id)).record }
  }

  /** Allows or refuses a call. Throws `not-found`, or `conflict` when the decision was made before. */
  async answer(caller: Caller, id: string, outcome: 'allowed' | 'refused'): Promise<void> {
    const { record, revision } = await this.#find(caller, id)
    if (record.state !== 'pending') throw decided(record)
    await this.#change(id, { ...record, state: outcome, answeredBy: caller.id }, revision)
    const { server, tool, arguments: args } = record
    this.#deps.audit.approvalAnswered(caller, { server, tool, arguments: args, call: id }, outcome)
  }

  /**
   * Uses up the approval of a call, which may then run. Throws `not-found` for an id of another principal, `conflict`
   * for an id of another call or a used one, `denied` for a refused one. Returns the record if the call still waits.
   */
  async use(caller: Caller, id: string, call: NamedCall): Promise<QueuedApproval | undefined> {
    const { record, revision } = await this.#find(caller, id)
    // An admin sees calls of others, but cannot use their approvals.
    if (record.principal !== caller.id) throw notFound()
    const { server, tool } = call
    if (!isSame(record, { server, tool, hash: await digest(call.arguments) })) {
      const message = 'approval: belongs to another tool or other arguments'
      throw new BusError('conflict', message, { field: 'approval' })
    }
    if (record.state === 'pending') return { id, ...record }
    if (record.state === 'refused') {
      throw new BusError('denied', 'approval: the call was refused', { field: 'approval' })
    }
    if (record.state === 'used') throw decided(record)
    await this.#change(id, { ...record, state: 'used' }, revision)
    return undefined
  }

  /** Uses up an approval of an equal call, for callers that cannot send its id. Returns `false` when there is none. */
  async take(caller: Caller, call: NamedCall): Promise<boolean> {
    const queue = await this.#open()
    const { server, tool } = call
    const hash = await digest(call.arguments)
    // One that was allowed a moment ago may still read as pending.
    const found = open(queue, ({ principal, state, ...name }) => {
      const isOwn = principal === caller.id && (state === 'allowed' || state === 'pending')
      return isOwn && isSame(name, { server, tool, hash })
    })
    for (const { id } of found) {
      try {
        if ((await this.use(caller, id, call)) === undefined) return true
      } catch (error) {
        // Another request has used it, or it was refused a moment ago.
        if (!['conflict', 'not-found', 'denied'].includes(BusError.from(error).code)) throw error
      }
    }
    return false
  }

  /** Stores that the answer to a question of a client is used. Returns `false` when it was before. */
  async spend(caller: Caller, call: NamedCall, question: string): Promise<boolean> {
    const id = question.replaceAll('-', '')
    if (!ID.test(id)) return false
    const { bucket } = await this.#open()
    const now = bucket.now()
    const record: ApprovalRecord = {
      principal: caller.id,
      server: call.server,
      tool: call.tool,
      arguments: null,
      hash: await digest(call.arguments),
      state: 'used',
      answeredBy: caller.id,
      createdAt: now,
      expiresAt: now + this.#timeoutMs,
    }
    try {
      await bucket.put(id, record, { revision: 0, ttlMs: this.#timeoutMs })
      return true
    } catch (error) {
      if (BusError.from(error).code === 'conflict') return false
      throw error
    }
  }

  /** Whether a call that the view shows as pending can still run: the view may lag behind a refusal. */
  async #isOpen({ id }: QueuedApproval): Promise<boolean> {
    const { bucket } = await this.#open()
    const state = (await bucket.get(id))?.record.state
    return state === 'pending' || state === 'allowed'
  }

  async #find(caller: Caller, id: string): Promise<BucketRecord<ApprovalRecord>> {
    if (!ID.test(id)) throw notFound()
    const { bucket } = await this.#open()
    const found = await bucket.get(id)
    const isOver = found === undefined || found.record.expiresAt <= bucket.now()
    if (isOver || !maySee(caller, found.record)) throw notFound()
    return found
  }

  async #change(id: string, record: ApprovalRecord, revision: number): Promise<void> {
    const { bucket } = await this.#open()
    const ttlMs = Math.max(1_000, record.expiresAt - bucket.now())
    await bucket.put(id, record, { revision, ttlMs })
  }

  #open(): Promise<OpenQueue> {
    this.#opened ??= this.#deps.bus
      .bucket(approvals)
      .then(async (bucket) => ({ bucket, view: await bucket.watch() }))
    this.#opened.catch(() => (this.#opened = undefined))
    return this.#opened
  }
}

function open(
  { bucket, view: { records } }: OpenQueue,
  isWanted: (record: ApprovalRecord) => boolean,
): QueuedApproval[] {
  const now = bucket.now()
  return Array.from(records).flatMap(([id, record]) =>
    record.expiresAt > now && isWanted(record) ? [{ id, ...record }] : [],
  )
}

function maySee(caller: Caller, { principal }: ApprovalRecord): boolean {
  return principal === caller.id || isAdmin(caller)
}

type CallName = Pick<ApprovalRecord, 'server' | 'tool' | 'hash'>

function isSame(one: CallName, other: CallName): boolean {
  return one.server === other.server && one.tool === other.tool && one.hash === other.hash
}

function notFound(): BusError {
  return new BusError('not-found', 'there is no such approval; it may have expired')
}

function decided({ state }: ApprovalRecord): BusError {
  return new BusError('conflict', `the approval is ${state} already`)
}
