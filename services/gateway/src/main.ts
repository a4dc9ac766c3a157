import { runService } from '@mcp-host/service'
import { gatewaySettings } from './config.ts'
import { createGateway } from './gateway.ts'

await runService({
  name: 'gateway',
  settings: gatewaySettings,
  env: process.env,
  create: createGateway,
})
