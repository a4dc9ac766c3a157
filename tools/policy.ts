// `npm run policy`: checks policy.json, explains how it decides about the use of an item, and accepts changed tools.
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { countOf } from '@mcp-host/client'
import type { CatalogEntry } from '@mcp-host/contracts'
import { LOCAL, PrincipalId } from '@mcp-host/contracts'
import { ITEM_KINDS, OPEN_POLICY, PolicyFile } from '@mcp-host/policy'
import {
  approvalSettings,
  authMethods,
  createLogger,
  elementLines,
  loadConfig,
  readDataFile,
  ToolPins,
} from '@mcp-host/service'
import { CommandError, runCommand, UsageError } from './command-line.ts'
import { openCommandAudit } from './host/command-audit.ts'
import { connectQuietly } from './host/connect-quietly.ts'
import type { Env } from './host/read-env.ts'
import { readEnv } from './host/read-env.ts'
import { stopWithLauncher } from './lifeline.ts'
import { plain } from './plain.ts'
import type { NamedUse } from './policy/explain-use.ts'
import { explainUse } from './policy/explain-use.ts'
import { findBroker } from './servers/find-broker.ts'

const root = join(import.meta.dirname, '..')

const usage = `Usage: npm run policy -- check                               check the file, all faults at once
       npm run policy -- explain --as user:ann files.delete    say which rule decides, and why, and whether
                                                             TOOL_APPROVAL of this environment asks a user
       npm run policy -- explain --as user:ann --kind resource files.file:///etc/passwd
       npm run policy -- changed                             show the tools whose definition has changed
       npm run policy -- accept files.read                   use a tool as it is now
       npm run policy -- forget files                        remove what is recorded of a server that is not configured

  --as ID           principal of the call; default with AUTH=none: the local user, with its roles
  --role ROLE       a role of the principal, may be repeated; default: user
  --kind KIND       what is named: tool, prompt or resource; default: tool
  --arguments JSON  arguments of the call of a tool; default: {}. Without a running host, each may be of any type
  --read-only       the tool changes nothing; default: what its server says at the running host
  --file PATH       default: POLICY_CONFIG, else policy.json
  --nats URL        broker of the host; default: the one of the host that runs on DATA_DIR, else NATS_URL
`

type Options = CheckOptions | UseOptions | PinOptions

interface CheckOptions {
  readonly file: string
}

interface UseOptions extends CheckOptions {
  /** What is explained. */
  readonly use: NamedUse
  readonly env: Env
  readonly natsUrl: string | undefined
}

interface PinOptions {
  readonly natsUrl: string | undefined
  /** The tool whose change is accepted; absent: the changed tools are listed. */
  readonly accepted?: ToolName
  /** The server of which the recorded tools are removed. */
  readonly forgotten?: string
}

interface ToolName {
  readonly server: string
  readonly tool: string
}

function parse(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      as: { type: 'string' },
      role: { type: 'string', multiple: true },
      kind: { type: 'string', default: 'tool' },
      arguments: { type: 'string', default: '{}' },
      'read-only': { type: 'boolean', default: false },
      file: { type: 'string' },
      nats: { type: 'string' },
    },
  })
  if (values.help === true) return undefined
  const env = readEnv(process.env, root)
  const file = resolve(root, values.file ?? (env['POLICY_CONFIG'] || 'policy.json'))
  const [command, name, ...rest] = positionals
  if (rest.length > 0) throw new UsageError(`too many words: ${positionals.join(' ')}`)
  if (command === 'check' && name === undefined) return { file }
  const natsUrl = values.nats
  if (command === 'changed' && name === undefined) return { natsUrl }
  if (command === 'accept') return { natsUrl, accepted: toolOf(command, name) }
  if (command === 'forget') {
    if (name === undefined) throw new UsageError('forget: the name of a server is missing')
    return { natsUrl, forgotten: name }
  }
  if (command !== 'explain') {
    throw new UsageError(
      command === undefined ? 'a command is missing' : `wrong command: ${positionals.join(' ')}`,
    )
  }
  // Without authentication there is one principal.
  const isLocal =
    values.as === undefined && loadConfig({ authMethods }, env).authMethods.includes('none')
  const id = PrincipalId.safeParse(isLocal ? LOCAL.id : values.as)
  if (!id.success) throw new UsageError('--as: the id of a principal, such as user:ann, is missing')
  let given: unknown
  try {
    given = JSON.parse(values.arguments)
  } catch {
    throw new UsageError('--arguments: must be JSON')
  }
  const { server, tool } = toolOf(command, name)
  const kind = ITEM_KINDS.find((each) => each === values.kind)
  if (kind === undefined) throw new UsageError('--kind: must be tool, prompt or resource')
  const use = {
    principal: {
      id: id.data,
      roles: isLocal && values.role === undefined ? LOCAL.roles : (values.role ?? ['user']),
    },
    server,
    kind,
    name: tool,
    arguments: given,
    isReadOnly: values['read-only'],
  }
  return { file, use, env, natsUrl }
}

