import type { AuthProvider, Transport } from '@modelcontextprotocol/client'

import { type AuthConfig, authProviderOf } from '../auth/index.ts'
import type { AuthDeps } from '../auth/auth-strategy.ts'
import { authorizedFetch } from '../auth/authorized-fetch.ts'
import { resolvesWithin } from '@mcp-host/async'
import type { ProxyFor } from '../proxy/proxy-for.ts'
import { Intake } from '../intake/intake.ts'
import { boundedFetch, type Fetch } from '../streams/bounded-fetch.ts'
import type { Endpoint, EndpointDeps } from './endpoint.ts'
import { limitedStreams } from '../streams/paced-streams.ts'

/** The time limit for the end of the session at the server. */
const SESSION_END_LIMIT_MS = 2000

/** The endpoint of a server that is no process of this host. */
export function openRemote<Config>(
  {
    env,
    limits,
    logger,
    onLeftOut,
    onToken,
    onAsked,
    proxyFor,
    logins,
  }: Pick<EndpointDeps, 'limits' | 'logger' | 'onLeftOut' | keyof AuthDeps>,
  config: Config,
  openTransport: OpenTransport<Config>,
): Endpoint {
  const intake: Intake = new Intake({
    limits,
    logger,
    onLeftOut,
    onExceeded: (reason) => endpoint.fail(reason),
  })
  const endpoint = new RemoteEndpoint(
    intake,
    openTransport({ intake, env, onToken, onAsked, proxyFor, logins }, config),
  )
  return endpoint
}

interface RemoteTransport extends Transport {
  /** Tells the server that its session is over. */
  terminateSession?(): Promise<void>
  /** Why the connection ended; undefined while it is open. */
  readonly closeReason?: string | undefined
}

export interface TransportDeps extends AuthDeps {
  readonly intake: Intake
  readonly proxyFor: ProxyFor
}

export type OpenTransport<Config> = (deps: TransportDeps, config: Config) => RemoteTransport

interface RequestConfig {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly auth?: AuthConfig
}

/** The options of a transport by HTTP: its requests are within the limits of the server's messages. */
export function requestOptions(
  deps: Pick<TransportDeps, 'intake' | keyof AuthDeps>,
  config: RequestConfig,
): {
  readonly requestInit: RequestInit
  readonly fetch: Fetch
  readonly authProvider?: AuthProvider
} {
  const authProvider = authProviderOf(config, deps)
  return {
    requestInit: { headers: { ...config.headers } },
    fetch: authorizedFetch(limitedStreams(boundedFetch(deps.intake)), authProvider),
    ...(authProvider && { authProvider }),
  }
}

class RemoteEndpoint implements Endpoint {
  readonly intake: Intake
  readonly transport: RemoteTransport
  readonly isPipe = false
  readonly pid = undefined
  readonly exitCode = undefined
  #failure: string | undefined
  #closed: Promise<void> | undefined

  constructor(intake: Intake, transport: RemoteTransport) {
    this.intake = intake
    this.transport = transport
  }

  get closeReason(): string | undefined {
    if (this.#failure !== undefined) return this.#failure
    const { closeReason } = this.transport
    return closeReason ?? (this.#closed === undefined ? undefined : 'was disconnected')
  }

  /** Ends the connection after a message that cannot be accepted. */
  fail(reason: string): void {
    this.#failure ??= reason
    void this.close()
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close())
  }

  async #close(): Promise<void> {
    // The session of an unreachable server ends by itself.
    const ended = this.transport.terminateSession?.().catch(() => undefined)
    if (ended !== undefined) await resolvesWithin(ended, SESSION_END_LIMIT_MS)
    // Only a broken transport fails here, and it is closed then.
    await this.transport.close().catch(() => undefined)
  }
}
