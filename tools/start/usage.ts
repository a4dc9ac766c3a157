import { authSettings, gatewayLimitSettings, gatewaySettings } from '@mcp-host/gateway/config'
import { workerSettings } from '@mcp-host/llm-worker/config'
import { supervisorSettings } from '@mcp-host/mcp-supervisor/config'
import { orchestratorSettings } from '@mcp-host/orchestrator/config'
import type { Setting, Settings } from '@mcp-host/service'
import { approvalSettings, auditSettings, baseSettings, policySettings } from '@mcp-host/service'
import { ALL_SETTINGS, starterSettings } from '../host/settings.ts'

const { dataDir } = starterSettings
const { port, host, publicUrl, allowedOrigins } = gatewaySettings
const isStorage = ({ env }: Setting): boolean => /^(NATS|STORE)_/.test(env)

/** Settings by topic. One that is in several groups is shown in the first. */
const GROUPS: Readonly<Record<string, readonly Settings[]>> = {
  Models: [workerSettings],
  Addresses: [{ port, host, publicUrl, allowedOrigins }],
  Login: [authSettings],
  Limits: [gatewayLimitSettings],
  'Permissions and audit': [approvalSettings, policySettings, auditSettings],
  'MCP servers': [supervisorSettings],
  Chats: [orchestratorSettings],
  Storage: [
    { dataDir },
    Object.fromEntries(Object.entries(baseSettings).filter(([, each]) => isStorage(each))),
  ],
  Advanced: ALL_SETTINGS.map(({ settings }) => settings),
}

/** The usage of `npm start`, with every setting. */
export function startUsage(): string {
  const shown = new Set<string>()
  const groups = Object.entries(GROUPS).map(([topic, all]) => {
    const own = all.flatMap((settings) => Object.values(settings))
    const lines = own.filter(({ env }) => !shown.has(env) && shown.add(env)).map(line)
    return `\n${topic}\n${lines.join('')}`
  })
  return `Usage: npm start\n       npm run dev    the same, and restarts services whose sources change\n\nStarts nats-server and the four services. Settings, by environment or in .env:\n${groups.join('')}`
}

const WIDTH =
  2 +
  Math.max(
    ...ALL_SETTINGS.flatMap(({ settings }) => Object.values(settings)).map(({ env }) => env.length),
  )

function line({ env, default: fallback = '', describe }: Setting): string {
  return `  ${env.padEnd(WIDTH)}${describe}${fallback === '' ? '' : ` [${fallback}]`}\n`
}
