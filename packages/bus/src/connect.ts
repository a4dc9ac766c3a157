import { errors, NatsConnectionImpl, setTransportFactory } from '@nats-io/transport-node'
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node'
import { nodeResolveHost } from '@nats-io/transport-node/lib/node_transport.js'
import { BusError } from '@mcp-host/contracts'
import { GatheringTransport } from './gathering-transport.ts'

setTransportFactory({
  factory: () => new GatheringTransport(),
  dnsResolveFn: nodeResolveHost,
})

const MINIMUM = [2, 11] as const

/**
 * Splits `nats://user:password@host:port` or `nats://token@host:port` (several, by commas, share the
 * first one's credentials) into what the client wants.
 */
export function parseNatsUrl(
  url: string,
): Pick<ConnectionOptions, 'servers' | 'user' | 'pass' | 'token'> {
  const urls = url.split(',').map((part) => {
    const parsed = URL.parse(part.includes('://') ? part : `nats://${part}`)
    // Said without the URL, which may hold a token.
    if (parsed === null) throw new BusError('invalid', 'the URL of nats-server is not a URL')
    return parsed
  })
  const servers = urls.map(({ protocol, host }) => `${protocol}//${host}`)
  const [first] = urls
  const user = decodeURIComponent(first?.username ?? '')
  const pass = decodeURIComponent(first?.password ?? '')
  if (user === '') return { servers }
  return pass === '' ? { servers, token: user } : { servers, user, pass }
}

/** Begins the subjects to which answers to this process come. */
export function inboxPrefix(name: string): string {
  return `_INBOX_${name}`
}

/**
 * A connection that survives restarts of the broker. Throws `unavailable` when there is no broker at first, `denied`
 * when it refuses the connection, `invalid` when it is too old or has no JetStream.
 */
export async function connectNats(url: string, name: string): Promise<NatsConnection> {
  const options = parseNatsUrl(url)
  const where = String(options.servers)
  let connection: NatsConnection
  try {
    connection = await NatsConnectionImpl.connect({
      ...options,
      name,
      inboxPrefix: inboxPrefix(name),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      pingInterval: 10_000,
      maxPingOut: 2,
      // Capturing two stacks per request costs more than the request.
      noAsyncTraces: true,
    })
  } catch (error) {
    if (error instanceof errors.AuthorizationError) {
      const message = `nats-server at ${where}: it refuses our credentials; see NATS_URL`
      throw new BusError('denied', message, { cause: error })
    }
    const message = `nats-server at ${where}: it does not answer`
    throw new BusError('unavailable', message, { cause: error })
  }
  const version = connection.info?.version ?? '0'
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < MINIMUM[0] || (major === MINIMUM[0] && minor < MINIMUM[1])) {
    await connection.close()
    throw new BusError(
      'invalid',
      `nats-server at ${where} is ${version}; ${MINIMUM.join('.')} or newer is needed`,
    )
  }
  if (connection.info?.jetstream !== true) {
    await connection.close()
    throw new BusError(
      'invalid',
      `nats-server at ${where} runs without JetStream; start it with -js`,
    )
  }
  return connection
}
