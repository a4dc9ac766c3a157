import { randomBytes } from 'node:crypto'
import { AuthError } from '@mcp-host/auth'
import type { Bucket, Bus } from '@mcp-host/bus'
import { BusError, defineBucket } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Authenticator } from './authenticator.ts'
import type { Admission } from './connection-guard.ts'
import { Credential } from './credential.ts'

/** The lifetime of a ticket. Browsers connect right after they get one. */
export const TICKET_MS = 30_000
const FORMAT = /^[\w-]{43}$/

const tickets = defineBucket('TICKETS', {
  record: z.object({
    /** The credential with which the client got the ticket. When it ends, the ticket and the socket end. */
    credential: Credential.optional(),
    expiresAt: z.number(),
  }),
  what: 'tickets',
})
type Ticket = z.infer<typeof tickets.record>

/**
 * Single-use tickets for sockets, because browsers cannot send an authorization header with them. Any gateway accepts a
 * ticket.
 */
export class Tickets {
  readonly #bus: Pick<Bus, 'bucket'>
  readonly #auth: Pick<Authenticator, 'principalOf'>
  #bucket: Promise<Bucket<Ticket>> | undefined

  constructor(bus: Pick<Bus, 'bucket'>, auth: Pick<Authenticator, 'principalOf'>) {
    this.#bus = bus
    this.#auth = auth
  }

  /** Without `credential`, where clients need none, the ticket opens nothing once they need one. */
  async issue(credential: Credential | undefined): Promise<string> {
    const ticket = randomBytes(32).toString('base64url')
    const about = credential === undefined ? {} : { credential }
    const bucket = await this.#open()
    const record = { ...about, expiresAt: bucket.now() + TICKET_MS }
    await bucket.put(ticket, record, { ttlMs: TICKET_MS })
    return ticket
  }

  /** The credential of a ticket with its present principal; the ticket is then used up. Throws `AuthError`. */
  async redeem(ticket: string): Promise<Admission> {
    const invalid = new AuthError('invalid_token', 'ticket: is not valid any more; get another')
    if (!FORMAT.test(ticket)) throw invalid
    const bucket = await this.#open()
    const found = await bucket.get(ticket)
    if (found === undefined || found.record.expiresAt <= bucket.now()) throw invalid
    try {
      await bucket.remove(ticket, found.revision)
    } catch (error) {
      // Another connection has used the ticket, or the removal was stored and its reply lost.
      if (BusError.from(error).code === 'conflict') throw invalid
      throw error
    }
    const { credential } = found.record
    const principal = credential && this.#auth.principalOf(credential)
    if (credential === undefined || principal === undefined) throw invalid
    return { credential, principal }
  }

  #open(): Promise<Bucket<Ticket>> {
    this.#bucket ??= this.#bus.bucket(tickets)
    this.#bucket.catch(() => (this.#bucket = undefined))
    return this.#bucket
  }
}
