// `npm run audit`: verifies the audit log of a running host, exports it and searches it.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { countOf } from '@mcp-host/client'
import type { ChainFault } from '@mcp-host/audit'
import { ChainVerifier, entryFilter, KeptCheckpoints, parseEntry } from '@mcp-host/audit'
import type { AuditMessage, AuditState, Bus } from '@mcp-host/bus'
import { readEnv } from './host/read-env.ts'
import type { WrittenEntry } from './audit/entry-lines.ts'
import { csvHead, csvLine, jsonLine, searchLine } from './audit/entry-lines.ts'
import { parseTime } from './audit/parse-time.ts'
import { stopWithLauncher } from './lifeline.ts'
import { plain } from './plain.ts'
import { connectQuietly } from './host/connect-quietly.ts'
import { findBroker } from './servers/find-broker.ts'

const USAGE = `Usage: npm run audit -- verify     check that no entry was changed, removed, added or moved
       npm run audit -- export     all entries, as they are stored
       npm run audit -- search     entries for a person to read

  --since TIME       from then on: 2026-11-25, 2026-11-25T08:00Z, or 30m, 12h, 7d ago
  --until TIME       until then; not for verify
  --principal ID     of this principal; * stands for anything, also below
  --server NAME      of this MCP server
  --tool NAME        of this tool
  --action NAME      such as tool-started, tool-finished
  --format FORMAT    of an export: jsonl (default) or csv
  --arguments        with the arguments of calls
  --checkpoints DIR  the checkpoints to which verify compares the entries; default: AUDIT_CHECKPOINTS
  --nats URL         broker of the host; default: the one of the host that runs on DATA_DIR, else NATS_URL

verify ends with 1 when it finds a fault.
`

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  since: { type: 'string' },
  until: { type: 'string' },
  principal: { type: 'string' },
  server: { type: 'string' },
  tool: { type: 'string' },
  action: { type: 'string' },
  format: { type: 'string', default: 'jsonl' },
  arguments: { type: 'boolean' },
  checkpoints: { type: 'string' },
  nats: { type: 'string' },
} as const

/** The options that only filter the output. */
const FILTERS = ['until', 'principal', 'server', 'tool', 'action', 'arguments'] as const
const PROGRESS_MS = 1_000

/** The error for wrong options. It is printed with the usage. */
class UsageError extends Error {
  override readonly name = 'UsageError'
}

const tell = (text: string): void => void process.stderr.write(plain(text))

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS })
  if (values.help === true) {
    process.stdout.write(USAGE)
    return 0
  }
  const [command, ...rest] = positionals
  if (command === undefined) throw new UsageError('verify, export or search?')
  if (!['verify', 'export', 'search'].includes(command)) {
    throw new UsageError(`there is no command "${command}"`)
  }
  if (rest.length > 0) throw new UsageError(`too many words: ${positionals.join(' ')}`)
  if (!['jsonl', 'csv'].includes(values.format)) {
    throw new UsageError(`--format ${values.format}: must be jsonl or csv`)
  }
  const narrowing = FILTERS.find((name) => Object.hasOwn(values, name))
  if (command === 'verify' && narrowing !== undefined) {
    throw new UsageError(`--${narrowing}: verify checks every entry`)
  }
  const now = Date.now()
  const since = readTime('since', values.since, now)
  const until = readTime('until', values.until, now)
  const root = join(import.meta.dirname, '..')
  const env = readEnv(process.env, root)
  // Before the entries, so that each checkpoint is older than the last entry that is read.
  const folder = values.checkpoints ?? env['AUDIT_CHECKPOINTS']
  const checkpoints = command === 'verify' && folder ? await readCheckpoints(folder) : undefined
  const broker = findBroker(env, root, values.nats)
  await using bus = await connectQuietly(broker, 'audit')
  const state = await bus.audit.state()
  // With bus accounts, the log is created before its first entry.
  if (state === undefined || state.messages === 0) {
    throw new Error(
      'the audit log has no entries. It is kept by npm start, where clients authenticate, and with AUDIT=async or AUDIT=required',
    )
  }
  const messages = withProgress(bus, state, since)
  if (command === 'verify') return await verify(messages, state, { since, now, checkpoints })
  const isWanted = entryFilter({ ...values, since, until })
  const withArguments = values.arguments === true
  const line = command === 'search' ? searchLine : values.format === 'csv' ? csvLine : jsonLine
  if (line === csvLine) await print(csvHead(withArguments))
  for await (const { writer, entries } of messages) {
    for (const text of entries) {
      const entry = parseEntry(text)
      if (entry === undefined) tell(`${writer}: an entry is not readable; see verify\n`)
      else if (isWanted(entry))
        await print(line(shown({ writer, ...entry }, withArguments), withArguments))
    }
  }
  return 0
}

