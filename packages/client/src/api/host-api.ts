import type { HistoryMessage, Principal, SessionDetails, SessionRecord } from '@mcp-host/contracts'
import type { BroughtTokens, Connection, LoginChange, LoginDescription } from './connection.ts'
import { HostError } from '../host-error.ts'
import type { HostAddress, JsonRequest } from './request-json.ts'
import { requestJson } from './request-json.ts'

export type Session = Omit<SessionRecord, 'entries' | 'id'> & { readonly id: string }
/** A session with its limits and the tools that it may use now. */
export type SessionWithDetails = Session & Pick<SessionDetails, 'limits' | 'capabilities'>
export type Message = HistoryMessage

/** A page of a list; `next` leads to the page after it, as `before`. */
export interface PageOptions {
  /** 1 to 100. */
  readonly limit?: number
  readonly before?: string
}

/** Which sessions are listed. */
export interface ListOptions extends PageOptions {
  /** A part of the title; case is ignored. */
  readonly title?: string
  /** A key that the metadata has, whatever its value. */
  readonly metadataKey?: string
}

/** A page of the history. */
export interface HistoryOptions extends PageOptions {
  /** Id of a user message: the newest branch that has it. Default: the newest branch. */
  readonly branch?: string
}

export interface Models {
  /** The model that answers by default; absent while there is none. */
  readonly default?: ContextWindow & { readonly provider: string; readonly model: string }
  readonly providers: readonly (ContextWindow & {
    readonly provider: string
    /** Why its models could not be listed the last time. */
    readonly error?: string
    readonly models: readonly (ContextWindow & { readonly id: string })[]
  })[]
}

interface ContextWindow {
  /** In tokens; of a provider: for models whose own is not known. */
  readonly contextWindow?: number
}

/** What a share link shows of its session. Times are in epoch milliseconds. */
export interface SharedSession {
  readonly title: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly expiresAt: number
}

/** A link by which anybody reads a session. Times are in epoch milliseconds. */
export interface Share {
  readonly id: string
  readonly createdAt: number
  readonly createdBy: string
  readonly expiresAt: number
}

/** The state of the host. */
export interface HostStatus {
  /** Absent without a credential. */
  readonly servers?: readonly ServerStatus[]
  /** While an operator has announced it: new messages are refused. */
  readonly maintenance?: { readonly notice: string; readonly since: string }
}

export interface ServerStatus {
  readonly server: string
  readonly state: 'starting' | 'ready' | 'unavailable'
  /** When it changed to this state, as an ISO text. */
  readonly since?: string
  /** `installing`, until an attempt fails: its program may still be fetched. */
  readonly phase?: string
  /** How its program is separated from the host: `bwrap` or `none`; absent for remote servers. */
  readonly sandbox?: string
  /** Why it is not available. */
  readonly error?: string
  /** Whether it is unavailable only until its next start, which is planned. */
  readonly isRestartPlanned?: boolean
  /** The last lines that it wrote; for admins. */
  readonly output?: readonly string[]
  /** How many of its tools the caller may use. */
  readonly tools?: number
  /** Calls since its supervisors started. */
  readonly calls?: number
  /** How many of them failed. */
  readonly failures?: number
  /** The time within which half of the latest calls ended. */
  readonly p50Ms?: number
  /** The time within which 95 % of the latest calls ended. */
  readonly p95Ms?: number
  /** Where users log in there: how many logins there are, and how many have to be made again; for admins. */
  readonly logins?: { readonly usable: number; readonly needed: number }
  /** Where it runs. */
  readonly instances?: readonly {
    readonly supervisor: string
    readonly state: string
    readonly restarts?: number
  }[]
}

/** A tool, by the name that `callTool` takes: `server__tool`. */
export interface Tool {
  readonly name: string
  readonly description?: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** What the server says of its effects, by the names of MCP. */
  readonly annotations?: { readonly readOnlyHint?: boolean; readonly destructiveHint?: boolean }
  /** Of the server, such as the page of an MCP app in `ui`. */
  readonly _meta?: unknown
}

export interface ToolAnswer {
  /** Blocks of MCP. */
  readonly content: readonly Readonly<Record<string, unknown>>[]
  /** Whether the tool failed; `content` says why. */
  readonly isError?: boolean
  readonly _meta?: unknown
}

export interface CallOptions {
  /** The server of the tool, which then has its own name. */
  readonly server?: string
  /** Id of an approval that a user has given for this call: `approval` of the error of a call without it. */
  readonly approval?: string
}

