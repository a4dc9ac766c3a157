import { dirname } from 'node:path'

import {
  findNodeAtLocation,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'

import { ConfigurationError } from '../errors/configuration-error.ts'
import type { Environment } from '../environment.ts'
import { checkDependencies } from './check-dependencies.ts'
import { FaultList } from './fault-list.ts'
import { findDuplicateKeys } from './find-duplicate-keys.ts'
import { type FoundEntry, findEntries } from './find-entries.ts'
import { fieldPath } from './json-tree.ts'
import type { McpConfig, ServerConfig } from './mcp-config.ts'
import { type ReadServer, readServer } from './read-server.ts'

export interface LoadOptions {
  /** Names that no server may have, such as those of servers built into the host; default none. */
  readonly reservedNames?: readonly string[]
}

export interface ParseOptions extends LoadOptions {
  /** Absolute; named in faults, and its folder is what relative paths are relative to. */
  readonly file: string
  /** What `${NAME}` stands for. */
  readonly variables: Environment
}

/**
 * Reads the text of an `mcp.json`: JSON with comments and trailing commas. Files that it names in
 * `envFile` are read too. A disabled server is left out, whatever else stands in it.
 * Throws `ConfigurationError` with every fault; broken syntax hides what else may be wrong.
 */
export function parseMcpConfig(
  text: string,
  { file, variables, reservedNames = [] }: ParseOptions,
): McpConfig {
  const faults = new FaultList(file, text)
  const root = parseSyntax(text, faults)
  if (root === undefined || faults.count > 0) throw new ConfigurationError(faults.sorted())

  findDuplicateKeys(root, '', faults)
  const context = { folder: dirname(file), variables, faults }
  const entries = findEntries(root, faults, reservedNames)
  const servers = entries
    .filter(({ isDisabled }) => !isDisabled)
    .map((entry) => ({ ...entry, ...readServer(entry.node, entry.path, context) }))
  const disabled = entries.filter(({ isDisabled }) => isDisabled).map(({ name }) => name)
  addDependencyFaults(servers, disabled, faults)

  if (faults.count > 0) throw new ConfigurationError(faults.sorted())
  const configs = servers.flatMap(({ name, config }): [string, ServerConfig][] =>
    config === undefined ? [] : [[name, config]],
  )
  return { servers: Object.fromEntries(configs) }
}

function parseSyntax(text: string, faults: FaultList): Node | undefined {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  for (const { error, offset } of errors) {
    const words = printParseErrorCode(error).replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    faults.add(offset, '', `is not valid JSON: ${words.toLowerCase()}`, 'Correct the syntax here.')
  }
  return root
}

function addDependencyFaults(
  servers: readonly (FoundEntry & ReadServer)[],
  disabled: readonly string[],
  faults: FaultList,
): void {
  for (const { name, index, message, remedy } of checkDependencies(servers, disabled)) {
    const server = servers.findLast((other) => other.name === name)
    const node = server && findNodeAtLocation(server.node, ['dependencies', index])
    // Of two servers with one name, which is a fault already, the other one was meant.
    if (server === undefined || node === undefined) continue
    const path = fieldPath(fieldPath(server.path, 'dependencies'), index)
    faults.add(node.offset, path, message, remedy)
  }
}
