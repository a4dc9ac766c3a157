import { gatewaySettings } from '@mcp-host/gateway/config'
import { orchestratorSettings } from '@mcp-host/orchestrator/config'
import { baseSettings } from '@mcp-host/service'

const HEAD = `# Made from the code by \`npm run generate\`; do not edit. Settings that this service takes from \`.env\`.
`

/** Settings that the image and the compose file decide about. */
const OF_THE_CONTAINER: readonly string[] = ['PORT', 'HOST', 'WEB_FOLDER', 'OPERATOR_KEY']

/** The settings of a service in the compose file, so that it does not get the secrets of others. */
export function composeEnv(service: 'gateway' | 'orchestrator'): string {
  const own = service === 'gateway' ? gatewaySettings : orchestratorSettings
  const { logLevel, drainLimitMs } = baseSettings
  const names = [logLevel, drainLimitMs, ...Object.values(own)]
    .flatMap(({ env, aliases = [] }) => [env, ...aliases])
    .filter((name) => !OF_THE_CONTAINER.includes(name))
  return `${HEAD}${names.join('\n')}\n`
}