/** A prompt of an MCP server, by the name that `getPrompt` takes: `server__prompt`. */
export interface Prompt {
  readonly name: string
  readonly title?: string
  readonly description?: string
  /** All are texts. */
  readonly arguments?: readonly {
    readonly name: string
    readonly description?: string
    readonly required?: boolean
  }[]
}

export interface PromptAnswer {
  /** `content`: a block of MCP. */
  readonly messages: readonly {
    readonly role: string
    readonly content: Readonly<Record<string, unknown>>
  }[]
}

/** A resource of an MCP server. */
export interface Resource {
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
}

/** A part of a resource: a text, or a file in Base64. */
export interface ResourcePart {
  readonly uri: string
  readonly mimeType?: string
  readonly text?: string
  readonly blob?: string
  readonly _meta?: unknown
}

/** Of a session what a user can change; `null` takes it back. */
export interface SessionChanges {
  readonly title?: string
  /** `provider/model` or `provider`. */
  readonly model?: string | null
  readonly systemPrompt?: string | null
  /** 0 to 2. */
  readonly temperature?: number | null
  /** Of each turn, 0 to 1,000. */
  readonly maxToolCalls?: number | null
  /** The MCP servers whose tools it may use. */
  readonly servers?: readonly string[] | null
  /** Which of several logins at MCP servers its calls use: labels of logins by names of servers. */
  readonly accounts?: Readonly<Record<string, string>> | null
  readonly metadata?: Session['metadata'] | null
}

/** What a session has from its beginning; absent fields are as the host is set. */
export type NewSession = {
  readonly [Name in keyof SessionChanges]: Exclude<SessionChanges[Name], null>
}

/** The HTTP API of a gateway for chats. Every method throws `HostError`. */
export class HostApi {
  readonly #address: HostAddress

  constructor(address: HostAddress) {
    this.#address = address
  }

  /** The principal of the credential. */
  me(): Promise<Principal> {
    return this.#ask('/api/me')
  }

