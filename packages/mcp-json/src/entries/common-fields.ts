import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import * as z from 'zod'

import type { CommonServerConfig } from '@mcp-host/upstream'
import {
  fileUri,
  filledText,
  foreign,
  isFileUri,
  optional,
  restart,
  restartOrPolicy,
  seconds,
  settings,
} from '../server-fields.ts'

const Settings = z.object(settings)
const folderOrUri = filledText.refine((value) => !value.includes('://') || isFileUri(value), {
  error: 'must be a folder or a file:// URI',
})

/** The `type` of an entry in a file, with these values. */
export function typeField<const Names extends readonly string[]>(...names: Names) {
  return optional(
    z.enum(names, 'is no type of server'),
    'How the server is reached; without it, "command" means stdio and "url" means http, or sse where the server refuses http, or websocket for ws:// and wss://.',
    names[0],
  )
}

/** The `transport` of an entry in a file, with these values. */
export function transportField<const Names extends readonly string[]>(...names: Names) {
  return optional(
    z.enum(names, `must be ${names.map((name) => `"${name}"`).join(' or ')} here`),
    'How the server is reached, beside a "type" of "local" or "remote".',
    names[0],
  )
}

/** Fields that other programs write into the file. Variables in them are not expanded. */
export const foreignFields = {
  description: foreign,
  autoApprove: foreign,
  alwaysAllow: foreign,
  dev: foreign,
  gallery: foreign,
  version: foreign,
}

/** The fields of every server in a file. */
export const commonFields = {
  id: optional(
    z.string('must be a string'),
    'The name of the server; needed in a list, else the same as its key.',
    'web',
  ),
  disabled: optional(z.boolean('must be true or false'), 'Leaves the server out.', true),
  timeout: optional(seconds, 'Seconds that a call may be silent; progress starts them anew.', 30),
  ...settings,
  restart: optional(
    restartOrPolicy,
    'Whether the server is started again; more than "maxRestarts" within "windowMs" are a crash loop.',
    { policy: 'on-failure', maxRestarts: 5, windowMs: 60_000 },
  ),
  roots: optional(
    z.array(folderOrUri, 'must be a list'),
    'Folders that the server is told to work in: relative to this file, or file:// URIs.',
    ['./documents'],
  ),
  ...foreignFields,
}

/** The fields of every server in an object. */
export const commonObjectFields = {
  ...settings,
  restart: restart.exactOptional(),
  secrets: optional(
    z.record(z.string(), z.string('must be a string'), 'must be an object'),
    'Values to mask in errors, logs and health. Their names are shown instead.',
    { TOKEN: 'a-value' },
  ),
  roots: optional(
    z.array(fileUri, 'must be a list'),
    'Folders that the server is told to work in.',
    ['file:///home/me/documents'],
  ),
} satisfies Record<keyof CommonServerConfig, z.ZodType>

const CommonEntry = z.object(commonFields)

/** `folder` is the base of relative paths. */
export function toCommon(entry: z.infer<typeof CommonEntry>, folder: string): CommonServerConfig {
  const { timeout, restart: given, roots } = entry
  return {
    ...Settings.parse(entry),
    ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
    ...(given === undefined
      ? {}
      : { restart: typeof given === 'string' ? { policy: given } : given }),
    ...(roots === undefined ? {} : { roots: roots.map((root) => toFileUri(root, folder)) }),
  }
}

function toFileUri(root: string, folder: string): string {
  return root.includes('://') ? new URL(root).href : pathToFileURL(resolve(folder, root)).href
}
