import { runService } from '@mcp-host/service'
import { checkGatewaySettings, gatewaySettings } from './config.ts'
import { createGateway } from './gateway.ts'
import { setDate } from './set-date.ts'

await runService({
  name: 'gateway',
  settings: gatewaySettings,
  check: checkGatewaySettings,
  env: process.env,
  create(deps, config) {
    setDate(deps.bus.clock)
    return createGateway(deps, config)
  },
})
