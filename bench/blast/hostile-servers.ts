import type { HostileKind } from '@mcp-host/testkit'
import { callHostileServer, HOSTILE_KINDS, hostileServer } from '@mcp-host/testkit'
import type { Blast, BlastTarget } from './blast.ts'

const NAME = 'hostile'

/** A hostile MCP server of each kind, whose tool is called twice a second. */
export const hostileServers: Readonly<Record<string, Blast>> = Object.fromEntries(
  HOSTILE_KINDS.map((kind) => [
    kind,
    {
      victim: 'mcp-supervisor',
      strike: (target, signal) => strike(kind, target, signal),
    } satisfies Blast,
  ]),
)

async function strike(
  kind: HostileKind,
  { url, guardian, addServer }: BlastTarget,
  signal: AbortSignal,
): Promise<string> {
  await addServer(NAME, await hostileServer(guardian, kind))
  return callHostileServer({ url, name: NAME, kind }, signal)
}
