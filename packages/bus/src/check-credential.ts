import type { NatsConnection } from '@nats-io/transport-node'
import { createInbox } from '@nats-io/transport-node'
import type { Participant } from '@mcp-host/contracts'
import { ACCOUNTS, BusError } from '@mcp-host/contracts'
import { z } from 'zod'
import { participantOf } from './seed-file.ts'

/** The request that asks the broker for the account of the connection. */
export const WHO_AM_I = '$SYS.REQ.USER.INFO'

/**
 * The prefix of the reply subjects for this request. Every service may receive them, since the prefixes of other
 * replies depend on the account.
 */
export const WHO_AM_I_INBOX = '_INBOX.account'

/** The prefix of stream requests in the accounts of services. The streams are in another account. */
export const STORE_API = 'STORE.API'

const ANSWER_LIMIT_MS = 2_000

const UserInfo = z.object({ data: z.object({ account: z.string() }) })

/**
 * Checks that a process has the credential of its service. `name`: the name of the service or command. Returns whether
 * the process may create streams: without accounts of the host, or with the credential for operators' commands. Throws
 * `denied` for the credential of another service.
 */
export async function checkCredential(connection: NatsConnection, name: string): Promise<boolean> {
  const account = await ownAccount(connection)
  const owner = Object.entries(ACCOUNTS).find(([, each]) => each === account)?.[0]
  if (owner === undefined) return true
  const needed = participantOf(name)
  if (owner === needed) return needed === 'tools'
  const message = `NATS_NKEY_SEED_FILE has the credential of ${describe(owner as Participant)}; ${name} needs that of ${describe(needed)}`
  throw new BusError('denied', message)
}

async function ownAccount(connection: NatsConnection): Promise<string> {
  const reply = createInbox(WHO_AM_I_INBOX)
  const subscription = connection.subscribe(reply, { max: 1, timeout: ANSWER_LIMIT_MS })
  connection.publish(WHO_AM_I, '', { reply })
  for await (const answer of subscription) return UserInfo.parse(answer.json()).data.account
  throw new BusError('unavailable', 'nats-server was disconnected')
}

function describe(participant: Participant): string {
  return `${participant} (account ${ACCOUNTS[participant]})`
}
