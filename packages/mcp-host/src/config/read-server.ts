import { resolve } from 'node:path'

import { findNodeAtLocation, getNodeValue, type Node } from 'jsonc-parser'

import type { Environment } from '../environment.ts'
import { expandVariables } from './expand-variables.ts'
import type { FaultList } from './fault-list.ts'
import { fieldPath, membersOf } from './json-tree.ts'
import type { StdioServerConfig } from './mcp-config.ts'
import { REMEDIES, ServerEntry } from './server-entry.ts'

export interface ReadServerContext {
  /** What a relative `cwd` is relative to. */
  readonly folder: string
  readonly variables: Environment
  readonly faults: FaultList
}

const KNOWN = Object.keys(ServerEntry.shape)
const OTHER_TYPES: readonly unknown[] = ['http', 'sse', 'websocket', 'streamable-http']

/** Reads one server's object; undefined when it has faults, which are in the list then. */
export function readServer(
  node: Node,
  path: string,
  context: ReadServerContext,
): StdioServerConfig | undefined {
  const { faults } = context
  if (node.type !== 'object') {
    faults.add(node.offset, path, 'must be an object', 'Write { "command": "…" }.')
    return undefined
  }
  if (isOtherType(node, path, faults)) return undefined
  const countBefore = faults.count
  checkKeys(node, path, faults)
  checkTimeouts(node, path, faults)
  checkVariables(node, path, context)
  const entry = ServerEntry.safeParse(getNodeValue(node))
  for (const issue of entry.error?.issues ?? []) addIssue(node, path, issue, faults)
  return entry.success && faults.count === countBefore ? expand(entry.data, context) : undefined
}

/** Says it once, instead of one fault for each field that such a server has. */
function isOtherType(node: Node, path: string, faults: FaultList): boolean {
  const type = findNodeAtLocation(node, ['type'])
  const url = findNodeAtLocation(node, ['url'])
  const remedy = 'Use a server that is started by a "command" and speaks over stdio.'
  if (type !== undefined && OTHER_TYPES.includes(getNodeValue(type))) {
    const message = `"${String(getNodeValue(type))}" is not supported yet`
    faults.add(type.offset, fieldPath(path, 'type'), message, remedy)
    return true
  }
  if (type === undefined && url !== undefined) {
    faults.add(url.offset, fieldPath(path, 'url'), 'is not supported yet', remedy)
    return true
  }
  return false
}

function checkKeys(node: Node, path: string, faults: FaultList): void {
  for (const { key, offset } of membersOf(node)) {
    const remedy = `Remove it, or use one of ${KNOWN.join(', ')}.`
    if (!KNOWN.includes(key))
      faults.add(offset, fieldPath(path, key), 'is not a known field', remedy)
  }
}

function checkTimeouts(node: Node, path: string, faults: FaultList): void {
  const second = findNodeAtLocation(node, ['timeoutMs'])
  if (second === undefined || findNodeAtLocation(node, ['timeout']) === undefined) return
  const remedy = 'Keep "timeout" (seconds) or "timeoutMs" (milliseconds).'
  faults.add(second.offset, fieldPath(path, 'timeoutMs'), 'contradicts "timeout"', remedy)
}

/** In every text, however deep: a fault elsewhere must not hide that a variable is not set. */
function checkVariables(node: Node, path: string, context: ReadServerContext): void {
  const { variables, faults } = context
  for (const { key, value } of membersOf(node)) {
    checkVariables(value, fieldPath(path, key), context)
  }
  if (node.type === 'array') {
    for (const [index, item] of (node.children ?? []).entries()) {
      checkVariables(item, fieldPath(path, index), context)
    }
  }
  if (node.type !== 'string') return
  const template = String(getNodeValue(node))
  const { text, unset, unknown } = expandVariables(template, variables)
  for (const name of unset) {
    const remedy = `Set it, or write \${${name}:-default}.`
    faults.add(node.offset, path, `uses ${name}, which is not set`, remedy)
  }
  for (const reference of unknown) {
    const remedy = 'Write ${NAME}, ${NAME:-default} or ${env:NAME}.'
    faults.add(node.offset, path, `has ${reference}, which is not a variable`, remedy)
  }
  const isCommand = path.endsWith('.command')
  if (isCommand && text === '' && template !== '' && unset.length === 0) {
    const message = 'is empty once its variables are filled in'
    faults.add(node.offset, path, message, REMEDIES['command'] ?? '')
  }
}

interface Issue {
  readonly code?: string | undefined
  readonly path: readonly PropertyKey[]
  readonly message: string
}

function addIssue(server: Node, path: string, issue: Issue, faults: FaultList): void {
  const steps = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  const node = findNodeAtLocation(server, steps)
  const field = issue.path.reduce(fieldPath, path)
  const remedy = REMEDIES[String(issue.path[0])] ?? ''
  if (node === undefined) return faults.add(server.offset, field, 'is missing', remedy)
  if (issue.code === 'invalid_key') {
    // The name is at fault and not its value.
    const offset = node.parent?.offset ?? node.offset
    return faults.add(offset, field, 'is not a valid variable name', remedy)
  }
  return faults.add(node.offset, field, issue.message, remedy)
}

/** Only for an entry whose variables were checked. */
function expand(
  { command, args = [], env = {}, cwd = '.', timeout, timeoutMs }: ServerEntry,
  { folder, variables }: ReadServerContext,
): StdioServerConfig {
  const filled = (template: string): string => expandVariables(template, variables).text
  const limitMs = timeoutMs ?? (timeout === undefined ? undefined : timeout * 1000)
  return {
    type: 'stdio',
    command: filled(command),
    args: args.map(filled),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)])),
    cwd: resolve(folder, filled(cwd)),
    ...(limitMs === undefined ? {} : { timeoutMs: limitMs }),
  }
}
