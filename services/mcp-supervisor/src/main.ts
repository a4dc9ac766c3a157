import { runService } from '@mcp-host/service'
import { supervisorSettings } from './config.ts'
import { createSupervisor } from './supervisor.ts'

const { env } = process
await runService({
  name: 'mcp-supervisor',
  settings: supervisorSettings,
  env,
  create: (deps, config) => createSupervisor(deps, config, env),
})
