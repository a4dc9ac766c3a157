import * as z from 'zod'

import type { BuiltInServerConfig } from '@mcp-host/upstream'
import { choice, explained, optional } from '../server-fields.ts'
import { commonFields, commonObjectFields, toCommon, typeField } from './common-fields.ts'
import type { EntryKind } from './entry-kind.ts'

const builtInField = explained(
  choice('files', 'llm'),
  'A server that the host has itself: "files" has the files below its "roots", "llm" the models of the host.',
  'llm',
)
const fields = {
  builtIn: builtInField,
  writable: optional(
    z.boolean('must be true or false'),
    'Of "files": whether files below the "roots" may be changed. Default: false.',
    true,
  ),
}
const Entry = z
  .strictObject({ type: typeField('built-in'), ...fields, ...commonFields })
  .superRefine(hasRoots)
  .meta({ id: 'BuiltInServer' })

/** A server that the host has itself. */
export const builtIn: EntryKind<BuiltInServerConfig, typeof Entry> = {
  names: ['built-in'],
  remedy: 'write "builtIn": "llm"',
  entry: Entry,
  object: z
    .strictObject({
      type: z.literal('built-in'),
      ...fields,
      ...commonObjectFields,
    } satisfies Record<keyof BuiltInServerConfig, z.ZodType>)
    .superRefine(hasRoots),
  toConfig: (entry, { folder }) => ({
    type: 'built-in',
    builtIn: entry.builtIn,
    ...(entry.writable === undefined ? {} : { writable: entry.writable }),
    ...toCommon(entry, folder),
  }),
}

function hasRoots(
  { builtIn: name, roots = [] }: Pick<BuiltInServerConfig, 'builtIn' | 'roots'>,
  context: z.RefinementCtx,
): void {
  if (name !== 'files' || roots.length > 0) return
  const message = 'must have at least one folder for "builtIn": "files"'
  context.addIssue({ code: 'custom', path: ['roots'], message })
}
