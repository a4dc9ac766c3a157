import * as z from 'zod'

import { address, fields, headers, optional, positive, texts, variables } from '../server-fields.ts'

/** Limit for the number of instances. A larger number is likely a typing error. */
const MAX_INSTANCES = 100
const FORMS = `must be a whole number from 1 to ${MAX_INSTANCES}, or a list of instances`

const weight = positive.exactOptional()

const list = <Shape extends z.ZodRawShape>(own: Shape) =>
  z
    .array(fields({ weight, ...own }), 'must be a list of instances')
    .min(1, 'must not be empty')
    .max(MAX_INSTANCES, `must have at most ${MAX_INSTANCES}`)

/** Valid in a file and in an object. */
export const stdioInstances = optional(
  z.union(
    [
      z.int(FORMS).min(1, FORMS).max(MAX_INSTANCES, FORMS),
      list({ args: texts.exactOptional(), env: variables.exactOptional() }),
    ],
    FORMS,
  ),
  'So many processes of the server share its requests; or a list, with what differs and a "weight" each.',
  [{ args: ['server.js', '--big'], weight: 2 }, { env: { PORT: '8081' } }],
)

/** Valid in a file and in an object; `schemes` are those of the server. */
export const remoteInstances = (schemes: readonly [string, string]) =>
  optional(
    list({ url: address(schemes).exactOptional(), headers: headers.exactOptional() }),
    'Share the requests of the server: what differs from it, and a "weight" each.',
    [
      { url: `${schemes[1]}://a.example.com/mcp`, weight: 2 },
      { url: `${schemes[1]}://b.example.com/mcp` },
    ],
  )
