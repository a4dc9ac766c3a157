import * as z from 'zod'

import type { InProcessServerConfig } from '@mcp-host/upstream'
import { commonFields, commonObjectFields, toCommon } from './common-fields.ts'
import type { EntryKind } from './entry-kind.ts'

const serve = z
  .custom<InProcessServerConfig['serve']>(
    (value) => typeof value === 'function',
    'must be a function, which only the code of an application can give',
  )
  .meta({ remedy: 'Write "serve": (transport) => server.connect(transport).' })
const type = z.literal('in-process')
const Entry = z.strictObject({ type, serve, ...commonFields })

/** A server in the process of the application that gives the configuration as an object. */
export const inProcess: EntryKind<InProcessServerConfig, typeof Entry> = {
  names: ['in-process'],
  isCode: true,
  remedy: 'give the server a function "serve"',
  entry: Entry,
  object: z.strictObject({
    type,
    serve,
    ...commonObjectFields,
  } satisfies Record<keyof InProcessServerConfig, z.ZodType>),
  toConfig: (entry, { folder }) => ({
    type: entry.type,
    serve: entry.serve,
    ...toCommon(entry, folder),
  }),
}
