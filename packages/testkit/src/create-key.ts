import { apiKeys, newApiKey } from '@mcp-host/auth'
import type { Bus } from '@mcp-host/bus'
import { PrincipalId, SCOPES } from '@mcp-host/contracts'

/** Creates an API key of a host with `AUTH=keys`; returns the header that carries it. */
export async function createKey(
  bus: Pick<Bus, 'bucket'>,
  principal: string,
  roles: readonly string[] = ['user'],
): Promise<{ readonly authorization: string }> {
  const about = { name: principal, principal: PrincipalId.parse(principal), roles: [...roles] }
  const made = newApiKey({ ...about, scopes: [...SCOPES], createdBy: 'local' }, Date.now())
  await (await bus.bucket(apiKeys)).put(made.id, made.record, { revision: 0 })
  return { authorization: `Bearer ${made.key}` }
}
