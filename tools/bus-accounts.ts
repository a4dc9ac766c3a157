// `npm run bus-accounts`: gives each service its own account at nats-server, and creates the streams.
import { rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import {
  accountsConfig,
  ensureCredentials,
  retireCredentials,
  rotateCredentials,
  seedFileOf,
  steadySeedFile,
} from '@mcp-host/bus'
import { runCommand, UsageError } from './command-line.ts'
import { openCommandAudit } from './host/command-audit.ts'
import { connectQuietly } from './host/connect-quietly.ts'
import { createStreams } from './host/create-streams.ts'
import { credentialOf } from './host/nats-credential.ts'
import { readEnv } from './host/read-env.ts'
import { stopWithLauncher } from './lifeline.ts'
import { plain } from './plain.ts'

const usage = `Usage: npm run bus-accounts -- --out FOLDER          write accounts.conf and a credential for each service
       npm run bus-accounts -- rotate --out FOLDER   replace the credentials; those before stay good
       npm run bus-accounts -- retire --out FOLDER   end the rotation: those before are refused
       npm run bus-accounts -- provision             create the streams and buckets, before the services start

Include accounts.conf in the configuration of every nats-server of the cluster. Give each service its own file, by
NATS_NKEY_SEED_FILE; the holder of tools.nk has all permissions. Credentials that are in the folder are kept. To replace
them: rotate, reload the configuration of nats-server, restart all processes with the new files, retire, reload again.
rotate and retire first store an entry in the audit log at NATS_URL, with tools.nk of FOLDER. Without a nats-server, or with
--nats '', they say that there is none.

provision connects to NATS_URL with tools.nk, and reads NATS_REPLICAS and AUDIT_RETENTION_DAYS. It may be repeated, and
brings streams of an earlier version up to date.

  --out FOLDER          folder of the files, which is created
  --config FILE         where accounts.conf is written; default: in FOLDER
  --credentials FOLDER  folder with tools.nk; default: NATS_NKEY_SEED_FILE
  --nats URL            nats-server; default: NATS_URL
`

interface Credentials {
  readonly out: string
  readonly config: string
  readonly change: keyof typeof CHANGES | undefined
  /** The broker whose audit log gets an entry. */
  readonly nats: string | undefined
}

type Options = Credentials | { readonly nats: string; readonly folder?: string }

const CHANGES = { rotate: rotateCredentials, retire: retireCredentials }

const root = join(import.meta.dirname, '..')
const env = readEnv(process.env, root)

function parse(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      out: { type: 'string' },
      config: { type: 'string' },
      credentials: { type: 'string' },
      nats: { type: 'string' },
    },
  })
  if (values.help === true) return undefined
  const [command, ...rest] = positionals
  const nats = values.nats ?? env['NATS_URL']
  const change = command === 'rotate' || command === 'retire' ? command : undefined
  if (values.out !== undefined && rest.length === 0 && command === change) {
    const out = resolve(values.out)
    return { out, config: resolve(values.config ?? join(out, 'accounts.conf')), change, nats }
  }
  if (command !== 'provision' || rest.length > 0) {
    throw new UsageError('give --out FOLDER, rotate or retire with it, or the command provision')
  }
  if (!nats) throw new UsageError('provision: give --nats URL, or set NATS_URL')
  const folder = values.credentials === undefined ? {} : { folder: resolve(values.credentials) }
  return { nats, ...folder }
}

async function run(options: Options): Promise<number> {
  if (!('out' in options)) {
    const { nats: url, folder } = options
    const given = credentialOf(env)
    const seedFile = folder === undefined ? given.seedFile : seedFileOf(folder, 'tools')
    await createStreams(env, { url, credential: { ...given, seedFile } })
    print('the streams and buckets of the host are there')
    return 0
  }
  if (options.change !== undefined) {
    await record(options.change, options)
    await CHANGES[options.change](options.out)
  }
  const keys = await ensureCredentials(options.out)
  const { config } = options
  // Renamed into place, since nats-server may wait for it.
  const text = `accounts ${JSON.stringify(accountsConfig(keys), undefined, 2)}\n`
  await writeFile(`${config}.new`, text)
  await rename(`${config}.new`, config)
  print(`${config}: include it in the configuration of nats-server`)
  for (const participant of Object.keys(keys)) {
    print(`${join(options.out, `${participant}.nk`)}: credential of ${participant}`)
  }
  return 0
}

/** Stores an audit entry about a change of the credentials. */
async function record(change: string, { out, nats: url }: Credentials): Promise<void> {
  if (!url) return print('the audit log has no entry of this, since there is no --nats or NATS_URL')
  const credential = { ...credentialOf(env), seedFile: steadySeedFile(out, 'tools') }
  await using bus = await connectQuietly({ url, credential }, 'bus-accounts')
  await using audit = await openCommandAudit(bus, 'npm run bus-accounts')
  await audit.record('keys-rotated', { keys: 'bus', change })
}

function print(line: string): void {
  process.stdout.write(plain(`${line}\n`))
}

stopWithLauncher()
await runCommand({ usage, parse, run })
