import type { AuditLog, AuditRecord } from '@mcp-host/audit'
import type { Caller, Envelope, Principal } from '@mcp-host/contracts'
import { traceId } from '@mcp-host/contracts'

/** Limit for the recorded refusals of credentials per second. Further ones are counted in the next entry. */
const MAX_REFUSALS = 20
const SECOND_MS = 1_000

/** A tool call, as the audit log names it. */
export interface NamedCall {
  readonly server: string
  readonly tool: string
  readonly arguments: unknown
}

/** Records events of the gateway in the audit log. Does nothing when there is no log. */
export class GatewayAudit {
  readonly #log: AuditLog | undefined
  #second = 0
  #refusals = 0
  #unrecorded = 0

  constructor(log: AuditLog | undefined) {
    this.#log = log
  }

  /** Whether this host has an audit log. */
  get isOn(): boolean {
    return this.#log !== undefined
  }

  /**
   * Records a credential that was invalid, or insufficient for the request. The number of entries is limited, so that a
   * client with many faulty credentials does not fill the log.
   */
  credentialRefused(address: string, path: string, reason: string): void {
    const second = Math.floor(Date.now() / SECOND_MS)
    if (second !== this.#second) [this.#second, this.#refusals] = [second, 0]
    if (++this.#refusals > MAX_REFUSALS) {
      this.#unrecorded += 1
      return
    }
    const more = this.#unrecorded === 0 ? {} : { unrecorded: this.#unrecorded }
    this.#unrecorded = 0
    this.#note({
      action: 'login-refused',
      principal: 'nobody',
      detail: { address, path, reason, ...more },
    })
  }

  /** Records the first use of a principal's token. */
  loggedIn({ id, roles, issuer, method }: Principal): void {
    this.#note({ action: 'login', principal: id, roles, detail: { issuer, method } })
  }

  /** Records a tool call that the policy denied. */
  callDenied({ id, roles, entrance }: Caller, call: NamedCall, reason: string): void {
    const about = { principal: id, roles, entrance, ...call }
    this.#note({ action: 'request-refused', ...about, outcome: 'denied', detail: { reason } })
  }

  /** Records a tool call that waits for approval. `call`: its id in the queue. */
  approvalAsked(
    { id, roles, entrance }: Caller,
    call: NamedCall & Pick<AuditRecord, 'call'>,
  ): void {
    this.#note({ action: 'approval-asked', principal: id, roles, entrance, ...call })
  }

  /** Records the decision whether a tool call may run. */
  approvalAnswered(
    { id, roles, entrance }: Caller,
    call: NamedCall & Pick<AuditRecord, 'session' | 'call'>,
    outcome: 'allowed' | 'refused',
    envelope?: Envelope,
  ): void {
    const trace = envelope === undefined ? {} : { traceId: traceId(envelope) }
    const about = { principal: id, roles, entrance, ...call, ...trace }
    this.#note({ action: 'approval-answered', ...about, outcome })
  }

  /** Records a change of an API key before it happens. Rejects with `unavailable` when entries are required. */
  async keyChanged(
    action: 'key-created' | 'key-revoked',
    { id, roles }: Caller,
    detail: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    await this.#log?.record({ action, principal: id, roles, entrance: 'http', detail })
  }

  /** Records a change of a share link. Rejects with `unavailable` when entries are required. */
  async shareChanged(
    action: 'share-created' | 'share-revoked',
    { id, roles }: Caller,
    {
      session,
      id: share,
      expiresAt,
    }: { readonly session: string; readonly id: string; readonly expiresAt?: number },
  ): Promise<void> {
    const detail = { share, ...(expiresAt === undefined ? {} : { expiresAt }) }
    await this.#log?.record({ action, principal: id, roles, entrance: 'http', session, detail })
  }

  /**
   * Records a changed tool that an admin accepts, before it happens. Rejects with `unavailable` when entries are
   * required.
   */
  async toolAccepted({ id, roles }: Caller, server: string, tool: string): Promise<void> {
    const about = { principal: id, roles, entrance: 'http', server, tool }
    await this.#log?.record({ action: 'tool-accepted', ...about })
  }

  /**
   * Records a restart of an MCP server, or a reload of the configuration, before it happens. Rejects with `unavailable`
   * when entries are required.
   */
  async serversChanged(
    action: 'server-restarted' | 'servers-reloaded',
    { id, roles }: Caller,
    server?: string,
  ): Promise<void> {
    await this.#log?.record({ action, principal: id, roles, entrance: 'http', server })
  }

  /** Records maintenance before it begins or ends. Rejects with `unavailable` when entries are required. */
  async maintenanceChanged(
    action: 'maintenance-begun' | 'maintenance-ended',
    { id, roles }: Principal,
    detail: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    await this.#log?.record({ action, principal: id, roles, entrance: 'http', detail })
  }

  /** Records a change of an account. Rejects with `unavailable` when entries are required. */
  async accountChanged(
    action: 'account-created' | 'account-changed' | 'account-invited',
    { id, roles }: Caller | Principal,
    detail: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    await this.#log?.record({ action, principal: id, roles, entrance: 'http', detail })
  }

  /** Records the consent of a user that a client acts for them. */
  clientAllowed(principal: string, detail: Readonly<Record<string, unknown>>): void {
    this.#note({ action: 'client-allowed', principal, entrance: 'http', detail })
  }

  /** Records a client whose consent was withdrawn. */
  clientWithdrawn(principal: string, detail: Readonly<Record<string, unknown>>): void {
    this.#note({ action: 'client-withdrawn', principal, entrance: 'http', detail })
  }

  policyChanged(rules: number, fallback: string): void {
    const detail = { rules, default: fallback }
    this.#note({ action: 'policy-changed', principal: 'system', entrance: 'system', detail })
  }

  /** Records an event that has already happened. */
  #note(record: AuditRecord): void {
    this.#log?.record(record)?.catch(() => undefined)
  }
}
