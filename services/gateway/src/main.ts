import { runService } from '@mcp-host/service'
import { checkGatewaySettings, gatewaySettings } from './config.ts'
import { createGateway } from './gateway.ts'

await runService({
  name: 'gateway',
  settings: gatewaySettings,
  check: checkGatewaySettings,
  env: process.env,
  create: createGateway,
})