  /** The MCP servers at which users log in, with the logins of the principal. */
  async connections(): Promise<Connection[]> {
    return (await this.#ask<{ connections: Connection[] }>('/api/connections')).connections
  }

  /** Gives a login of the principal at an MCP server another label, or uses it where nothing chooses one. */
  async changeConnection(server: string, label: string, change: LoginChange): Promise<void> {
    await this.#ask(connectionPath(server, label), { method: 'PATCH', body: change })
  }

  /** Tells how a program gets tokens for an MCP server by itself. */
  describeConnection(server: string): Promise<LoginDescription> {
    return this.#ask(`/api/connections/${encodeURIComponent(server)}/authorization`)
  }

  /** Logs the principal in at an MCP server by tokens, or an API key as `access_token`. */
  async bringConnection(server: string, label: string, tokens: BroughtTokens): Promise<void> {
    await this.#ask(connectionPath(server, label), { method: 'PUT', body: tokens })
  }

  /** Ends a login of the principal at an MCP server. */
  async endConnection(server: string, label: string): Promise<void> {
    await this.#ask(connectionPath(server, label), { method: 'DELETE' })
  }

  models(): Promise<Models> {
    return this.#ask('/api/chat/models')
  }

  /** Sessions of the principal, the newest first. */
  sessions(page: ListOptions = {}): Promise<{ sessions: Session[]; next?: string }> {
    return this.#ask(`/api/chat/sessions${queryOf(page)}`)
  }

  /** The id of a new session. Without settings it is not listed before its first message. */
  async createSession(settings: NewSession = {}): Promise<string> {
    const request = { method: 'POST', body: settings } as const
    return (await this.#ask<{ sessionId: string }>('/api/chat/session', request)).sessionId
  }

  session(id: string): Promise<SessionWithDetails> {
    return this.#ask(pathOf(id))
  }

  /** Gives a session a title, a model or other settings. */
  updateSession(id: string, changes: SessionChanges): Promise<Session> {
    return this.#ask(pathOf(id), { method: 'PATCH', body: changes })
  }

  /** Ends what runs in a session, and erases it. */
  async deleteSession(id: string): Promise<void> {
    await this.#ask(pathOf(id), { method: 'DELETE' })
  }

  /** Messages of a branch in whole turns, the oldest first; `limit` counts turns. */
  messages(id: string, page: HistoryOptions = {}): Promise<{ messages: Message[]; next?: string }> {
    return this.#ask(`${pathOf(id)}/messages${queryOf(page)}`)
  }

  /** Stores a file of up to 20 MB, and resolves to the key by which a message attaches it. */
  async storeFile(id: string, name: string, file: Blob): Promise<string> {
    if (file.type === '')
      throw new HostError('invalid', 'file: its type is missing', { field: 'file' })
    const path = `${pathOf(id)}/file?name=${encodeURIComponent(name)}`
    const { key } = await this.#ask<{ key: string }>(path, { method: 'POST', blob: file })
    return key
  }

  /** Address of a file of a session. */
  fileUrl(id: string, key: string): string {
    return new URL(`${pathOf(id)}/file/${encodeURIComponent(key)}`, this.#address.url).href
  }

  /** A new link by which anybody reads a session; its `url` is shown this once. */
  share(id: string, expiresInDays?: number): Promise<Share & { url: string }> {
    const body = expiresInDays === undefined ? {} : { expiresInDays }
    return this.#ask(`${pathOf(id)}/shares`, { method: 'POST', body })
  }

  async shares(id: string): Promise<Share[]> {
    return (await this.#ask<{ shares: Share[] }>(`${pathOf(id)}/shares`)).shares
  }

  async revokeShare(id: string, share: string): Promise<void> {
    await this.#ask(`${pathOf(id)}/shares/${encodeURIComponent(share)}`, { method: 'DELETE' })
  }

  /** What a share link shows. `token`: the end of its `url`. */
  shared(token: string): Promise<SharedSession> {
    return this.#ask(sharedPathOf(token))
  }

  /** As `messages`, by a share link. */
  sharedMessages(token: string, page: PageOptions = {}): ReturnType<HostApi['messages']> {
    return this.#ask(`${sharedPathOf(token)}/messages${queryOf(page)}`)
  }

  /** Address of a file of a shared session. */
  sharedFileUrl(token: string, key: string): string {
    return new URL(`${sharedPathOf(token)}/file/${encodeURIComponent(key)}`, this.#address.url).href
  }

  /** The MCP servers and their states. */
  status(): Promise<HostStatus> {
    return this.#ask('/health')
  }

  /** The tools that the principal may use. `server`: of that server only, under their own names. */
  tools(server?: string): Promise<Tool[]> {
    return this.#list('tools', server)
  }

  /** Texts that MCP servers offer for messages. */
  prompts(): Promise<Prompt[]> {
    return this.#list('prompts')
  }

  /** A prompt with its arguments filled in. */
  getPrompt(name: string, given: Readonly<Record<string, string>>): Promise<PromptAnswer> {
    return this.#ask('/mcp/prompts/get', { method: 'POST', body: { name, arguments: given } })
  }

  /** Texts and files of MCP servers. */
  resources(): Promise<Resource[]> {
    return this.#list('resources')
  }

  /** `server`: the server of the resource, which then has its own URI. */
  async readResource(uri: string, server?: string): Promise<readonly ResourcePart[]> {
    const request = { method: 'POST', body: { uri, server } } as const
    const { contents } = await this.#ask<{ contents: ResourcePart[] }>(
      '/mcp/resources/read',
      request,
    )
    return contents
  }

  /** Calls a tool outside of a chat. A tool that fails answers with `isError`. */
  callTool(name: string, given: object, options: CallOptions = {}): Promise<ToolAnswer> {
    const body = { name, arguments: given, ...options }
    return this.#ask('/mcp/tools/call', { method: 'POST', body })
  }

  /** All pages of a list of MCP servers. */
  async #list<Item>(kind: 'tools' | 'prompts' | 'resources', server?: string): Promise<Item[]> {
    const items: Item[] = []
    let cursor: string | undefined
    do {
      const body = { cursor, server }
      type Page = { readonly [Kind in typeof kind]?: Item[] } & { readonly nextCursor?: string }
      const page = await this.#ask<Page>(`/mcp/${kind}/list`, { method: 'POST', body })
      items.push(...(page[kind] ?? []))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return items
  }

  /** The gateway's answers have these shapes by its published OpenAPI document. */
  async #ask<Reply>(path: string, request?: JsonRequest): Promise<Reply> {
    return (await requestJson(this.#address, path, request)) as Reply
  }
}

function pathOf(id: string): string {
  return `/api/chat/session/${encodeURIComponent(id)}`
}

function connectionPath(server: string, label: string): string {
  return `/api/connections/${[server, label].map(encodeURIComponent).join('/')}`
}

function sharedPathOf(token: string): string {
  return `/api/shared/${encodeURIComponent(token)}`
}

function queryOf(options: ListOptions | HistoryOptions): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(options))
    if (value !== undefined) query.set(name, String(value))
  return query.size === 0 ? '' : `?${query.toString()}`
}
