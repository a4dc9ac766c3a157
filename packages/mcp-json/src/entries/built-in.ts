import * as z from 'zod'

import type { BuiltInServerConfig } from '@mcp-host/upstream'
import { choice, explained } from '../server-fields.ts'
import { commonFields, commonObjectFields, toCommon, typeField } from './common-fields.ts'
import type { EntryKind } from './entry-kind.ts'

const builtInField = explained(
  choice('llm'),
  'A server that the host has itself: "llm" asks the models of the host.',
  'llm',
)
const fields = { builtIn: builtInField }
const Entry = z.strictObject({ type: typeField('built-in'), ...fields, ...commonFields }).meta({
  id: 'BuiltInServer',
})

/** A server that the host has itself. */
export const builtIn: EntryKind<BuiltInServerConfig, typeof Entry> = {
  names: ['built-in'],
  remedy: 'write "builtIn": "llm"',
  entry: Entry,
  object: z.strictObject({
    type: z.literal('built-in'),
    ...fields,
    ...commonObjectFields,
  } satisfies Record<keyof BuiltInServerConfig, z.ZodType>),
  toConfig: (entry, { folder }) => ({
    type: 'built-in',
    builtIn: entry.builtIn,
    ...toCommon(entry, folder),
  }),
}
