import * as z from 'zod'

import type { RemoteServerConfig } from '@mcp-host/upstream'
import { authEntry, authObject, toAuthConfig } from '../auth/index.ts'
import {
  commonFields,
  commonObjectFields,
  toCommon,
  transportField,
  typeField,
} from './common-fields.ts'
import type { EntryContext } from './entry-kind.ts'
import { remoteInstances } from './instance-fields.ts'
import { address, explained, headers, optional } from '../server-fields.ts'

/** What a user may do to have a server with an address. */
export const REMOTE_REMEDY = 'give the server a "url"'

interface Names<Type, Transport> {
  readonly types: readonly Type[]
  readonly transports: readonly Transport[]
}

/** The schema of an entry with an address. `schemes` are without the colon. */
export function remoteEntry<const Type extends string, const Transport extends string>(
  schemes: readonly [string, string],
  { types, transports }: Names<Type, Transport>,
) {
  return z.strictObject({
    type: typeField(...types, 'remote'),
    transport: transportField(...transports),
    url: explained(
      address(schemes),
      'The address of the server, without a user name or password.',
      `${schemes[1]}://example.com/mcp`,
    ),
    instances: remoteInstances(schemes),
    headers: optional(headers, 'Sent with every HTTP request, and when a WebSocket is opened.', {
      Authorization: 'Bearer ${env:TOKEN}',
    }),
    auth: authEntry,
    ...commonFields,
  })
}

/** The schema of a configuration with an address. */
export function remoteObject(schemes: readonly [string, string]) {
  return z.strictObject({
    type: z.enum(['http', 'sse', 'websocket']),
    fallback: z.literal('sse', 'must be "sse"').exactOptional(),
    url: address(schemes),
    headers,
    instances: remoteInstances(schemes),
    auth: authObject,
    ...commonObjectFields,
  } satisfies Record<keyof RemoteServerConfig, z.ZodType>)
}

type RemoteEntry = Omit<z.infer<ReturnType<typeof remoteEntry>>, 'type' | 'transport'>

/** The configuration of an entry. */
export function toRemoteConfig(
  type: RemoteServerConfig['type'],
  entry: RemoteEntry,
  { folder }: EntryContext,
): RemoteServerConfig {
  const { url, headers: given = {}, instances, auth } = entry
  return {
    type,
    url,
    headers: given,
    ...(instances === undefined ? {} : { instances }),
    ...(auth === undefined ? {} : { auth: toAuthConfig(auth, folder) }),
    ...toCommon(entry, folder),
  }
}
