// `npm run keys`: creates, lists and revokes API keys of a host that runs with AUTH=keys.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { ApiKeyRecord } from '@mcp-host/auth'
import { apiKeys, keysMadeBy, newApiKey, scopesOfKey } from '@mcp-host/auth'
import type { Bucket } from '@mcp-host/bus'
import { LOCAL, PrincipalId, RoleName, Scope, SCOPES } from '@mcp-host/contracts'
import { CommandError, runCommand, UsageError } from './command-line.ts'
import type { CommandAudit } from './host/command-audit.ts'
import { openCommandAudit } from './host/command-audit.ts'
import { connectQuietly } from './host/connect-quietly.ts'
import { readEnv } from './host/read-env.ts'
import { stopWithLauncher } from './lifeline.ts'
import { plain, plainLine } from './plain.ts'
import { findBroker } from './servers/find-broker.ts'

const DAY_MS = 86_400_000

const usage = `Usage: npm run keys -- create NAME    create an API key and print it, this once
       npm run keys -- list           list the keys, without their secrets
       npm run keys -- revoke ID      revoke a key, and the keys that it made, at all gateways at once

  --as ID         principal of the key; default: key:NAME
  --role ROLE     role of the principal, may be repeated; default: user. admin may do everything
  --scope SCOPE   ${SCOPES.join(', ')}; may be repeated; default: mcp, chat and decide,
                  for an admin all
  --days N        days until the key expires; default: never
  --nats URL      broker of the host; default: the one of the host that runs on DATA_DIR, else NATS_URL
`

interface Options {
  readonly command: 'create' | 'list' | 'revoke'
  /** The name of a new key, or the id of a key to revoke. */
  readonly word: string
  readonly about: Pick<ApiKeyRecord, 'principal' | 'roles' | 'scopes'>
  readonly days: number | undefined
  readonly natsUrl: string | undefined
}

function parse(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      as: { type: 'string' },
      role: { type: 'string', multiple: true },
      scope: { type: 'string', multiple: true },
      days: { type: 'string' },
      nats: { type: 'string' },
    },
  })
  if (values.help === true) return undefined
  const [command, given = '', ...rest] = positionals
  const word = given.trim()
  if (command !== 'create' && command !== 'list' && command !== 'revoke') {
    throw new UsageError(
      command === undefined ? 'a command is missing' : `there is no command "${command}"`,
    )
  }
  if (command !== 'list' && word === '') throw new UsageError(`${command}: a word is missing`)
  if (rest.length > 0) throw new UsageError(`too many words: ${positionals.join(' ')}`)
  const roles = (values.role ?? ['user']).map((role) => valid(RoleName, role, '--role'))
  const scopes = values.scope?.map((scope) => valid(Scope, scope, '--scope'))
  const principal = values.as ?? `key:${word.replaceAll(/\s+/g, '-')}`
  const days = values.days === undefined ? undefined : Number(values.days)
  if (days !== undefined && !(Number.isInteger(days) && days > 0)) {
    throw new UsageError('--days: must be a whole number above 0')
  }
  return {
    command,
    word,
    about: {
      principal: command === 'create' ? valid(PrincipalId, principal, '--as') : LOCAL.id,
      roles,
      scopes: scopes ?? (roles.includes('admin') ? [...SCOPES] : ['mcp', 'chat', 'decide']),
    },
    days,
    natsUrl: values.nats,
  }
}

/** Throws `UsageError` that names the option. */
function valid<T>(
  schema: { safeParse(value: string): { data?: T; error?: { issues: { message: string }[] } } },
  text: string,
  option: string,
): T {
  const { data, error } = schema.safeParse(text)
  if (data !== undefined) return data
  throw new UsageError(`${option} ${text}: ${error?.issues[0]?.message ?? 'is not valid'}`)
}

async function run({ command, word, about, days, natsUrl }: Options): Promise<number> {
  const root = join(import.meta.dirname, '..')
  const broker = findBroker(readEnv(process.env, root), root, natsUrl)
  await using bus = await connectQuietly(broker, 'keys')
  const bucket = await bus.bucket(apiKeys)
  await using audit = await openCommandAudit(bus, 'npm run keys')
  if (command === 'create') await create({ bucket, audit }, word, about, days)
  else if (command === 'revoke') await revoke({ bucket, audit }, word)
  else await list(bucket)
  return 0
}

interface Stores {
  readonly bucket: Bucket<ApiKeyRecord>
  readonly audit: CommandAudit
}

async function create(
  { bucket, audit }: Stores,
  name: string,
  about: Options['about'],
  days: number | undefined,
): Promise<void> {
  const now = bucket.now()
  const expiry = days === undefined ? {} : { expiresAt: now + days * DAY_MS }
  const { id, key, record } = newApiKey({ name, ...about, createdBy: LOCAL.id, ...expiry }, now)
  await audit.record('key-created', { id, name, ...about, ...expiry })
  await bucket.put(id, record, { revision: 0 })
  process.stderr.write(plain(`key ${id} of ${about.principal}; it is shown this once:\n`))
  process.stdout.write(`${key}\n`)
}

async function revoke({ bucket, audit }: Stores, id: string): Promise<void> {
  const isId = /^[0-9a-f]{12}$/.test(id)
  if (!isId || (await bucket.get(id)) === undefined) {
    throw new CommandError(`there is no API key "${id}"; npm run keys -- list shows their ids`)
  }
  const made = keysMadeBy(id, (await bucket.watch()).records)
  await audit.record('key-revoked', { id, ...(made.length > 0 && { made }) })
  for (const each of [id, ...made]) {
    await bucket.remove(each)
    process.stdout.write(`${each} is revoked${each === id ? '' : `, which ${id} made`}\n`)
  }
}

async function list(bucket: Bucket<ApiKeyRecord>): Promise<void> {
  const { records } = await bucket.watch()
  if (records.size === 0) process.stdout.write('There is no API key yet.\n')
  for (const [id, record] of records) {
    const { name, principal, roles, expiresAt } = record
    const until =
      expiresAt === undefined ? 'never expires' : `until ${new Date(expiresAt).toISOString()}`
    const fields = [id, name, principal, roles.join(','), scopesOfKey(record).join(','), until]
    process.stdout.write(`${plainLine(fields.join('   '))}\n`)
  }
}

stopWithLauncher()
await runCommand({ usage, parse, run })
