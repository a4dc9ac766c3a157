import type { Principal } from '@mcp-host/contracts'
import type { ServerLogin } from './connection.ts'
import type { HostAddress, JsonRequest } from './request-json.ts'
import { requestJson } from './request-json.ts'

/** An API key, without its secret. Times are in epoch milliseconds. */
export interface ApiKey {
  /** Begins the key after `mh_`. */
  readonly id: string
  readonly name: string
  /** Whose rights the key has. */
  readonly principal: string
  readonly roles: readonly string[]
  readonly scopes: readonly string[]
  readonly createdAt: number
  readonly createdBy: string
  /** Absent: never. */
  readonly expiresAt?: number
}

export interface NewApiKey {
  readonly name: string
  /** Default: `key:` and the name. */
  readonly principal?: string
  /** Default: `user`. */
  readonly roles?: readonly string[]
  /** Default: `mcp` and `chat`. */
  readonly scopes?: readonly Principal['scopes'][number][]
  /** Default: never. */
  readonly expiresInDays?: number
}

/** A user of the host. */
export interface Account {
  /** By which it logs in. */
  readonly name: string
  /** As `user:ann`. */
  readonly principal: string
  readonly roles: readonly string[]
  readonly state: 'invited' | 'active' | 'disabled'
  readonly createdAt: number
  readonly createdBy: string
}

/** A login of a user at an MCP server. */
export interface UserOfServer extends ServerLogin {
  /** As `user:ann`. */
  readonly principal: string
}

/** A page at which the owner of an account sets the password, once. */
export interface Invitation {
  readonly url: string
  readonly expiresAt: number
}

export interface AccountChanges {
  readonly roles?: readonly string[]
  readonly disabled?: boolean
  /** Ends its logins and tokens. */
  readonly signOut?: true
}

/** A tool call that waits for the decision of a user. */
export interface Approval {
  readonly id: string
  /** Whose call it is. */
  readonly principal: string
  readonly server: string
  readonly tool: string
  readonly arguments: unknown
  readonly createdAt: number
  readonly expiresAt: number
}

/** A tool whose definition differs from the recorded one. Definitions are JSON. */
export interface ChangedTool {
  readonly server: string
  readonly tool: string
  /** Absent: it is not stored, since it is too large or its server has too many tools. */
  readonly pinned?: string
  readonly current: string
}

/** A changed file of settings that cannot be used. Its contents before stay in effect. */
export interface FileFault {
  /** The setting that names the file, such as `POLICY_CONFIG`. */
  readonly setting: string
  /** Without its folder. */
  readonly file: string
  /** The faults with their places and remedies, as a sentence. */
  readonly fault: string
}

/** What a restart or a reload did at one supervisor. Servers are named by a reload alone. */
export interface SupervisorOutcome {
  readonly supervisor: string
  /** Why it failed there. */
  readonly error?: string
  readonly added?: readonly string[]
  readonly changed?: readonly string[]
  readonly removed?: readonly string[]
  readonly unchanged?: readonly string[]
}

/** The last lines of the stderr of a server at one supervisor. */
export interface ServerOutput {
  readonly supervisor: string
  /** Why they could not be read there. */
  readonly error?: string
  readonly output?: readonly string[]
}

/** A tool call as the policy sees it. */
export interface PolicyQuestion {
  readonly principal: string
  readonly roles: readonly string[]
  readonly server: string
  readonly tool: string
  readonly arguments: object
}

export interface Explanation {
  readonly effect: 'allow' | 'deny' | 'approve'
  readonly decidedBy: 'rule' | 'default' | 'quarantine' | 'tool-approval'
  readonly rule?: string
  /** What the rule tells the caller. */
  readonly reason?: string
  /** Whether a server lists the tool. */
  readonly isKnown: boolean
  /** Name of the file of the rules; absent with hosts that do not tell it. */
  readonly file?: string
  readonly rules: readonly {
    readonly rule: string
    /** What it says, on one line. */
    readonly text?: string
    /** Where it begins in the file. */
    readonly line?: number
    readonly verdict: string
    readonly mismatch?: string
  }[]
}

/** A limit for clients. */
export interface Limit {
  readonly setting: string
  readonly what: string
  /** Absent: there is no limit. */
  readonly permits?: number
  /** The period of the limit. Absent for a limit of turns or connections at the same time. */
  readonly windowMs?: number
  /** By the principal in the present window; absent where nothing is counted by principal. */
  readonly used?: number
}

/** Filters of the audit log; `*` stands for anything. Times are ISO texts. */
export type AuditQuery = Readonly<
  Partial<
    Record<
      'principal' | 'server' | 'tool' | 'action' | 'outcome' | 'text' | 'since' | 'until' | 'after',
      string
    >
  >
> & { readonly limit?: number; readonly order?: 'oldest' | 'newest' }

export interface AuditEntry {
  readonly seq: number
  /** ISO text. */
  readonly time: string
  /** The process that wrote it. */
  readonly writer: string
  readonly action: string
  readonly principal: string
  /** As `ws`, `mcp` or `rest`. */
  readonly entrance?: string
  readonly server?: string
  readonly tool?: string
  readonly outcome?: string
  readonly durationMs?: number
  /** For auditors. */
  readonly arguments?: unknown
}

/** Whether the chains of the audit log are whole. */
export interface AuditVerification {
  readonly entries: number
  readonly writers: number
  readonly faultCount: number
  /** The first hundred of them. */
  readonly faults: readonly {
    readonly kind: string
    readonly writer: string
    readonly seq: number
    readonly time: string
  }[]
  /** Whether the log was read to its end. */
  readonly isComplete: boolean
}

/** The HTTP API of a gateway for keys, accounts and operations. Most of it is for admins. Every method throws `HostError`. */
export class AdminApi {
  readonly #address: HostAddress

