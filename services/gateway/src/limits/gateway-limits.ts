import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Caller, SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { rateLimited } from '@mcp-host/limits'
import type { AllowedBy, Config, RateLimit, RateLimits } from '@mcp-host/service'
import { takeToolCall } from '@mcp-host/service'
import { clientAddress } from './client-address.ts'
import type { gatewayLimitSettings } from './gateway-limit-settings.ts'

type LimitConfig = Config<typeof gatewayLimitSettings>

/** A limit as its admins set it, and what one principal has used of it. */
export interface ListedLimit {
  readonly setting: string
  readonly what: string
  /** Absent: there is no limit. */
  readonly permits?: number
  /** The period of the limit. Absent for a limit of turns or connections at the same time. */
  readonly windowMs?: number
  /** In the present window; absent where nothing is counted by principal. */
  readonly used?: number
}

/** The limits of clients. Each method throws, or rejects with, `exhausted`. `undefined`: allowed without waiting. */
export class GatewayLimits {
  readonly #rates: RateLimits
  readonly #config: LimitConfig
  /** The address of a client, through trusted proxies. */
  readonly addressOf: (request: IncomingMessage) => string
  readonly #sockets = new Map<string, number>()
  readonly #limits: Readonly<
    Record<
      'address' | 'requests' | 'messages' | 'sessionMessages' | 'tokens' | 'toolCalls',
      RateLimit
    >
  >

  constructor(rates: RateLimits, config: LimitConfig) {
    this.#rates = rates
    this.#config = config
    this.addressOf = clientAddress(config.trustedProxies)
    this.#limits = {
      address: { rate: config.limitAddress, what: 'requests of an address' },
      requests: { rate: config.limitRequests, what: 'requests' },
      messages: { rate: config.limitMessages, what: 'messages' },
      sessionMessages: { rate: config.limitSessionMessages, what: 'messages of a session' },
      tokens: { rate: config.limitTokens, what: 'tokens' },
      toolCalls: { rate: config.limitToolCalls, what: 'tool calls' },
    }
  }

  /** Counts a request before it is authenticated. */
  connection(request: IncomingMessage): Promise<void> | undefined {
    const { address } = this.#limits
    if (address.rate === undefined) return undefined
    return this.#rates.take(address, this.addressOf(request))
  }

  /** Counts an authenticated request, or a frame of a socket. */
  request({ id }: Caller): Promise<void> | undefined {
    return this.#rates.take(this.#limits.requests, id)
  }

  /** Counts a chat message. */
  async message(principal: string, session: SessionId): Promise<void> {
    const { tokens, messages, sessionMessages } = this.#limits
    await this.#rates.checkLeft(tokens, principal)
    await this.#rates.take(sessionMessages, session)
    await this.#rates.take(messages, principal)
  }

  /** Counts a tool call that the policy allows. */
  toolCall({ id }: Caller, allowedBy: AllowedBy): Promise<void> | undefined {
    return takeToolCall(this.#rates, this.#config.limitToolCalls, id, allowedBy)
  }

  /** All limits, with what a principal has used of them. A counter that does not answer counts as unused. */
  async list(principal: string): Promise<ListedLimit[]> {
    const { address, requests, messages, sessionMessages, tokens, toolCalls } = this.#limits
    const { limitSockets } = this.#config
    const sockets = { used: this.#sockets.get(principal) ?? 0 }
    return [
      { setting: 'LIMIT_ADDRESS', what: address.what, ...address.rate },
      await this.#listed('LIMIT_REQUESTS', requests, principal),
      await this.#listed('LIMIT_MESSAGES', messages, principal),
      { setting: 'LIMIT_SESSION_MESSAGES', what: sessionMessages.what, ...sessionMessages.rate },
      await this.#listed('LIMIT_TOOL_CALLS', toolCalls, principal),
      await this.#listed('LIMIT_TOKENS', tokens, principal),
      {
        setting: 'LIMIT_SOCKETS',
        what: 'open sockets and streams at one gateway',
        ...(limitSockets === 0 ? {} : { permits: limitSockets, ...sockets }),
      },
    ]
  }

  async #listed(setting: string, limit: RateLimit, principal: string): Promise<ListedLimit> {
    const used = await this.#rates.used(limit, principal)
    return { setting, what: limit.what, ...limit.rate, ...(used === undefined ? {} : { used }) }
  }

  /** Counts a socket, or the response of a stream, until it closes. */
  socket({ id }: Pick<Caller, 'id'>, socket: Pick<Socket | ServerResponse, 'once'>): void {
    const open = this.stream({ id })
    socket.once('close', () => open?.[Symbol.dispose]())
  }

  /** Counts a stream among the sockets until disposed. */
  stream({ id }: Pick<Caller, 'id'>): Disposable | undefined {
    const { limitSockets } = this.#config
    if (limitSockets === 0) return undefined
    if ((this.#sockets.get(id) ?? 0) >= limitSockets) {
      const reason = `${limitSockets} open sockets and streams are allowed; close one`
      throw new BusError('exhausted', rateLimited(reason))
    }
    this.#sockets.set(id, (this.#sockets.get(id) ?? 0) + 1)
    return {
      [Symbol.dispose]: () => {
        const left = (this.#sockets.get(id) ?? 1) - 1
        if (left === 0) this.#sockets.delete(id)
        else this.#sockets.set(id, left)
      },
    }
  }
}