/** Parses the options. Throws `UsageError`. */
function toolOf(command: string, name = ''): ToolName {
  const dot = name.indexOf('.')
  if (dot < 1) throw new UsageError(`${command}: a name as server.tool is missing`)
  return { server: name.slice(0, dot), tool: name.slice(dot + 1) }
}

async function run(options: Options): Promise<number> {
  if ('use' in options) return explainFile(options)
  return 'file' in options ? checkFile(options) : reviewTools(options)
}

async function reviewTools({ natsUrl, accepted, forgotten }: PinOptions): Promise<number> {
  const broker = findBroker(readEnv(process.env, root), root, natsUrl)
  await using bus = await connectQuietly(broker, 'policy')
  const catalog = await bus.catalog.watch()
  const logger = createLogger('policy', 'silent')
  using pins = await ToolPins.open({ bus, logger, catalog }, { isRecorder: false })
  pins.setMode('warn')
  await using audit = await openCommandAudit(bus, 'npm run policy')
  if (accepted !== undefined) {
    const record = () => audit.record('tool-accepted', undefined, accepted)
    await pins.accept(accepted.server, accepted.tool, LOCAL.id, record)
    process.stdout.write(plain(`${accepted.server}.${accepted.tool} is used as it is now\n`))
    return 0
  }
  if (forgotten !== undefined) {
    const record = () => audit.record('tools-forgotten', undefined, { server: forgotten })
    const count = await pins.forget(forgotten, record)
    process.stdout.write(plain(`${count} recorded tools of ${forgotten} are removed\n`))
    return 0
  }
  const changed = pins.changed()
  if (changed.length === 0) process.stdout.write('No tool has changed since it was recorded.\n')
  for (const { server, tool, pinned = '(not stored)', current } of changed) {
    process.stdout.write(plain(`${server}.${tool}\n  was ${pinned}\n  is  ${current}\n`))
  }
  return 0
}

async function checkFile({ file }: CheckOptions): Promise<number> {
  const policy = readDataFile(file, PolicyFile)
  if (policy === undefined)
    throw new CommandError(
      `there is no file ${file}: every call is allowed, but a running host that had one keeps its rules`,
    )
  const count = policy.rules.length
  process.stdout.write(plain(`${file}: ${countOf(count, 'rule')}, otherwise ${policy.default}\n`))
  return 0
}

async function explainFile({ file, use, env, natsUrl }: UseOptions): Promise<number> {
  const read = readDataFile(file, PolicyFile)
  const { toolApproval } = loadConfig(approvalSettings, env)
  const host = await readCatalog(env, natsUrl)
  const lines = explainUse(use, {
    policy: read ?? OPEN_POLICY,
    lines: elementLines(file, 'rules'),
    toolApproval,
    host,
  })
  if (read === undefined) lines.push(`There is no file ${file}, so the policy allows everything.`)
  process.stdout.write(plain(lines.map((line) => `${line}\n`).join('')))
  return 0
}

/** What the running host offers, or why that is not known. */
async function readCatalog(
  env: Env,
  natsUrl: string | undefined,
): Promise<readonly CatalogEntry[] | { readonly why: string }> {
  try {
    await using bus = await connectQuietly(findBroker(env, root, natsUrl), 'policy')
    const catalog = await bus.catalog.watch()
    return Array.from(catalog.entries.values())
  } catch (error) {
    // The rules decide without a host, too.
    return { why: error instanceof Error ? error.message : String(error) }
  }
}

stopWithLauncher()
await runCommand({ usage, parse, run })
