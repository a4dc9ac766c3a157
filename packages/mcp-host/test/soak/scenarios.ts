import { fixturePath } from '@mcp-host/mcp-testkit'

import type { MCPHost, StdioServerConfig } from '../../src/index.ts'

/** One lifetime of a server that misbehaves. */
export interface Scenario {
  readonly fixture: string
  readonly config?: Partial<StdioServerConfig>
  /** Uses the host, which has the server by the name `nasty`. */
  readonly use?: (host: MCPHost) => Promise<unknown>
  /** The error that start or use must end with; undefined: both must succeed. */
  readonly error?: RegExp
}

const call =
  (tool: string, timeoutMs = 30_000) =>
  (host: MCPHost): Promise<unknown> =>
    host.callTool({ server: 'nasty', tool }, {}, { timeoutMs })

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'is never ready': {
    fixture: 'silent',
    config: { startTimeoutMs: 300 },
    error: /^ServerStartupError:/,
  },
  'exits at once': { fixture: 'nasty/quitter', error: /^ServerStartupError:/ },
  'ignores SIGTERM, as does its child': { fixture: 'stubborn' },
  'starts processes that leave its group': { fixture: 'nasty/strays' },
  'floods stderr': { fixture: 'nasty/loud' },
  'writes garbage between messages': { fixture: 'noisy', use: call('speak') },
  'answers as it should': {
    fixture: 'echo',
    use: (host) => host.callTool('nasty.echo', { text: 'hello' }),
  },
  'never answers': { fixture: 'echo', use: call('never', 100), error: /^TimeoutError:/ },
  'exits during a call': { fixture: 'echo', use: call('crash'), error: /^ServerUnavailableError:/ },
  'exits during a call and is restarted': {
    fixture: 'echo',
    config: { restart: { policy: 'always' } },
    use: call('crash'),
    error: /^ServerUnavailableError:/,
  },
  'sends a line that never ends': {
    fixture: 'flood',
    use: call('flood'),
    error: /^ServerUnavailableError:/,
  },
  'closes its output and keeps running': {
    fixture: 'mute',
    use: call('close'),
    error: /^ServerUnavailableError:/,
  },
  'burns CPU': { fixture: 'nasty/burn', config: { limits: { cpuPercent: 50 } } },
  'takes memory': {
    fixture: 'nasty/hoard',
    config: { limits: { memoryBytes: 150_000_000 } },
    use: untilUnavailable,
    error: /^Server(Startup|Unavailable)Error: .*more than its limit of 150 MB/,
  },
}

/** The path of a fixture's program. */
export function fixtureFile(name: string): string {
  return fixturePath(name)
}

async function untilUnavailable(host: MCPHost): Promise<void> {
  for await (const { error } of host.serverChanges({ signal: AbortSignal.timeout(30_000) })) {
    if (error !== undefined) throw error
  }
}
