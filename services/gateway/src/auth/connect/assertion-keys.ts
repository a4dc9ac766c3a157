import type { Bus } from '@mcp-host/bus'
import type { Envelope } from '@mcp-host/contracts'
import { BusError, readLoginKeys } from '@mcp-host/contracts'
import type { FastifyInstance } from 'fastify'

/** The lifetime of the keys in caches, here and elsewhere. */
const CACHE_S = 60
/** The pause after a failure, since anybody may ask. */
const FAILURE_MS = 1_000
const LIMIT_MS = 10_000

export interface AssertionKeysDeps {
  readonly bus: Pick<Bus, 'call'>
  /** The address of this host. */
  readonly publicUrl: string | undefined
}

type Keys = readonly Readonly<Record<string, string>>[]

/** The public keys that verify assertions of this host about its users (JWKS), and the discovery document with their address. */
export function addAssertionKeys(
  app: FastifyInstance,
  { bus, publicUrl }: AssertionKeysDeps,
): void {
  let cached: { until: number; readonly keys: Promise<Keys> } | undefined
  const read = async (envelope: Envelope): Promise<Keys> => {
    const { keys } = await bus.call(readLoginKeys, {}, {}, { envelope, timeoutMs: LIMIT_MS })
    if (keys.length > 0) return keys
    throw new BusError('not-found', 'this host signs no assertions about its users')
  }
  const keysNow = (envelope: Envelope): Promise<Keys> => {
    if (cached !== undefined && cached.until > performance.now()) return cached.keys
    const next = { until: performance.now() + CACHE_S * 1_000, keys: read(envelope) }
    next.keys.catch(() => (next.until = performance.now() + FAILURE_MS))
    cached = next
    return next.keys
  }

  app.get('/users/.well-known/openid-configuration', async (_, reply) => {
    if (publicUrl === undefined) throw new BusError('not-found', 'PUBLIC_URL is not set')
    const issuer = `${publicUrl}/users`
    reply.header('cache-control', `public, max-age=${CACHE_S}`)
    return {
      issuer,
      jwks_uri: `${issuer}/jwks`,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    }
  })

  app.get('/users/jwks', async ({ envelope }, reply) => {
    const keys = await keysNow(envelope)
    reply.header('cache-control', `public, max-age=${CACHE_S}`)
    return { keys }
  })
}
