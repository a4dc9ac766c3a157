import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { FaultList } from '../../document/fault-list.ts'
import { fieldPath, membersOf } from '../../document/json-tree.ts'
import { nodeOf } from '../../document/make-nodes.ts'
import { type Draft, memberOf, refuse, valueOf, type Written } from './draft.ts'
import { resolveSecrets } from './resolve-secrets.ts'

/** The interpreters of files, by their endings; other files start themselves. */
const INTERPRETERS: ReadonlyMap<string, string> = new Map([
  ['.js', 'node'],
  ['.mjs', 'node'],
  ['.cjs', 'node'],
  ['.ts', 'node'],
  ['.py', 'python3'],
])

interface Packager {
  readonly command: string
  readonly args: readonly string[]
  /** What stands between a package and its version. */
  readonly sign: string
}

const PACKAGERS: ReadonlyMap<unknown, Packager> = new Map([
  ['npm', { command: 'npx', args: ['-y'], sign: '@' }],
  ['pypi', { command: 'uvx', args: [], sign: '==' }],
  ['docker', { command: 'docker', args: ['run', '-i', '--rm'], sign: ':' }],
])

/** Sets the command of a server that is started here. Returns whether there is one; otherwise adds a fault. */
export function putProgram(draft: Draft, faults: FaultList): boolean {
  const entry = draft.written
  const type = memberOf(entry, 'type')
  const packager = PACKAGERS.get(valueOf(type))
  const isLocal = type === undefined || valueOf(type) === 'local'
  if (packager === undefined && !isLocal) {
    const remedy = 'Write "npm", "pypi", "docker" or "local".'
    refuse(faults, type, 'is not a known type of server', remedy)
    return false
  }
  const isPlaced = packager ? putPackage(draft, packager, faults) : putFile(draft, faults)
  if (!isPlaced) return false
  const config = memberOf(entry, 'config')
  const environment = config && memberOf(config, 'environment')
  if (environment === undefined) return true
  const { node, path } = resolveSecrets(environment, faults)
  draft.put('env', node, path)
  return true
}

function putFile(draft: Draft, faults: FaultList): boolean {
  const entry = draft.written
  warnUnused(entry, ['package', 'version', 'branch'], faults)
  const url = memberOf(entry, 'url')
  const value = valueOf(url)
  if (url === undefined || typeof value !== 'string' || value === '') {
    const message = url === undefined ? 'is missing' : 'must be a text'
    const place = url ?? { node: entry.node, path: fieldPath(entry.path, 'url') }
    const remedy = 'Write the "url" of the server or of its program, or its port in "config.port".'
    refuse(faults, place, message, remedy)
    return false
  }
  const file = pathOf(value)
  const interpreter = INTERPRETERS.get(extname(file).toLowerCase())
  // A name without a folder would be searched on the PATH.
  draft.putText('command', interpreter ?? (/[/\\]/.test(file) ? file : `./${file}`), url)
  const before = interpreter === undefined ? [] : [textAt(file, url)]
  return putArguments(draft, before, faults)
}

/** The path in a `file://` URL, which may be a relative one there. */
function pathOf(value: string): string {
  if (!/^file:\/\//i.test(value)) return value
  try {
    return fileURLToPath(value)
  } catch {
    return value.slice('file://'.length)
  }
}

function putPackage(draft: Draft, { command, args, sign }: Packager, faults: FaultList): boolean {
  const entry = draft.written
  warnUnused(entry, ['url', 'branch'], faults)
  const [name, version] = ['package', 'version'].map((key) => memberOf(entry, key))
  if (name === undefined) {
    const place = { node: entry.node, path: fieldPath(entry.path, 'package') }
    refuse(faults, place, 'is missing', 'Write the name of the package.')
    return false
  }
  for (const field of [name, version]) {
    if (field === undefined || typeof valueOf(field) === 'string') continue
    refuse(faults, field, 'must be a text', 'Put it in quotes.')
    return false
  }
  const ending = version === undefined ? '' : `${sign}${textOf(version, faults)}`
  draft.putText('command', command, name)
  const environment = command === 'docker' ? variableNames(entry) : []
  const before = [...args, ...environment].map((text) => textAt(text, name))
  return putArguments(draft, [...before, textAt(textOf(name, faults) + ending, name)], faults)
}

/** Sets the arguments: those of the launcher, and those of the file. */
function putArguments(draft: Draft, before: readonly Written[], faults: FaultList): boolean {
  const config = memberOf(draft.written, 'config')
  const args = config && memberOf(config, 'args')
  if (args !== undefined && args.node.type !== 'array') {
    refuse(faults, args, 'must be a list', 'Write "args": ["--verbose"].')
    return false
  }
  const own = (args?.node.children ?? []).map((node, index) =>
    resolveSecrets({ node, path: fieldPath(args?.path ?? '', index) }, faults),
  )
  draft.putList('args', [...before, ...own], args ?? draft.written)
  return true
}

/** Arguments of Docker that pass the variables of the entry on to the container. */
function variableNames(entry: Written): readonly string[] {
  const config = memberOf(entry, 'config')
  const environment = config && memberOf(config, 'environment')
  return environment ? membersOf(environment.node).flatMap(({ key }) => ['-e', key]) : []
}

function textOf(written: Written, faults: FaultList): string {
  return String(valueOf(resolveSecrets(written, faults)))
}

function textAt(text: string, { node, path }: Written): Written {
  return { node: nodeOf('string', node, text), path }
}

function warnUnused(entry: Written, fields: readonly string[], faults: FaultList): void {
  for (const field of fields.map((key) => memberOf(entry, key))) {
    if (field === undefined) continue
    const message = 'has no meaning for this type of server and is ignored'
    faults.tolerate(field.node.offset, field.path, message, 'Remove it.')
  }
}
