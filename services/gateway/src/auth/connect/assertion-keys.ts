import type { Bus } from '@mcp-host/bus'
import { BusError, readAssertionKeys } from '@mcp-host/contracts'
import type { FastifyInstance } from 'fastify'

/** How long the keys are kept, here and by those who read them. A new key must be here before it signs. */
const KEPT_S = 60
const LIMIT_MS = 10_000

export interface AssertionKeysDeps {
  readonly bus: Pick<Bus, 'call'>
  /** The address of this host. */
  readonly publicUrl: string | undefined
}

/**
 * The keys by which authorization servers check what this host says about its users, and the document that leads there
 * (OpenID Connect Discovery).
 */
export function addAssertionKeys(
  app: FastifyInstance,
  { bus, publicUrl }: AssertionKeysDeps,
): void {
  let kept: { readonly until: number; readonly keys: readonly object[] } | undefined

  app.get('/users/.well-known/openid-configuration', async (_, reply) => {
    if (publicUrl === undefined) throw new BusError('not-found', 'PUBLIC_URL is not set')
    const issuer = `${publicUrl}/users`
    reply.header('cache-control', `public, max-age=${KEPT_S}`)
    return {
      issuer,
      jwks_uri: `${issuer}/jwks`,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    }
  })

  app.get('/users/jwks', async ({ envelope }, reply) => {
    if (kept === undefined || kept.until < performance.now()) {
      const options = { envelope, timeoutMs: LIMIT_MS }
      const { keys } = await bus.call(readAssertionKeys, {}, {}, options)
      kept = { until: performance.now() + KEPT_S * 1_000, keys }
    }
    reply.header('cache-control', `public, max-age=${KEPT_S}`)
    return { keys: kept.keys }
  })
}
