// An MCP server and its authorization server, both under the control of an attacker.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface HostileAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON. */
  readonly body?: string | object
  /** Whether the body is followed by more bytes that never end. */
  readonly isEndless?: boolean
}

const ABOUT_SERVER = '/.well-known/oauth-protected-resource/mcp'
const ABOUT_ISSUER = '/.well-known/oauth-authorization-server'

/** Answers honestly, unless a test sets another answer for a path. */
export class HostileLoginServer implements AsyncDisposable {
  /** The path and body of each request, except those of MCP. */
  readonly asked: { readonly path: string; readonly body: string }[] = []
  /** The bearer tokens of MCP requests. */
  readonly presented: string[] = []
  /** The secrets of PKCE that token requests had. They outlive a reset. */
  readonly verifiers: string[] = []
  /** Whether MCP requests are refused whatever token they have. */
  isClosed = false
  /** Answers in place of the honest ones, by path. */
  readonly answers = new Map<string, HostileAnswer>()
  /** The `WWW-Authenticate` header of a refusal. Default: names the metadata of the server. */
  challenge: string | undefined
  /** Called for each MCP request that has a token; returns the scope that it lacks. */
  demand: (() => string) | undefined
  /** The next access tokens, each issued once; afterwards they are counted. */
  readonly tokens: string[] = []
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  #issued = 0

  static async open(): Promise<HostileLoginServer> {
    const hostile = new HostileLoginServer()
    hostile.#server.listen(0, '127.0.0.1')
    await once(hostile.#server, 'listening')
    return hostile
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Its entry in `mcp.json`, in place of that of a program. */
  get entry(): object {
    const remote = { type: 'http', url: `${this.url}/mcp`, auth: { type: 'oauth' } }
    return { command: undefined, args: undefined, env: undefined, ...remote }
  }

  reset(): void {
    this.asked.length = 0
    this.answers.clear()
    this.challenge = undefined
    this.demand = undefined
    this.isClosed = false
  }

  /** Changes what the MCP server says about itself (RFC 9728). */
  describeServer(more: object): void {
    this.answers.set(ABOUT_SERVER, { body: { ...this.#aboutServer(), ...more } })
  }

  /** Changes what the authorization server says about itself (RFC 8414). */
  describeIssuer(more: object): void {
    this.answers.set(ABOUT_ISSUER, { body: { ...this.#aboutIssuer(), ...more } })
  }

  answerMetadata(answer: HostileAnswer): void {
    this.answers.set(ABOUT_ISSUER, answer)
  }

  /** How often a path was asked for. */
  count(path: string): number {
    return this.asked.filter((each) => each.path === path).length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path } = new URL(request.url ?? '/', this.url)
    const body = await text(request)
    if (path === '/mcp') return this.#serveMcp(request, response, body)
    this.asked.push({ path, body })
    const verifier = new URLSearchParams(body).get('code_verifier')
    if (verifier !== null) this.verifiers.push(verifier)
    const given = this.answers.get(path) ?? this.#honest(path)
    const { status = 200, headers = {}, body: sent = '', isEndless = false } = given
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.write(typeof sent === 'string' ? sent : JSON.stringify(sent))
    if (!isEndless) return void response.end()
    const more = setInterval(() => response.write(' '.repeat(65_536)), 1)
    response.on('close', () => clearInterval(more))
  }

  #honest(path: string): HostileAnswer {
    if (path === ABOUT_SERVER) return { body: this.#aboutServer() }
    if (path === ABOUT_ISSUER) return { body: this.#aboutIssuer() }
    if (path === '/register') return { status: 201, body: { client_id: 'me', redirect_uris: [] } }
    if (path !== '/token') return { status: 404 }
    const access_token = this.tokens.shift() ?? `hostile-${++this.#issued}`
    return { body: { access_token, token_type: 'Bearer', expires_in: 3_600 } }
  }

  #serveMcp({ method, headers }: IncomingMessage, response: ServerResponse, body: string): void {
    const { authorization } = headers
    if (authorization === undefined || this.isClosed) {
      const honest = `Bearer resource_metadata="${this.url}${ABOUT_SERVER}", scope="read"`
      return void response.writeHead(401, { 'www-authenticate': this.challenge ?? honest }).end()
    }
    const token = authorization.replace('Bearer ', '')
    this.presented.push(token)
    if (method !== 'POST') return void response.writeHead(405).end()
    const { id, method: asked } = JSON.parse(body) as { readonly id?: number; method: string }
    if (asked === 'tools/call' && this.demand !== undefined) {
      const challenge = `Bearer error="insufficient_scope", scope="${this.demand()}"`
      return void response.writeHead(403, { 'www-authenticate': challenge }).end()
    }
    if (id === undefined) return void response.writeHead(202).end()
    const results: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'hostile', version: '1.0.0' },
      },
      'tools/list': { tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: `token ${token}` }] },
    }
    const message = { jsonrpc: '2.0', id, result: results[asked] ?? {} }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(message))
  }

  #aboutServer(): object {
    return { resource: `${this.url}/mcp`, authorization_servers: [this.url] }
  }

  #aboutIssuer(): object {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      registration_endpoint: `${this.url}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    }
  }
}
