import type { AccountName, Contract, Participant, ServiceParticipant } from '@mcp-host/contracts'
import {
  ACCOUNTS,
  ALL_LIVE,
  ALL_LOGS_LIVE,
  AUDIT_WRITERS,
  auditSubjectsOf,
  BLOB_USERS,
  BUCKETS,
  CONTRACTS,
  COUNTER_USERS,
  LOG_PROBE,
} from '@mcp-host/contracts'
import { changesSubject } from '../bucket-key.ts'
import { inboxesOf } from '../connect.ts'
import { COUNTER_SUBJECTS } from '../nats-counter.ts'
import { AUDIT_STREAM, BLOB_BUCKET, INPUTS_CONSUMER, SESSIONS_STREAM } from '../streams.ts'
import { STORE_API, WHO_AM_I, WHO_AM_I_INBOX } from '../check-credential.ts'

/** The account that owns the streams. */
const STORE: AccountName = 'STORE'

/** A subject of one account that other accounts use. */
export interface SharedSubject {
  readonly subject: string
  /** `service`: requests go to the owner, and replies come back. `stream`: messages come from the owner. */
  readonly kind: 'service' | 'stream'
  readonly owner: AccountName
  readonly users: readonly AccountName[]
  /** Whether a request may have several replies. */
  readonly hasSeveralReplies: boolean
}

/** The permissions of one service on the bus. */
export interface ServiceAccess {
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
}

export interface AccessRules {
  readonly services: Readonly<Record<ServiceParticipant, ServiceAccess>>
  readonly shared: readonly SharedSubject[]
}

export const SERVICE_NAMES = Object.keys(ACCOUNTS).filter(
  (name): name is ServiceParticipant => name !== 'tools',
)

/** The permissions of every service, made from the messages and buckets that the contracts declare. */
export function accessRules(
  contracts: Readonly<Record<string, Contract>> = CONTRACTS,
): AccessRules {
  const rules = new RuleCollector()
  for (const contract of Object.values(contracts)) addContract(rules, contract)
  for (const name of SERVICE_NAMES) {
    addLogs(rules, name)
    rules.publish(name, WHO_AM_I)
    rules.subscribe(name, `${inboxesOf(name)}.>`, `${WHO_AM_I_INBOX}.>`)
  }
  addBuckets(rules)
  addStreams(rules)
  return rules.result()
}

class RuleCollector {
  readonly #publish = new Map<Participant, Set<string>>()
  readonly #subscribe = new Map<Participant, Set<string>>()
  readonly #shared = new Map<
    string,
    Omit<SharedSubject, 'users'> & { readonly users: Set<AccountName> }
  >()

