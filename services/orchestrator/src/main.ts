import { runService } from '@mcp-host/service'
import { orchestratorSettings } from './config.ts'
import { createOrchestrator } from './orchestrator.ts'

await runService({
  name: 'orchestrator',
  settings: orchestratorSettings,
  env: process.env,
  create: createOrchestrator,
})
