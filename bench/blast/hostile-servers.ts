import type { HostileKind } from '@mcp-host/testkit'
import { callHostileServer, HOSTILE_KINDS, hostileServer } from '@mcp-host/testkit'
import type { Attack } from './attack.ts'

const NAME = 'hostile'

/** A hostile MCP server of each kind, whose tool is called twice a second. */
export const hostileServers: Readonly<Record<string, Attack>> = Object.fromEntries(
  HOSTILE_KINDS.map((kind) => [kind, attackBy(kind)]),
)

function attackBy(kind: HostileKind): Attack {
  return {
    victim: 'mcp-supervisor',
    async run({ url, guardian, addServer }, signal) {
      await addServer(NAME, await hostileServer(guardian, kind))
      return callHostileServer({ url, name: NAME, kind }, signal)
    },
  }
}
