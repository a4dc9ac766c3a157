import * as z from 'zod'

import type { ToolIdentity } from '../routing/name-table.ts'

/** A tool as its server describes it, fields that we do not know included. */
export const Tool = z.looseObject({
  name: z.string().min(1),
  title: z.string().optional(),
  description: z.string().optional(),
  /** A JSON Schema. */
  inputSchema: z.looseObject({}),
  /** A JSON Schema of the result's `structuredContent`. */
  outputSchema: z.looseObject({}).optional(),
  annotations: z.looseObject({}).optional(),
  execution: z.looseObject({}).optional(),
})
export type Tool = Readonly<z.infer<typeof Tool>>

/** A tool of a host: `name` is `{server}.{tool}`, `tool` is the name that its server gave it. */
export type HostTool = Tool & ToolIdentity

/** Whether its server says that calling it twice does no more than calling it once. */
export function isSafeToRepeat({ annotations }: Tool): boolean {
  return annotations?.['readOnlyHint'] === true || annotations?.['idempotentHint'] === true
}

/** Whether it cannot be called as tools usually are (an experiment of revision 2025-11-25). */
export function mustBeTask({ execution }: Tool): boolean {
  return execution?.['taskSupport'] === 'required'
}
