import { resolve } from 'node:path'

import { findNodeAtLocation } from 'jsonc-parser'

import type { Environment } from '../environment.ts'
import { type ConfigFault, ConfigurationError } from '../errors/configuration-error.ts'
import { checkDependencies } from './check-dependencies.ts'
import { FaultList } from './fault-list.ts'
import { findDuplicateKeys } from './find-duplicate-keys.ts'
import { type FoundEntry, findEntries } from './find-entries.ts'
import { fieldPath } from './json-tree.ts'
import { folderOf, knownReferences } from './known-references.ts'
import type { McpConfig, ServerConfig } from './mcp-config.ts'
import { parseSyntax } from './parse-syntax.ts'
import { type ReadServer, readServer } from './read-server.ts'

export interface ReadOptions {
  /** Names that no server may have, such as those of servers built into the host; default none. */
  readonly reservedNames?: readonly string[]
  /**
   * Refuse what only other clients understand, such as unknown fields, names with spaces and
   * `${workspaceFolder}`; default `false`.
   */
  readonly strict?: boolean
  /**
   * The value of `${workspaceFolder}`, and the base of relative paths. Default: the folder of the file, or the one
   * above where that is `.vscode`, `.cursor` or the like; the current folder for an object.
   */
  readonly workspaceFolder?: string
  /** Called for everything that is ignored, or not understood as written. */
  readonly onWarning?: (warning: ConfigFault) => void
}

export interface ParseOptions extends ReadOptions {
  /** The file of the text: an absolute path, named in faults. */
  readonly file?: string
  /** Values for `${NAME}`; default: none. */
  readonly variables?: Environment
  /** Values for `${input:id}`, by id; default: the `default` of the entry in `inputs`. */
  readonly inputs?: Readonly<Record<string, string>>
}

/**
 * Reads a configuration as people write it: the text of an `mcp.json`, with comments and trailing
 * commas, or an object of the same form. Files that it names in `envFile` are read too. A disabled
 * server is left out, whatever else stands in it.
 * Throws `ConfigurationError` with every fault; broken syntax hides what else may be wrong.
 */
export function parseMcpConfig(source: string | object, options: ParseOptions = {}): McpConfig {
  const { file, variables = {}, inputs = {}, reservedNames = [], strict = false } = options
  // A caller without a compiler may give `undefined`, which is no JSON.
  const text = typeof source === 'string' ? source : toText(source)
  const hasLines = typeof source === 'string'
  const faults = new FaultList(text, { file, hasLines, isStrict: strict })
  const root = parseSyntax(text, faults)
  if (root === undefined || faults.count > 0) throw new ConfigurationError(faults.sorted())

  findDuplicateKeys(root, '', faults)
  const folder = resolve(options.workspaceFolder ?? folderOf(file, strict))
  const references = strict ? undefined : knownReferences(folder, variables, root, inputs)
  const context = { folder, variables, references, faults }
  const entries = findEntries(root, faults, reservedNames)
  const servers = entries
    .filter(({ isDisabled }) => !isDisabled)
    .map((entry) => withDependencies(entry, entries, readServer(entry.node, entry.path, context)))
  const disabled = entries.filter(({ isDisabled }) => isDisabled).map(({ name }) => name)
  addDependencyFaults(servers, disabled, faults)

  // Also for a faulty configuration: an ignored field is often a misspelt one.
  for (const warning of faults.warnings()) options.onWarning?.(warning)
  if (faults.count > 0) throw new ConfigurationError(faults.sorted())
  const configs = servers.flatMap(({ name, config }): [string, ServerConfig][] =>
    config === undefined ? [] : [[name, config]],
  )
  return { servers: Object.fromEntries(configs) }
}

function toText(source: object): string {
  try {
    return JSON.stringify(source) ?? 'null'
  } catch (error) {
    // The text could not be written down to the level at which it is refused.
    if (!(error instanceof RangeError)) throw error
    const remedy = 'Remove what is nested so deeply.'
    throw new ConfigurationError([{ path: '', message: 'is nested too deeply', remedy }])
  }
}

/** Dependencies are written with the names of the file, which may not be those of the servers. */
function withDependencies(
  entry: FoundEntry,
  entries: readonly FoundEntry[],
  { config, dependencies: given }: ReadServer,
): FoundEntry & ReadServer {
  const dependencies = given.map((name) => {
    return entries.find(({ givenName }) => givenName === name)?.name ?? name
  })
  if (config?.dependencies === undefined) return { ...entry, config, dependencies }
  return { ...entry, config: { ...config, dependencies }, dependencies }
}

function addDependencyFaults(
  servers: readonly (FoundEntry & ReadServer)[],
  disabled: readonly string[],
  faults: FaultList,
): void {
  for (const { name, index, message, remedy } of checkDependencies(servers, disabled)) {
    const server = servers.findLast((other) => other.name === name)
    const node = server && findNodeAtLocation(server.node, ['dependencies', index])
    // Two servers with one name are a fault already; the other entry is kept.
    if (server === undefined || node === undefined) continue
    const path = fieldPath(fieldPath(server.path, 'dependencies'), index)
    faults.add(node.offset, path, message, remedy)
  }
}
