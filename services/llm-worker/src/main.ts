import { runService } from '@mcp-host/service'
import { workerSettings } from './config.ts'
import { createWorker } from './worker.ts'

await runService({
  name: 'llm-worker',
  settings: workerSettings,
  env: process.env,
  create: createWorker,
})
