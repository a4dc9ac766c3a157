import { resolve } from 'node:path'

import { findNodeAtLocation, getNodePath, type Node } from 'jsonc-parser'

import { valueAt } from '@mcp-host/json'
import { addProblem } from './add-problem.ts'
import { findContradiction } from './entries/find-contradiction.ts'
import { toOwnFields } from './clients/client-fields.ts'
import { type ExpandContext, expandTree } from './values/expand-tree.ts'
import { findProblems } from './document/find-problems.ts'
import { functionsOf } from './document/functions-of.ts'
import { fieldPath, memberOffset, membersOf } from './document/json-tree.ts'
import type { ServerConfig } from '@mcp-host/upstream'
import { SAFE_NAMES } from '@mcp-host/process'
import { readEnvFile } from './values/read-env-file.ts'
import { foreignFields } from './entries/common-fields.ts'
import { ENTRY_KINDS } from './entries/index.ts'
import { isContradiction, serverKind } from './server-kind.ts'
import { splitCommand } from './clients/split-command.ts'
import { tidyFields } from './clients/tidy-fields.ts'

export interface ReadServerContext extends Omit<ExpandContext, 'filled'> {
  /** The base of relative paths. */
  readonly folder: string
  /** The value of `~`. */
  readonly home: string
  /** The object that the text was made from, for its functions; undefined for a file. */
  readonly given: unknown
}

export interface ReadServer {
  /** Undefined when the server has faults. */
  readonly config: ServerConfig | undefined
  /** The dependencies, read even from a faulty server, so that all faults are reported at once. */
  readonly dependencies: readonly string[]
}

/** Reads one server's object. Adds its faults to the context. */
export function readServer(node: Node, path: string, context: ReadServerContext): ReadServer {
  const { faults, folder } = context
  if (node.type !== 'object') {
    faults.add(node.offset, path, 'must be an object', 'Write { "command": "…" }.')
    return { config: undefined, dependencies: [] }
  }
  const countBefore = faults.reported
  const filled = new Map<string, string>()
  const functions = functionsOf(valueAt(context.given, getNodePath(node)))
  const written = { ...expandFields(node, path, { ...context, filled }), ...functions }
  const { fields, renamed, warnings } = faults.isStrict
    ? { fields: written, renamed: new Map<string, string>(), warnings: [] }
    : toOwnFields(tidyFields(written, context.home))
  for (const { field, message, remedy } of warnings) {
    faults.tolerate(memberOffset(node, field), fieldPath(path, field), message, remedy)
  }
  if (!faults.isStrict) splitCommandField(node, path, fields, context)
  const kind = serverKind(fields)
  const { entry } = ENTRY_KINDS[kind]
  for (const problem of findProblems(entry, fields)) {
    addProblem(problem, { node, path, kind, faults, renamed })
  }
  const known = Object.entries(fields).filter(([key]) => Object.hasOwn(entry.shape, key))
  const value: Record<string, unknown> = Object.fromEntries(known)
  checkContradictions(node, path, value, context)
  const fileEnv = readEnvField(node, path, value, context)
  const listed = value['dependencies']
  const dependencies = Array.isArray(listed) ? listed.map(nameOrJson) : []
  if (faults.reported > countBefore) return { config: undefined, dependencies }
  const config = ENTRY_KINDS[kind].toConfig(entry.parse(value), { folder, fileEnv })
  return { config: withSecrets(config, filled), dependencies }
}

/** Not `String`, which throws for an object whose `toString` is no function. */
function nameOrJson(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Adds the values of all expanded variables as secrets, except those that every program gets. */
function withSecrets(config: ServerConfig, filled: ReadonlyMap<string, string>): ServerConfig {
  const secrets = Array.from(filled).filter(
    ([name, value]) => value !== '' && !SAFE_NAMES.has(name),
  )
  return secrets.length === 0 ? config : { ...config, secrets: Object.fromEntries(secrets) }
}

function expandFields(node: Node, path: string, context: ExpandContext) {
  const fields = membersOf(node).flatMap(({ key, value }): [string, unknown][] => {
    // Ids were checked before. They are not expanded, since names appear in errors and logs.
    if (key === 'id' || Object.hasOwn(foreignFields, key)) return []
    return [[key, expandTree(value, fieldPath(path, key), context)]]
  })
  return Object.fromEntries(fields)
}

/** Reads a whole command line in `command`, which its program would not be found for. */
function splitCommandField(
  node: Node,
  path: string,
  fields: Record<string, unknown>,
  { folder, faults }: ReadServerContext,
): void {
  const { command, args = [], cwd } = fields
  if (typeof command !== 'string' || !Array.isArray(args)) return
  const line = splitCommand(command, resolve(folder, typeof cwd === 'string' ? cwd : '.'))
  const add = (isFault: boolean, message: string, remedy: string): void => {
    const place = [memberOffset(node, 'command'), fieldPath(path, 'command')] as const
    if (isFault) faults.add(...place, message, remedy)
    else faults.tolerate(...place, message, remedy)
  }
  if (line.kind === 'shell') {
    const message = 'is a line for a shell, and no shell runs here'
    add(true, message, 'Write "command": "sh", "args": ["-c", "…"].')
  } else if (line.kind === 'line') {
    fields['command'] = line.command
    fields['args'] = [...line.args, ...args]
    const message = 'has spaces, and is taken for a program with its arguments'
    add(false, message, 'Write the program in "command", and the rest as a list in "args".')
  }
}

function checkContradictions(
  node: Node,
  path: string,
  value: Readonly<Record<string, unknown>>,
  { faults }: ReadServerContext,
): void {
  const [timeoutMs, transport] = ['timeoutMs', 'transport'].map((field) =>
    findNodeAtLocation(node, [field]),
  )
  if (timeoutMs !== undefined && 'timeout' in value) {
    const remedy = 'Keep "timeout" (seconds) or "timeoutMs" (milliseconds).'
    faults.add(timeoutMs.offset, fieldPath(path, 'timeoutMs'), 'contradicts "timeout"', remedy)
  }
  if (transport !== undefined && isContradiction(value)) {
    const remedy = 'Keep "type", or write "type": "local" or "remote".'
    faults.add(transport.offset, fieldPath(path, 'transport'), 'contradicts "type"', remedy)
  }
  const fault = findContradiction(value)
  if (fault === undefined) return
  const { field, message, remedy } = fault
  faults.add(memberOffset(node, field), fieldPath(path, field), message, remedy)
}

function readEnvField(
  node: Node,
  path: string,
  { envFile }: Readonly<Record<string, unknown>>,
  { folder, faults }: ReadServerContext,
): Readonly<Record<string, string>> {
  if (typeof envFile !== 'string') return {}
  const read = readEnvFile(resolve(folder, envFile))
  if (read.kind === 'read') return read.env
  const remedy = 'Give a file of NAME=value lines, relative to this file.'
  faults.add(memberOffset(node, 'envFile'), fieldPath(path, 'envFile'), read.message, remedy)
  return {}
}
