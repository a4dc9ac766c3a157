import { connect, errors } from '@nats-io/transport-node'
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node'
import { BusError } from '@mcp-host/contracts'

const MINIMUM = [2, 11] as const

/**
 * Splits `nats://user:password@host:port` or `nats://token@host:port` (several, by commas, share the
 * first one's credentials) into what the client wants.
 */
export function parseNatsUrl(
  url: string,
): Pick<ConnectionOptions, 'servers' | 'user' | 'pass' | 'token'> {
  const urls = url.split(',').map((part) => new URL(part.includes('://') ? part : `nats://${part}`))
  const servers = urls.map(({ protocol, host }) => `${protocol}//${host}`)
  const [first] = urls
  const user = decodeURIComponent(first?.username ?? '')
  const pass = decodeURIComponent(first?.password ?? '')
  if (user === '') return { servers }
  return pass === '' ? { servers, token: user } : { servers, user, pass }
}

/** A connection that outlives broker restarts. Fails with `unavailable` when there is none to begin with. */
export async function connectNats(url: string, name: string): Promise<NatsConnection> {
  const options = parseNatsUrl(url)
  const where = String(options.servers)
  let connection: NatsConnection
  try {
    connection = await connect({
      ...options,
      name,
      inboxPrefix: `_INBOX_${name}`,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      pingInterval: 10_000,
      maxPingOut: 2,
      // Capturing two stacks per request costs more than the request.
      noAsyncTraces: true,
    })
  } catch (error) {
    const reason =
      error instanceof errors.AuthorizationError
        ? 'it refuses our credentials'
        : 'it does not answer'
    throw new BusError('unavailable', `nats-server at ${where}: ${reason}`, { cause: error })
  }
  const version = connection.info?.version ?? '0'
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < MINIMUM[0] || (major === MINIMUM[0] && minor < MINIMUM[1])) {
    await connection.close()
    throw new BusError(
      'unavailable',
      `nats-server at ${where} is ${version}; ${MINIMUM.join('.')} or newer is needed`,
    )
  }
  if (connection.info?.jetstream !== true) {
    await connection.close()
    throw new BusError(
      'unavailable',
      `nats-server at ${where} runs without JetStream; start it with -js`,
    )
  }
  return connection
}