  publish(name: Participant, ...subjects: string[]): void {
    addAll(this.#publish, name, subjects)
  }

  subscribe(name: Participant, ...subjects: string[]): void {
    addAll(this.#subscribe, name, subjects)
  }

  /** Lets the account of a participant use a subject of another account. */
  share(user: Participant, about: Omit<SharedSubject, 'users'>): void {
    const { subject, kind, owner } = about
    if (ACCOUNTS[user] === owner) return
    const key = `${kind} ${owner} ${subject}`
    const known = this.#shared.get(key) ?? { ...about, users: new Set<AccountName>() }
    known.users.add(ACCOUNTS[user])
    this.#shared.set(key, known)
  }

  /** Lets messages of one participant reach another. */
  send(sender: Participant, receiver: Participant, subject: string): void {
    const owner = ACCOUNTS[sender]
    this.share(receiver, { subject, kind: 'stream', owner, hasSeveralReplies: false })
  }

  /** Lets a service send requests to the account that owns the streams. */
  store(name: ServiceParticipant, subject: string, hasSeveralReplies = false): void {
    this.publish(name, subject)
    this.share(name, { subject, kind: 'service', owner: STORE, hasSeveralReplies })
  }

  /** Lets a service receive messages of the account that owns the streams. */
  hear(name: ServiceParticipant, subject: string): void {
    this.subscribe(name, subject)
    this.share(name, { subject, kind: 'stream', owner: STORE, hasSeveralReplies: false })
  }

  result(): AccessRules {
    const accessOf = (name: ServiceParticipant): ServiceAccess => ({
      publish: [...(this.#publish.get(name) ?? [])].toSorted(),
      subscribe: [...(this.#subscribe.get(name) ?? [])].toSorted(),
    })
    const services = Object.fromEntries(SERVICE_NAMES.map((name) => [name, accessOf(name)]))
    const shared = [...this.#shared.values()].map((each) => ({ ...each, users: [...each.users] }))
    // The collector has an entry for every service.
    return { services: services as AccessRules['services'], shared }
  }
}

function addAll(sets: Map<Participant, Set<string>>, name: Participant, subjects: string[]): void {
  const set = sets.get(name) ?? new Set()
  sets.set(name, set)
  for (const subject of subjects) set.add(subject)
}

/** The template of a subject as a pattern. */
export function subjectPattern(template: string): string {
  return template.replaceAll(/\{\w+\}/g, '*')
}

function addContract(rules: RuleCollector, contract: Contract): void {
  const subject = subjectPattern(contract.subject)
  const { from, to } = contract
  if (contract.kind === 'event' && contract.durability === 'log') {
    for (const name of from) if (name !== 'tools') rules.store(name, subject)
    return
  }
  for (const sender of from) rules.publish(sender, subject)
  for (const receiver of to) rules.subscribe(receiver, subject)
  for (const sender of from) for (const receiver of to) rules.send(sender, receiver, subject)
  if (contract.kind === 'event') return
  // Replies are separate messages: after a restart, the broker has forgotten which reply a service of another account
  // owes.
  for (const responder of to) {
    for (const sender of from) {
      const replies = `${inboxesOf(sender)}.${ACCOUNTS[responder]}.>`
      rules.publish(responder, replies)
      rules.send(responder, sender, replies)
    }
  }
}

/** Whether a service reads the logs of sessions. */
function readsLogs(name: ServiceParticipant): boolean {
  return Object.values(CONTRACTS).some(
    ({ to, ...contract }) =>
      contract.kind === 'event' && contract.durability === 'log' && to.includes(name),
  )
}

/** Adds the permissions of one service for the stream of the session logs. */
function addLogs(rules: RuleCollector, name: ServiceParticipant): void {
  rules.store(name, LOG_PROBE)
  // How much the broker stores.
  rules.store(name, `${STORE_API}.INFO`)
  rules.store(name, `${STORE_API}.STREAM.INFO.${SESSIONS_STREAM}`)
  rules.store(name, `${STORE_API}.CONSUMER.INFO.${SESSIONS_STREAM}.${INPUTS_CONSUMER}`)
  if (readsLogs(name)) {
    rules.store(name, `${STORE_API}.STREAM.MSG.GET.${SESSIONS_STREAM}`)
    rules.store(name, `${STORE_API}.DIRECT.GET.${SESSIONS_STREAM}`, true)
    rules.hear(name, ALL_LOGS_LIVE)
  }
  // A gateway uses one subscription for the entries and the live text of a session.
  if (name === 'gateway') rules.subscribe(name, ALL_LIVE)
  if (name !== 'orchestrator') return
  rules.store(name, `${STORE_API}.CONSUMER.MSG.NEXT.${SESSIONS_STREAM}.${INPUTS_CONSUMER}`, true)
  rules.store(name, `$JS.ACK.${SESSIONS_STREAM}.${INPUTS_CONSUMER}.>`)
  // The orchestrator erases the logs of deleted sessions.
  rules.store(name, `${STORE_API}.STREAM.PURGE.${SESSIONS_STREAM}`)
}

function addBuckets(rules: RuleCollector): void {
  for (const [bucket, { readers, writers }] of Object.entries(BUCKETS)) {
    for (const name of readers) {
      rules.store(name, `${STORE_API}.STREAM.MSG.GET.KV_${bucket}`)
      rules.store(name, `${STORE_API}.DIRECT.GET.KV_${bucket}`, true)
      rules.store(name, `${STORE_API}.DIRECT.GET.KV_${bucket}.>`)
      rules.hear(name, changesSubject(bucket))
    }
    for (const [name, keys] of Object.entries(writers)) {
      for (const key of keys) rules.store(name as ServiceParticipant, `$KV.${bucket}.${key}`)
    }
  }
}

function addStreams(rules: RuleCollector): void {
  for (const name of BLOB_USERS) {
    rules.store(name, `$O.${BLOB_BUCKET}.>`)
    rules.store(name, `${STORE_API}.STREAM.MSG.GET.OBJ_${BLOB_BUCKET}`)
    rules.store(name, `${STORE_API}.DIRECT.GET.OBJ_${BLOB_BUCKET}`, true)
  }
  // The orchestrator finds the values of a deleted session, and reports the sizes of the streams.
  rules.store('orchestrator', `${STORE_API}.STREAM.INFO.OBJ_${BLOB_BUCKET}`)
  rules.store('orchestrator', `${STORE_API}.STREAM.INFO.${AUDIT_STREAM}`)
  for (const name of AUDIT_WRITERS) {
    const own = auditSubjectsOf(name)
    rules.store(name, own)
    rules.store(name, `${STORE_API}.DIRECT.GET.${AUDIT_STREAM}.${own}`)
  }
  // The gateway searches the log for auditors.
  rules.store('gateway', `${STORE_API}.DIRECT.GET.${AUDIT_STREAM}`, true)
  for (const name of COUNTER_USERS) for (const each of COUNTER_SUBJECTS) rules.store(name, each)
}
