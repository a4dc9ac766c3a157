import * as z from 'zod'

import type { BuiltInServerConfig } from '@mcp-host/upstream'
import {
  address,
  choice,
  explained,
  fields as settingsOf,
  filledText,
  optional,
} from '../server-fields.ts'
import { commonFields, commonObjectFields, toCommon, typeField } from './common-fields.ts'
import type { EntryKind } from './entry-kind.ts'

const origin = address(['https', 'http']).refine((value) => new URL(value).pathname === '/', {
  error: 'must be an origin, without a path',
})
const builtInField = explained(
  choice('files', 'llm', 'web'),
  'A server that the host has itself: "files" has the files below its "roots", "llm" the models of the host, "web" pages of the web.',
  'llm',
)
const fields = {
  builtIn: builtInField,
  writable: optional(
    z.boolean('must be true or false'),
    'Whether "files" may be changed below the "roots". Default: false.',
    true,
  ),
  allowedOrigins: optional(
    z.array(origin, 'must be a list'),
    'Origins that "web" reads although they may have an internal address, without TLS if they say so.',
    ['http://wiki.internal:8080'],
  ),
  search: optional(
    settingsOf({
      provider: choice('brave', 'tavily', 'searxng'),
      key: filledText.exactOptional(),
      url: address(['https', 'http']).exactOptional(),
    }),
    'Who searches for "web"; "brave" and "tavily" need a "key", best in a variable, and "searxng" the "url" of one of yours.',
    { provider: 'brave', key: '${env:BRAVE_KEY}' },
  ),
}
const Own = z.object(fields)
const Entry = z
  .strictObject({ type: typeField('built-in'), ...fields, ...commonFields })
  .superRefine(isComplete)
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
    .superRefine(isComplete),
  toConfig: (entry, { folder }) => ({
    type: 'built-in',
    ...Own.parse(entry),
    ...toCommon(entry, folder),
  }),
}

function isComplete(
  { builtIn: name, roots = [], search }: Pick<BuiltInServerConfig, 'builtIn' | 'roots' | 'search'>,
  context: z.RefinementCtx,
): void {
  if (name === 'files' && roots.length === 0) {
    const message = 'must have at least one folder for "builtIn": "files"'
    context.addIssue({ code: 'custom', path: ['roots'], message })
  }
  const needed = search?.provider === 'searxng' ? 'url' : 'key'
  if (search !== undefined && search[needed] === undefined) {
    const message = `must have a "${needed}" for "${search.provider}"`
    context.addIssue({ code: 'custom', path: ['search'], message })
  }
}
