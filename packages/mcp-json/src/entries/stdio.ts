import { resolve } from 'node:path'

import * as z from 'zod'

import type { ResourceLimits } from '@mcp-host/process'
import type { SandboxConfig, StdioServerConfig } from '@mcp-host/upstream'
import { programAuth, programAuthObject } from '../auth/oauth.ts'
import {
  commonFields,
  commonObjectFields,
  toCommon,
  transportField,
  typeField,
} from './common-fields.ts'
import type { EntryKind } from './entry-kind.ts'
import { stdioInstances } from './instance-fields.ts'
import {
  absolutePath,
  explained,
  fields,
  filledText,
  optional,
  positive,
  SANDBOX_DESCRIPTION,
  SANDBOX_EXAMPLE,
  sandboxFields,
  sandboxOrKind,
  texts,
  variables,
} from '../server-fields.ts'

const BYTES_PER_MEGABYTE = 2 ** 20

const Entry = z
  .strictObject({
    type: typeField('stdio', 'local'),
    transport: transportField('stdio'),
    command: explained(
      filledText,
      'The program to start: a path relative to "cwd", or a name on the PATH.',
      'node',
    ),
    args: optional(texts, 'The arguments of the program.', ['server.js']),
    env: optional(
      variables,
      'Environment variables of the program, beside PATH, HOME, proxies and the like.',
      { PORT: '8080' },
    ),
    envFile: optional(
      filledText,
      'A file with more variables, one NAME=value in a line; those in "env" win.',
      '.env',
    ),
    cwd: optional(
      filledText,
      'The folder to run in, relative to this file; default: the folder of this file.',
      'servers/web',
    ),
    limits: optional(
      fields({ memoryMb: positive.exactOptional(), cpuPercent: positive.exactOptional() }),
      'Limits for the program with its descendants: megabytes (2^20 bytes) of memory, percent of one core. Enforced on Linux.',
      { memoryMb: 512, cpuPercent: 100 },
    ),
    sandbox: optional(sandboxOrKind, SANDBOX_DESCRIPTION, SANDBOX_EXAMPLE),
    instances: stdioInstances,
    auth: programAuth,
    ...commonFields,
  })
  .meta({ id: 'StdioServer' })
type Entry = z.infer<typeof Entry>

const fieldsOfObject = {
  type: z.literal('stdio'),
  command: filledText,
  args: texts,
  env: variables,
  cwd: explained(absolutePath, 'The folder to run in.', '/srv/web'),
  limits: optional(
    fields({ memoryBytes: positive.exactOptional(), cpuPercent: positive.exactOptional() }),
    'Limits for the program with its descendants.',
    { memoryBytes: 2 ** 29, cpuPercent: 100 },
  ),
  sandbox: optional(sandboxFields(absolutePath), SANDBOX_DESCRIPTION, SANDBOX_EXAMPLE),
  instances: stdioInstances,
  auth: programAuthObject,
  ...commonObjectFields,
} satisfies Record<keyof StdioServerConfig, z.ZodType>

/** A program that is started here. */
export const stdio: EntryKind<StdioServerConfig, typeof Entry> = {
  names: ['stdio'],
  remedy: 'start the server with "command"',
  entry: Entry,
  object: z.strictObject(fieldsOfObject),

  toConfig(entry, { folder, fileEnv }) {
    const { command, args = [], env = {}, cwd = '.', limits, sandbox, instances, auth } = entry
    return {
      type: 'stdio',
      command,
      args,
      env: { ...fileEnv, ...env },
      cwd: resolve(folder, cwd),
      ...(limits === undefined ? {} : { limits: toLimits(limits) }),
      ...(sandbox === undefined ? {} : { sandbox: toSandbox(sandbox, folder) }),
      ...(instances === undefined ? {} : { instances }),
      ...(auth === undefined ? {} : { auth }),
      ...toCommon(entry, folder),
    }
  },
}

function toLimits({ memoryMb, ...limits }: NonNullable<Entry['limits']>): ResourceLimits {
  if (memoryMb === undefined) return limits
  return { ...limits, memoryBytes: Math.round(memoryMb * BYTES_PER_MEGABYTE) }
}

function toSandbox(sandbox: NonNullable<Entry['sandbox']>, folder: string): SandboxConfig {
  if (typeof sandbox === 'string') return { kind: sandbox }
  const { roots, ...rest } = sandbox
  return { ...rest, ...(roots && { roots: roots.map((root) => resolve(folder, root)) }) }
}
