import type { Participant } from '@mcp-host/contracts'
import { ACCOUNTS } from '@mcp-host/contracts'
import { STORE_API } from '../check-credential.ts'
import type { SharedSubject } from './access-rules.ts'
import { accessRules, SERVICE_NAMES } from './access-rules.ts'

/**
 * The time after the last reply for which the broker keeps the route of a call with several replies. Callers give up
 * earlier. Each call takes memory for this time.
 */
const REPLIES_LIMIT = '10s'

/** The public nkeys of each participant: two during a rotation. */
export type PublicKeys = Readonly<Record<Participant, readonly string[]>>

/**
 * The `accounts` of a nats-server configuration, with which each service has only the permissions that the contracts
 * declare.
 */
export function accountsConfig(keys: PublicKeys): object {
  const { services, shared } = accessRules()
  const accountOf = (participant: Participant, more: object): object => {
    const account = ACCOUNTS[participant]
    const imported = shared.filter(({ users }) => users.includes(account))
    return {
      [account]: {
        ...more,
        exports: shared.filter(({ owner }) => owner === account).map(toExport),
        imports: imported.map(toImport),
      },
    }
  }
  const accounts = SERVICE_NAMES.map((service) => {
    const { publish, subscribe } = services[service]
    const permissions = { publish: { allow: publish }, subscribe: { allow: subscribe } }
    return accountOf(service, { users: keys[service].map((nkey) => ({ nkey, permissions })) })
  })
  // The commands of operators have all permissions.
  const tools = { jetstream: 'enabled', users: keys.tools.map((nkey) => ({ nkey })) }
  return Object.assign({}, accountOf('tools', tools), ...accounts) as object
}

/**
 * The import of a shared subject. Stream requests get another prefix in the accounts of services, since the broker
 * would otherwise answer them for the account itself.
 */
function toImport({ kind, owner, subject }: SharedSubject): object {
  const stored = storedName(subject)
  const imported = { [kind]: { account: owner, subject: stored } }
  return stored === subject ? imported : { ...imported, to: subject }
}

function storedName(subject: string): string {
  return subject.startsWith(`${STORE_API}.`) ? subject.replace(STORE_API, '$JS.API') : subject
}

function toExport({ subject, kind, users, hasSeveralReplies }: SharedSubject): object {
  const replies = hasSeveralReplies
    ? { response_type: 'stream', response_threshold: REPLIES_LIMIT }
    : {}
  return { [kind]: storedName(subject), accounts: users, ...replies }
}