async function verify(
  messages: AsyncIterable<AuditMessage>,
  { createdAt, maxAgeMs }: AuditState,
  {
    since,
    now,
    checkpoints,
  }: {
    readonly since: Date | undefined
    readonly now: number
    readonly checkpoints: KeptCheckpoints | undefined
  },
): Promise<number> {
  let faults = 0
  const from = since?.getTime() ?? now - maxAgeMs
  const verifier = new ChainVerifier({
    onFault(fault) {
      faults++
      process.stdout.write(plain(`${faultLine(fault)}\n`))
    },
    isBeginOptional: since !== undefined || createdAt < now - maxAgeMs,
    now,
    from,
    ...(checkpoints === undefined ? {} : { checkpoints }),
  })
  for await (const { writer, entries } of messages)
    for (const entry of entries) verifier.take(writer, entry)
  verifier.end()
  const { entries, writers } = verifier.counts
  if (checkpoints !== undefined)
    process.stdout.write(`${countOf(checkpoints.count, 'checkpoint')} compared\n`)
  process.stdout.write(
    `${countOf(entries, 'entry', 'entries')}, ${countOf(writers, 'writer')}, ${countOf(faults, 'fault')}\n`,
  )
  return faults === 0 ? 0 : 1
}

/** Reads the files of all services. Throws when the folder cannot be read or has none. */
async function readCheckpoints(folder: string): Promise<KeptCheckpoints> {
  const remedy = 'name the folder by AUDIT_CHECKPOINTS or --checkpoints'
  const files = await readdir(folder).catch((cause: unknown) => {
    throw new Error(`the checkpoints in ${folder} cannot be read; ${remedy}`, { cause })
  })
  const kept = new KeptCheckpoints()
  for (const file of files.filter((each) => each.endsWith('.jsonl'))) {
    const lines = (await readFile(join(folder, file), 'utf8')).split('\n')
    for (const [index, line] of lines.entries()) {
      if (line === '' || kept.add(line)) continue
      tell(`${file}, line ${index + 1}: is no checkpoint, so it is not compared\n`)
    }
  }
  if (kept.count === 0) throw new Error(`there are no checkpoints in ${folder}; ${remedy}`)
  return kept
}

function faultLine({ kind, writer, seq, time, count }: ChainFault): string {
  switch (kind) {
    case 'changed':
      return `changed     ${writer} ${seq} ${time}: the entry is not what was written`
    case 'removed':
      return `removed     ${writer} ${seq} before ${time}: ${count} missing from this one on`
    case 'added':
      return `added       ${writer} ${seq} ${time}: there is another entry of this number`
    case 'reordered':
      return `reordered   ${writer} ${seq} ${time}: the entry stands after later ones`
    case 'rewritten':
      return `rewritten   ${writer} ${seq}: the entry is not that of the checkpoint of ${time}`
    case 'cut':
      return `cut         ${writer} ${seq}: ${count} missing from this one on, which the checkpoint of ${time} counts`
    case 'unfinished':
      return `unfinished  ${writer} ${seq} ${time}: no checkpoint follows: the process was killed, or its last entries were removed`
    default:
      return kind satisfies never
  }
}

/** The messages. When the reading takes long, the number of messages is reported on standard error. */
async function* withProgress(
  bus: Bus,
  state: AuditState,
  since: Date | undefined,
): AsyncIterable<AuditMessage> {
  let count = 0
  let toldAt = Date.now()
  for await (const message of bus.audit.read({ since })) {
    count++
    if (Date.now() - toldAt > PROGRESS_MS) {
      toldAt = Date.now()
      tell(
        `${count} of ${since === undefined ? '' : 'at most '}${countOf(state.messages, 'message')} read\n`,
      )
    }
    yield message
  }
}

function shown({ arguments: args, ...entry }: WrittenEntry, withArguments: boolean): WrittenEntry {
  return withArguments && args !== undefined ? { ...entry, arguments: args } : entry
}

/** Prints a line, and waits when the reader of the output is slower. */
async function print(line: string): Promise<void> {
  if (process.stdout.write(`${line}\n`)) return
  await new Promise((resolve) => void process.stdout.once('drain', resolve))
}

function readTime(name: string, text: string | undefined, now: number): Date | undefined {
  if (text === undefined) return undefined
  const time = parseTime(text, now)
  if (time !== undefined) return time
  throw new UsageError(`--${name} ${text}: must be a time as 2026-11-25, 2026-11-25T08:00Z or 7d`)
}

stopWithLauncher()
try {
  process.exitCode = await main()
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  const isUsage = error instanceof UsageError || (error instanceof TypeError && 'code' in error)
  tell(isUsage ? `${message}\n\n${USAGE}` : `${message}\n`)
  process.exitCode = isUsage ? 2 : 1
}
