import { dirname } from 'node:path'

import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'

import { ConfigurationError } from '../errors/configuration-error.ts'
import type { Environment } from '../environment.ts'
import { FaultList } from './fault-list.ts'
import { findDuplicateKeys } from './find-duplicate-keys.ts'
import { fieldPath, type Member, membersOf } from './json-tree.ts'
import type { McpConfig, ServerConfig } from './mcp-config.ts'
import { readServer } from './read-server.ts'
import { checkServerName } from './server-name.ts'

export interface ParseOptions {
  /** Absolute; named in faults, and its folder is what a relative `cwd` is relative to. */
  readonly file: string
  /** What `${NAME}` stands for. */
  readonly variables: Environment
}

const GROUPS: readonly string[] = ['servers', 'mcpServers']

/**
 * Reads the text of an `mcp.json`: JSON with comments and trailing commas.
 * Throws `ConfigurationError` with every fault; broken syntax hides what else may be wrong.
 */
export function parseMcpConfig(text: string, { file, variables }: ParseOptions): McpConfig {
  const faults = new FaultList(file, text)
  const root = parseSyntax(text, faults)
  if (root === undefined || faults.count > 0) throw new ConfigurationError(faults.sorted())

  findDuplicateKeys(root, '', faults)
  const folder = dirname(file)
  const servers: [string, ServerConfig][] = []
  const seen = new Map<string, string>()
  for (const group of findGroups(root, faults)) {
    for (const { key: name, offset, value } of membersOf(group.value)) {
      const path = fieldPath(group.key, name)
      const fault = checkServerName(name)
      if (fault !== undefined) faults.add(offset, path, fault.message, fault.remedy)
      // Twice in one group was found as a duplicate key.
      const other = seen.get(name)
      if (other !== undefined && other !== group.key) {
        faults.add(offset, path, `is in "${other}" too`, 'Rename or remove one of the two.')
      }
      seen.set(name, group.key)
      const server = readServer(value, path, { folder, variables, faults })
      if (server !== undefined) servers.push([name, server])
    }
  }
  if (faults.count > 0) throw new ConfigurationError(faults.sorted())
  return { servers: Object.fromEntries(servers) }
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

function findGroups(root: Node, faults: FaultList): readonly Member[] {
  const remedy = 'Write { "servers": { "name": { "command": "…" } } }.'
  if (root.type !== 'object') {
    faults.add(root.offset, '', 'must be an object', remedy)
    return []
  }
  const members = membersOf(root)
  for (const { key, offset } of members) {
    if (GROUPS.includes(key) || key === '$schema') continue
    faults.add(offset, key, 'is not a known field', 'Remove it; servers stand in "servers".')
  }
  const groups = members.filter(({ key }) => GROUPS.includes(key))
  if (groups.length === 0) faults.add(root.offset, 'servers', 'is missing', remedy)
  for (const { key, value } of groups) {
    if (value.type !== 'object') faults.add(value.offset, key, 'must be an object', remedy)
  }
  return groups
}
