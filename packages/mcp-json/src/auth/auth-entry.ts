import type * as z from 'zod'

import type { AuthConfig } from '@mcp-host/upstream'

/**
 * How a strategy is written in `auth` of a configuration. A further strategy is a file such as `bearer.ts`, and its
 * line in `index.ts`.
 */
export interface AuthEntry<Config extends AuthConfig, Entry extends z.ZodObject> {
  /** What it does: the rest of a sentence that begins with its name. */
  readonly description: string
  readonly example: z.infer<Entry>
  /** The schema in a file, after variables are expanded. */
  readonly entry: Entry
  /** The schema in an object. */
  readonly object: z.ZodObject
  /** `folder` is the base of relative paths. */
  toConfig(entry: z.infer<Entry>, folder: string): Config
}
