import type { AuditAction, AuditLog, AuditRecord } from '@mcp-host/audit'
import type { Caller, Envelope, Principal } from '@mcp-host/contracts'
import { traceId } from '@mcp-host/contracts'

/**
 * Limits for the entries of one action that strangers cause in one period: of one source, and of all. Further ones are
 * counted in an entry at the end of the period.
 */
const MAX_OF_SOURCE = 20
const MAX_OF_ALL = 200
const PERIOD_MS = 1_000
/** Limit for texts of others, in characters. */
const MAX_SHOWN = 500

/** The entries of one action in one period, of one source or of all. */
interface Window {
  readonly action: AuditAction
  readonly limit: number
  /** The address of the source, for its entry. */
  readonly address?: string | undefined
  count: number
  unrecorded: number
}

/** A prompt or resource that was asked for, by the name that its server uses. */
interface ReadItem {
  readonly kind: 'prompt' | 'resource'
  readonly place: { readonly server: string; readonly name: string }
  readonly params: Readonly<Record<string, unknown>>
}

/** A tool call, as the audit log names it. */
export interface NamedCall {
  readonly server: string
  readonly tool: string
  readonly arguments: unknown
}

/** Records events of the gateway in the audit log. Does nothing when there is no log. */
export class GatewayAudit implements Disposable {
  readonly #log: AuditLog | undefined
  /** The windows of the present period, by group and source. */
  readonly #windows = new Map<string, Window>()
  #periodEnd: NodeJS.Timeout | undefined

  constructor(log: AuditLog | undefined) {
    this.#log = log
  }

  /** Whether this host has an audit log. */
  get isOn(): boolean {
    return this.#log !== undefined
  }

  /**
   * Records a credential that was invalid, or insufficient for the request. The number of entries is limited, so that a
   * client with many faulty credentials does not fill the log. Faulty tokens hide no guess of a password.
   */
  credentialRefused(address: string, path: string, reason: string): void {
    const detail = { address, path, reason }
    const group = path === '/login' ? path : ''
    this.#noteBounded({ action: 'login-refused', principal: 'nobody', detail }, address, group)
  }

  /** Records the first use of a principal's token. */
  loggedIn({ id, roles, issuer, method }: Principal): void {
    this.#note({ action: 'login', principal: id, roles, detail: { issuer, method } })
  }

  /** Records the end of a browser's login. */
  loggedOut(principal: string): void {
    this.#note({ action: 'logout', principal, entrance: 'http' })
  }

  /** Records a request for a resource or a prompt that has ended. It is never waited for, since there are many. */
  itemRead(caller: Caller | undefined, { kind, place, params }: ReadItem, outcome: string): void {
    const { id: principal = 'nobody', roles, entrance } = caller ?? {}
    const about = { principal, roles, entrance, server: place.server, outcome }
    if (kind === 'resource') {
      this.#note({ action: 'resource-read', ...about, detail: { resource: shownUri(place.name) } })
    } else {
      const detail = { prompt: place.name.slice(0, MAX_SHOWN) }
      const { arguments: args = {} } = params
      this.#note({ action: 'prompt-requested', ...about, arguments: args, detail })
    }
  }

  /** Records a deleted session. `owner`: who it belonged to. */
  sessionDeleted({ id, roles }: Principal, session: string, owner: string | undefined): void {
    const detail = owner === undefined ? undefined : { owner }
    const about = { principal: id, roles, entrance: 'http', session, detail }
    this.#note({ action: 'session-deleted', ...about })
  }

  /**
   * Records a request of an admin in the session of another principal. `route`: such as `GET /ws`. There is no limit,
   * behind which an admin could hide one of them.
   */
  foreignSessionUsed(
    { id, roles }: Principal,
    { session, owner, route }: { session: string; owner: string; route: string },
  ): void {
    const about = { principal: id, roles, entrance: route === 'GET /ws' ? 'ws' : 'http', session }
    this.#note({ action: 'foreign-session-used', ...about, detail: { owner, route } })
  }

  /** Records a request by a share link. */
  shareRead(
    { id: share, session }: { readonly id: string; readonly session: string },
    address: string,
    route: string,
  ): void {
    const detail = { share, address, route }
    const about = { principal: 'nobody', entrance: 'http', session, detail }
    this.#noteBounded({ action: 'share-read', ...about }, address)
  }

  /** Records a client that has registered itself. */
  clientRegistered(address: string, client: string, name: string | undefined): void {
    const detail = {
      address,
      client,
      ...(name !== undefined && { name: name.slice(0, MAX_SHOWN) }),
    }
    const about = { principal: 'nobody', entrance: 'http', detail }
    this.#noteBounded({ action: 'client-registered', ...about }, address)
  }

  /** Records a refresh token or code that was used again, so that its grant ended: it may have been stolen. */
  tokenReused(address: string, principal: string, client: string): void {
    const about = { principal, entrance: 'http', outcome: 'denied', detail: { address, client } }
    this.#noteBounded({ action: 'token-reused', ...about }, address)
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
    { id, roles, entrance }: Omit<Caller, 'scopes'>,
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

  /** Records how many entries were left out. */
  [Symbol.dispose](): void {
    clearTimeout(this.#periodEnd)
    this.#endPeriod()
  }

  /**
   * Records an event that strangers can cause as often as they like, at a limited rate for each address, so that none
   * hides the entries of another. `group`: entries of an action with a limit of their own.
   */
  #noteBounded(record: AuditRecord, address: string, group = ''): void {
    const { action } = record
    const ofAll = this.#window(`${action} ${group}`, { action, limit: MAX_OF_ALL })
    if (ofAll.count >= ofAll.limit) return void ofAll.unrecorded++
    const about = { action, address, limit: MAX_OF_SOURCE }
    const ofSource = this.#window(`${action} ${group} ${address}`, about)
    if (ofSource.count >= ofSource.limit) return void ofSource.unrecorded++
    ofAll.count++
    ofSource.count++
    this.#note(record)
  }

  #window(key: string, about: Pick<Window, 'action' | 'limit' | 'address'>): Window {
    const known = this.#windows.get(key)
    if (known !== undefined) return known
    const window = { ...about, count: 0, unrecorded: 0 }
    this.#windows.set(key, window)
    this.#periodEnd ??= setTimeout(() => this.#endPeriod(), PERIOD_MS).unref()
    return window
  }

  #endPeriod(): void {
    this.#periodEnd = undefined
    for (const { action, address, unrecorded } of this.#windows.values()) {
      if (unrecorded === 0) continue
      const detail = { unrecorded, ...(address !== undefined && { address }) }
      this.#note({ action, principal: 'nobody', detail })
    }
    this.#windows.clear()
  }

  /** Records an event that has already happened. */
  #note(record: AuditRecord): void {
    this.#log?.record(record)?.catch(() => undefined)
  }
}

/** A URI without what may be secret in it: a password, and the values of its query. */
function shownUri(uri: string): string {
  return uri
    .replace(/[?#].*$/s, '?[redacted]')
    .replace(/(?<=^[^/]*:\/\/)[^/@]*@/, '')
    .slice(0, MAX_SHOWN)
}
