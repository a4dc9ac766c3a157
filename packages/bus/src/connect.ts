import {
  errors,
  NatsConnectionImpl,
  nkeyAuthenticator,
  setTransportFactory,
} from '@nats-io/transport-node'
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node'
import { nodeResolveHost } from '@nats-io/transport-node/lib/node_transport.js'
import type { AccountName, Participant } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { ownSeedFile, participantOf, readSeed } from './seed-file.ts'
import { GatheringTransport } from './gathering-transport.ts'

setTransportFactory({
  factory: () => new GatheringTransport(),
  dnsResolveFn: nodeResolveHost,
})

const MINIMUM = [2, 11] as const

/**
 * The client's options for `nats://user:password@host:port` or `nats://token@host:port`. Several URLs, separated by
 * commas, share the first one's credentials.
 */
export function parseNatsUrl(
  url: string,
): Pick<ConnectionOptions, 'servers' | 'user' | 'pass' | 'token'> {
  const urls = url.split(',').map((part) => {
    const parsed = URL.parse(part.includes('://') ? part : `nats://${part}`)
    // The message omits the URL, which may contain a token.
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

/** The prefix of the subjects on which all processes of a service receive replies. */
export function inboxesOf(participant: Participant): string {
  return `_INBOX.${participant}`
}

/**
 * The prefix of the subjects on which one process receives the replies of one account, so that no account can answer a
 * request to another. `id`: the id of the process on the bus.
 */
export function inboxPrefix(id: string, responder: AccountName = 'STORE'): string {
  return `${inboxesOf(participantOf(serviceOf(id)))}.${responder}.${id}`
}

/** The name of the service that a process belongs to, by its id on the bus. */
function serviceOf(id: string): string {
  const end = id.lastIndexOf('-')
  return end === -1 ? id : id.slice(0, end)
}

/** The credential of a process, and the certificates with which it checks the broker. */
export interface Credential {
  /** A file with the seed of an nkey, or a folder with one file for each service. */
  readonly seedFile?: string | undefined
  /**
   * TLS files in PEM: the certificates of the authority that signed the broker's certificate, and this process's own
   * certificate with its key.
   */
  readonly caFile?: string | undefined
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
}

/**
 * Opens a connection that survives restarts of the broker. `id`: the id of the process on the bus. Throws `unavailable`
 * when the broker does not answer at first, `denied` when it refuses the connection, `invalid` when it is too old, has
 * no JetStream, or a file of the credential cannot be used. `onRefused`: called with `denied` when the broker refuses the
 * credential later.
 */
export async function connectNats(
  url: string,
  id: string,
  credential: Credential = {},
  onRefused?: (error: BusError) => void,
): Promise<NatsConnection> {
  const options = parseNatsUrl(url)
  const where = String(options.servers)
  let connection: NatsConnection
  try {
    connection = await NatsConnectionImpl.connect({
      ...options,
      ...(await credentialOptions(credential, serviceOf(id))),
      name: id,
      inboxPrefix: inboxPrefix(id),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      pingInterval: 10_000,
      maxPingOut: 2,
      // The library counts time-outs as refusals, and closes the connection at the second one.
      ignoreAuthErrorAbort: true,
      // Two stack traces per request would cost more than the request.
      noAsyncTraces: true,
    })
  } catch (error) {
    if (error instanceof BusError) throw error
    if (isRefusal(error)) throw refusedBy(where, error)
    const message = `nats-server at ${where}: it does not answer`
    throw new BusError('unavailable', message, { cause: error })
  }
  const version = connection.info?.version ?? '0'
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < MINIMUM[0] || (major === MINIMUM[0] && minor < MINIMUM[1])) {
    await connection.close()
    const message = `nats-server at ${where} is ${version}; ${MINIMUM.join('.')} or newer is needed`
    throw new BusError('invalid', message)
  }
  if (connection.info?.jetstream !== true) {
    await connection.close()
    const message = `nats-server at ${where} runs without JetStream; start it with -js`
    throw new BusError('invalid', message)
  }
  if (onRefused !== undefined) void watchRefusals(connection, where, onRefused)
  return connection
}

/** Calls `onRefused` at the second refusal in a row: one server of a cluster may not have the accounts yet. */
async function watchRefusals(
  connection: NatsConnection,
  where: string,
  onRefused: (error: BusError) => void,
): Promise<void> {
  let refusals = 0
  for await (const status of connection.status()) {
    if (status.type === 'reconnect') refusals = 0
    else if (status.type === 'error' && isRefusal(status.error) && ++refusals === 2) {
      onRefused(refusedBy(where, status.error))
    }
  }
}

/**
 * Whether the broker refuses the credential. A broker that is too busy to check it answers `Authentication Timeout`,
 * which the library gives the class of a refusal and no code.
 */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof errors.UserAuthenticationExpiredError ||
    (error instanceof errors.AuthorizationError && !/authentication timeout/i.test(error.message))
  )
}

function refusedBy(where: string, cause: unknown): BusError {
  const message = `nats-server at ${where}: it refuses our credentials; see NATS_URL and NATS_NKEY_SEED_FILE`
  return new BusError('denied', message, { cause })
}

async function credentialOptions(
  { seedFile, caFile, certFile, keyFile }: Credential,
  service: string,
): Promise<Pick<ConnectionOptions, 'authenticator' | 'tls'>> {
  const hasTls = caFile !== undefined || certFile !== undefined
  return {
    ...(seedFile === undefined
      ? {}
      : { authenticator: nkeyAuthenticator(await readSeed(await ownSeedFile(seedFile, service))) }),
    ...(hasTls
      ? {
          tls: {
            ...(caFile === undefined ? {} : { caFile }),
            ...(certFile === undefined ? {} : { certFile }),
            ...(keyFile === undefined ? {} : { keyFile }),
          },
        }
      : {}),
  }
}