  constructor(address: HostAddress) {
    this.#address = address
  }

  async keys(): Promise<ApiKey[]> {
    return (await this.#ask<{ keys: ApiKey[] }>('/api/keys')).keys
  }

  /** A new key; `key` is shown this once. */
  createKey(about: NewApiKey): Promise<ApiKey & { readonly key: string }> {
    return this.#ask('/api/keys', { method: 'POST', body: about })
  }

  async revokeKey(id: string): Promise<void> {
    await this.#ask(`/api/keys/${encodeURIComponent(id)}`, { method: 'DELETE' })
  }

  async accounts(): Promise<Account[]> {
    return (await this.#ask<{ accounts: Account[] }>('/api/accounts')).accounts
  }

  /** A new account, and the link for its owner, which is shown this once. */
  createAccount(
    name: string,
    roles: readonly string[],
  ): Promise<Account & { readonly invitation: Invitation }> {
    return this.#ask('/api/accounts', { method: 'POST', body: { name, roles } })
  }

  changeAccount(name: string, changes: AccountChanges): Promise<Account> {
    const path = `/api/accounts/${encodeURIComponent(name)}`
    return this.#ask(path, { method: 'PATCH', body: changes })
  }

  /** Another link for the owner of an account, such as for a forgotten password. */
  inviteAccount(name: string): Promise<Invitation> {
    const path = `/api/accounts/${encodeURIComponent(name)}/invitation`
    return this.#ask(path, { method: 'POST', body: {} })
  }

  /** Calls that wait for a decision, the oldest first: those of the principal, or all for an admin. */
  async approvals(): Promise<Approval[]> {
    return (await this.#ask<{ approvals: Approval[] }>('/api/approvals')).approvals
  }

  async answerApproval(id: string, action: 'accept' | 'decline'): Promise<void> {
    await this.#ask(`/api/approvals/${encodeURIComponent(id)}`, {
      method: 'POST',
      body: { action },
    })
  }

  /** Entries of the audit log, by default the oldest first. A page may be empty although `next` leads on. */
  audit(query: AuditQuery): Promise<{ readonly entries: AuditEntry[]; readonly next?: string }> {
    const given = Object.entries(query).map(([name, value]): [string, string] => [
      name,
      String(value),
    ])
    return this.#ask(`/api/audit?${new URLSearchParams(given).toString()}`)
  }

  /** Verifies the audit log, for up to 20 seconds. */
  verifyAudit(): Promise<AuditVerification> {
    return this.#ask('/api/audit/verification')
  }

  async changedTools(): Promise<ChangedTool[]> {
    return (await this.#ask<{ tools: ChangedTool[] }>('/api/changed-tools')).tools
  }

  /** Uses a changed tool as it is now. */
  async acceptTool(server: string, tool: string): Promise<void> {
    await this.#ask('/api/changed-tools/accept', { method: 'POST', body: { server, tool } })
  }

  /** Restarts an MCP server at every supervisor that runs it. */
  async restartServer(server: string): Promise<SupervisorOutcome[]> {
    return this.#outcomes(`/api/servers/${encodeURIComponent(server)}/restart`)
  }

  /** Who is logged in at an MCP server. */
  async serverUsers(server: string): Promise<UserOfServer[]> {
    const path = `/api/servers/${encodeURIComponent(server)}/users`
    return (await this.#ask<{ logins: UserOfServer[] }>(path)).logins
  }

  /** Ends the login of a user at an MCP server. */
  async endServerUser(server: string, { principal, label }: UserOfServer): Promise<void> {
    const [at, who, which] = [server, principal, label].map(encodeURIComponent)
    await this.#ask(`/api/servers/${at}/users/${who}/${which}`, { method: 'DELETE' })
  }

  /** The last lines of the stderr of an MCP server, at every supervisor that runs it. */
  async serverOutput(server: string): Promise<ServerOutput[]> {
    const path = `/api/servers/${encodeURIComponent(server)}/output`
    return (await this.#ask<{ outcomes: ServerOutput[] }>(path)).outcomes
  }

  /** Makes every supervisor read `mcp.json` again. */
  async reloadServers(): Promise<SupervisorOutcome[]> {
    return this.#outcomes('/api/servers/reload')
  }

  /** Refuses new chat messages of all users, with these words. Running turns go on. */
  async beginMaintenance(notice = ''): Promise<void> {
    await this.#ask('/api/maintenance', { method: 'POST', body: { notice } })
  }

  async endMaintenance(): Promise<void> {
    await this.#ask('/api/maintenance', { method: 'DELETE' })
  }

  /** The changed files of settings that cannot be used. */
  async fileFaults(): Promise<FileFault[]> {
    return (await this.#ask<{ files: FileFault[] }>('/api/file-faults')).files
  }

  /** How the policy would decide about a call. */
  explain(question: PolicyQuestion): Promise<Explanation> {
    return this.#ask('/api/policy/explain', { method: 'POST', body: question })
  }

  /** The limits, with what a principal has used of them. Default: the caller. */
  async limits(principal?: string): Promise<Limit[]> {
    const query = principal === undefined ? '' : `?${new URLSearchParams({ principal }).toString()}`
    return (await this.#ask<{ limits: Limit[] }>(`/api/limits${query}`)).limits
  }

  async #outcomes(path: string): Promise<SupervisorOutcome[]> {
    const request = { method: 'POST', body: {} } as const
    return (await this.#ask<{ outcomes: SupervisorOutcome[] }>(path, request)).outcomes
  }

  /** The gateway's answers have these shapes by its published OpenAPI document. */
  async #ask<Reply>(path: string, request?: JsonRequest): Promise<Reply> {
    return (await requestJson(this.#address, path, request)) as Reply
  }
}
