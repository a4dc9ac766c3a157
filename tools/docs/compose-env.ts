import { gatewaySettings } from '@mcp-host/gateway/config'
import { supervisorSettings } from '@mcp-host/mcp-supervisor/config'
import { orchestratorSettings } from '@mcp-host/orchestrator/config'
import { baseSettings } from '@mcp-host/service'

const HEAD = `# Made from the code by \`npm run generate\`; do not edit. Settings that this service takes from \`.env\`.
`

const SETTINGS = {
  gateway: gatewaySettings,
  orchestrator: orchestratorSettings,
  'mcp-supervisor': supervisorSettings,
}

/** Settings that the image and the compose file decide about. */
const OF_THE_CONTAINER: readonly string[] = [
  'PORT',
  'HOST',
  'WEB_FOLDER',
  'OPERATOR_KEY',
  'MCP_JSON_PATH',
]

/** Variables with which servers fetch their programs. */
const FOR_FETCHING: readonly string[] = ['NODE_EXTRA_CA_CERTS', 'npm_config_registry']

/** The settings of a service in the compose file, so that it does not get the secrets of others. */
export function composeEnv(service: keyof typeof SETTINGS): string {
  const { httpProxy, httpsProxy, noProxy, logLevel, drainLimitMs } = baseSettings
  const names = [
    httpProxy,
    httpsProxy,
    noProxy,
    logLevel,
    drainLimitMs,
    ...Object.values(SETTINGS[service]),
  ]
    .flatMap(({ env, aliases = [] }) => [env, ...aliases])
    .filter((name) => !OF_THE_CONTAINER.includes(name))
  const more = service === 'mcp-supervisor' ? FOR_FETCHING : []
  return `${HEAD}${[...names, ...more].join('\n')}\n`
}
