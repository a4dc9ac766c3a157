import type * as z from 'zod'

import type { ServerConfig } from '@mcp-host/upstream'

export interface EntryContext {
  /** The base of relative paths. */
  readonly folder: string
  /** The variables of the entry's `envFile`. */
  readonly fileEnv: Readonly<Record<string, string>>
}

/**
 * How a kind of server is written in a configuration. A further kind is a file such as `http.ts`, and its line in
 * `index.ts`.
 */
export interface EntryKind<Config extends ServerConfig, Entry extends z.ZodObject> {
  /** Its names in `type` and `transport` of a file. */
  readonly names: readonly string[]
  /** Further names in files of other clients, in lower case and without signs. */
  readonly spellings?: readonly string[]
  /** What a user may do to have a server of this kind, with a small letter at the start. */
  readonly remedy: string
  /** Whether it has functions, which no file can have. */
  readonly isCode?: true
  /** The schema of one server in a file, after variables are expanded. */
  readonly entry: Entry
  /** The schema of one server in an object. */
  readonly object: z.ZodObject
  toConfig(entry: z.infer<Entry>, context: EntryContext): Config
}
