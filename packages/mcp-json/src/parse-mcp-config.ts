import { resolve } from 'node:path'

import { findNodeAtLocation } from 'jsonc-parser'

import type { Environment } from '@mcp-host/process'
import { type ConfigFault, ConfigurationError } from './document/configuration-error.ts'
import { checkDependencies } from './check-dependencies.ts'
import { FaultList } from './document/fault-list.ts'
import { findDuplicateKeys } from './document/find-duplicate-keys.ts'
import { type FoundEntry, findEntries } from './clients/find-entries.ts'
import { fieldPath } from './document/json-tree.ts'
import { folderOf, homeOf, knownReferences } from './values/known-references.ts'
import type { McpConfig } from './mcp-config.ts'
import type { ServerConfig } from '@mcp-host/upstream'
import { toOwnForm } from './clients/master-mcp-server/to-own-form.ts'
import { parseSyntax } from './document/parse-syntax.ts'
import { type ReadServer, readServer } from './read-server.ts'

export interface ReadOptions {
  /** Names that no server may have, such as those of servers built into the host; default none. */
  readonly reservedNames?: readonly string[]
  /**
   * Refuses everything that only other clients understand, such as unknown fields, names with spaces and
   * `${workspaceFolder}`; default `false`.
   */
  readonly strict?: boolean
  /**
   * The value of `${workspaceFolder}`, and the base of relative paths. Default: the folder of the file, or its parent
   * if it is `.vscode`, `.cursor` or the like; for an object, the current folder.
   */
  readonly workspaceFolder?: string
  /** Called for everything that is ignored or interpreted differently from its spelling. */
  readonly onWarning?: (warning: ConfigFault) => void
}

export interface ParseOptions extends ReadOptions {
  /** The absolute path of the text's file, for faults. A name that ends in `.yaml` or `.yml` means YAML. */
  readonly file?: string
  /** Values for `${NAME}`; default: none. */
  readonly variables?: Environment
  /** Values for `${input:id}`, by id; default: the `default` of the entry in `inputs`. */
  readonly inputs?: Readonly<Record<string, string>>
}

/**
 * Reads a configuration as people write it: the text of an `mcp.json`, with comments and trailing commas, or of a YAML
 * file, or an object of the same form. Files in `envFile` are read too. The fields of a disabled server are ignored. A
 * server with faults is left out, and its faults are in `faulty`. Throws `ConfigurationError` with every fault when the
 * fault is not one server's, such as a syntax error, which may hide others; in strict mode for any fault.
 */
export function parseMcpConfig(source: string | object, options: ParseOptions = {}): McpConfig {
  const { file, variables = {}, inputs = {}, reservedNames = [], strict = false } = options
  const hasLines = typeof source === 'string'
  const text = hasLines ? source : toText(source)
  const faults = new FaultList(text, { file, hasLines, isStrict: strict })
  const written = parseSyntax(text, file, faults)
  if (written === undefined || faults.count > 0) throw new ConfigurationError(faults.sorted())

  findDuplicateKeys(written, '', faults)
  const root = toOwnForm(written, faults)
  if (root === undefined) throw new ConfigurationError(faults.sorted())
  const folder = resolve(options.workspaceFolder ?? folderOf(file, strict))
  const home = homeOf(variables)
  const references = strict ? undefined : knownReferences(folder, home, root, inputs)
  const given = hasLines || root !== written ? undefined : source
  const context = { folder, home, variables, references, faults, given }
  const entries = findEntries(root, faults, reservedNames)
  const servers = entries
    .filter(({ isDisabled }) => !isDisabled)
    .map((entry) => withDependencies(entry, entries, readServer(entry.node, entry.path, context)))
  const disabled = entries.filter(({ isDisabled }) => isDisabled).map(({ name }) => name)
  addDependencyFaults(servers, disabled, faults)

  // Warnings are also given for a faulty configuration, since an ignored field is often a misspelt one.
  for (const warning of faults.warnings()) options.onWarning?.(warning)
  const all = faults.sorted()
  const faulty = strict ? new Map<string, never>() : takeFaulty(entries, servers, faults)
  if (faults.count > 0) throw new ConfigurationError(all)
  const configs = servers.flatMap(({ name, config }): [string, ServerConfig][] =>
    config === undefined || faulty.has(name) ? [] : [[name, config]],
  )
  return {
    servers: Object.fromEntries(configs),
    ...(faulty.size === 0 ? {} : { faulty: Object.fromEntries(faulty) }),
  }
}

/** Removes the faults of servers from the list. A server that depends on a faulty one is faulty, too. */
function takeFaulty(
  entries: readonly FoundEntry[],
  servers: readonly (FoundEntry & ReadServer)[],
  faults: FaultList,
): ReadonlyMap<string, readonly ConfigFault[]> {
  const faulty = new Map<string, readonly ConfigFault[]>()
  for (const { name, node, isDisabled } of entries) {
    // The fault of a repeated name is at its key.
    const found = faults.takeWithin(node.parent?.type === 'property' ? node.parent : node)
    if (found.length === 0 || isDisabled) continue
    faulty.set(name, [...(faulty.get(name) ?? []), ...found])
  }
  for (let count = -1; count < faulty.size;) {
    count = faulty.size
    for (const { name, node, path, dependencies } of servers) {
      const index = dependencies.findIndex((dependency) => faulty.has(dependency))
      const field = findNodeAtLocation(node, ['dependencies', index])
      if (faulty.has(name) || field === undefined) continue
      const message = `is "${dependencies[index]}", which has a fault`
      const fieldName = fieldPath(fieldPath(path, 'dependencies'), index)
      faults.add(field.offset, fieldName, message, 'Mend that server, or remove this dependency.')
      faulty.set(name, faults.takeWithin(field))
    }
  }
  return faulty
}

function toText(source: object): string {
  try {
    // An untyped caller may pass `undefined`, which is not JSON.
    return JSON.stringify(source) ?? 'null'
  } catch (error) {
    // The nesting overflows the stack before `parseSyntax` can refuse it.
    if (!(error instanceof RangeError)) throw error
    const remedy = 'Remove what is nested so deeply.'
    throw new ConfigurationError([{ path: '', message: 'is nested too deeply', remedy }])
  }
}

/** Adds the names of a server's dependencies, which may differ from those in the file. */
function withDependencies(
  entry: FoundEntry,
  entries: readonly FoundEntry[],
  { config, dependencies: inFile }: ReadServer,
): FoundEntry & ReadServer {
  const dependencies = inFile.map((name) => {
    return entries.find(({ nameInFile }) => nameInFile === name)?.name ?? name
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
    // Two servers with one name are a fault already, which only one of them reports.
    if (server === undefined || node === undefined) continue
    const path = fieldPath(fieldPath(server.path, 'dependencies'), index)
    faults.add(node.offset, path, message, remedy)
  }
}
