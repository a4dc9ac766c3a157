import { runService } from '@mcp-host/service'
import { supervisorSettings } from './config.ts'
import { createSupervisor } from './supervisor.ts'

await runService({
  name: 'mcp-supervisor',
  settings: supervisorSettings,
  env: process.env,
  create: createSupervisor,
})
