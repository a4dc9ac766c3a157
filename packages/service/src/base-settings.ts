import { parseNatsUrl } from '@mcp-host/bus'
import { z } from 'zod'
import { configFileSetting } from './config-file.ts'
import { setting, values } from './settings.ts'

function isNatsUrl(url: string): boolean {
  try {
    parseNatsUrl(url)
    return true
  } catch {
    // Every fault has the same remedy.
    return false
  }
}

const UNITS: Readonly<Record<string, number>> = { MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 }

/** Bytes of a size as in the configuration of nats-server. */
function toBytes(size: string, context: z.RefinementCtx): number {
  const [, count, unit = ''] = /^(\d+)(MB|GB|TB)$/.exec(size) ?? []
  if (count === undefined) context.addIssue('must be a size in MB, GB or TB, as 8GB')
  return Number(count) * (UNITS[unit] ?? 1)
}

/** A proxy as people write it: the scheme may be missing, as curl allows. */
function toProxy(text: string, context: z.RefinementCtx): URL {
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  if (url !== null && /^https?:$/.test(url.protocol)) return url
  context.addIssue('must be http://[user:password@]host:port, or with https')
  return z.NEVER
}

/** Settings that every process has. */
export const baseSettings = {
  configFile: configFileSetting,
  natsUrl: setting({
    env: 'NATS_URL',
    schema: values.text.refine(isNatsUrl, 'must be nats://[token@]host:port'),
    default: 'nats://127.0.0.1:4222',
    describe:
      'nats-server with JetStream, as nats://[token@]host:port; several by commas. `npm start` runs its own when this is not set.',
    isSecret: true,
  }),
  natsSeedFile: setting({
    env: 'NATS_NKEY_SEED_FILE',
    schema: values.text.optional(),
    describe:
      'File with the nkey seed of this service, where nats-server has the accounts of `npm run bus-accounts`; or a folder with a file for each service. `npm start` sets it for its own nats-server.',
  }),
  natsTlsCa: setting({
    env: 'NATS_TLS_CA',
    schema: values.text.optional(),
    describe:
      'PEM file with the certificates that may have signed the one of nats-server. With it the connection is encrypted.',
  }),
  natsTlsCert: setting({
    env: 'NATS_TLS_CERT',
    schema: values.text.optional(),
    describe: 'PEM file with the certificate of this service, where nats-server verifies clients.',
  }),
  natsTlsKey: setting({
    env: 'NATS_TLS_KEY',
    schema: values.text.optional(),
    describe: 'PEM file with the key of NATS_TLS_CERT.',
  }),
  natsReplicas: setting({
    env: 'NATS_REPLICAS',
    schema: values.integer(1, 5),
    default: '1',
    describe:
      'How many servers of a nats-server cluster keep each message; 3 outlast the loss of one. The same for all services.',
  }),
  storeDir: setting({
    env: 'STORE_DIR',
    schema: values.text.optional(),
    describe:
      'Folder in which nats-server keeps its data, when that is on this machine: its free space is watched. `npm start` sets it for its own nats-server.',
  }),
  storeMaxBytes: setting({
    env: 'NATS_MAX_FILE_STORE',
    schema: values.text.transform(toBytes).optional(),
    describe:
      'What nats-server stores at most, its `max_file_store`, as 8GB: services then know the room that is left. In a cluster, of each server. Less than its disk has.',
  }),
  storeMinFreeMb: setting({
    env: 'STORE_MIN_FREE_MB',
    schema: values.integer(0, 1_000_000),
    default: '256',
    describe:
      'With less than this free at STORE_DIR or left of NATS_MAX_FILE_STORE, in megabytes, new messages and files are refused with a retryable error, while what runs goes on. 0: never.',
  }),
  drainLimitMs: setting({
    env: 'DRAIN_LIMIT_MS',
    schema: values.integer(0, 3_600_000),
    default: '25000',
    describe:
      'How long a service may finish what is in hand after SIGTERM, in milliseconds; 5 s later it ends whatever happens. Kubernetes gives 30 s in all unless told otherwise.',
  }),
  successorLimitMs: setting({
    env: 'SUCCESSOR_LIMIT_MS',
    schema: values.integer(0, 600_000),
    default: '0',
    describe:
      'How long a service goes on as before after SIGTERM while its successor starts, in milliseconds; SIGINT ends the wait. `npm start` sets 30000. 0 where successors start first, as in Kubernetes.',
  }),
  opsHost: setting({
    env: 'OPS_HOST',
    schema: values.text,
    default: '127.0.0.1',
    describe:
      'Address of the operations server: /health, /ready and /metrics, which anybody who reaches it may read. Keep it inside.',
  }),
  opsPort: setting({
    env: 'OPS_PORT',
    schema: values.integer(0, 65_535).optional(),
    describe:
      'Port of the operations server; 0 takes a free one. With `npm start` the services have this port and the next three, in the order gateway, orchestrator, mcp-supervisor, llm-worker. Unset: a gateway has these routes at PORT alone, the others take a free port.',
  }),
  httpProxy: setting({
    env: 'HTTP_PROXY',
    aliases: ['http_proxy'],
    schema: values.text.transform(toProxy).optional(),
    describe:
      'Proxy for http:// and ws:// requests to models, MCP servers and identity providers, as http://[user:password@]host:port. Requests to this machine have none.',
    isSecret: true,
  }),
  httpsProxy: setting({
    env: 'HTTPS_PROXY',
    aliases: ['https_proxy'],
    schema: values.text.transform(toProxy).optional(),
    describe: 'Like HTTP_PROXY, for https:// and wss:// requests.',
    isSecret: true,
  }),
  noProxy: setting({
    env: 'NO_PROXY',
    aliases: ['no_proxy'],
    schema: values.text.transform((text) => text.split(/[\s,]+/).filter((part) => part !== '')),
    default: '',
    describe:
      'Hosts that are reached without a proxy, by commas: example.com with its subdomains, 10.1.2.3, 10.0.0.0/8, * for all.',
  }),
  logLevel: setting({
    env: 'LOG_LEVEL',
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      error: 'must be one of trace, debug, info, warn, error, fatal, silent',
    }),
    default: 'info',
    describe: 'Least severe level that is logged.',
  }),
  readyFile: setting({
    env: 'READY_FILE',
    schema: values.text.optional(),
    describe:
      'File that gets the pid and URL of the process once it is ready; `npm start` sets it.',
  }),
}
