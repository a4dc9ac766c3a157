import { runService } from '@mcp-host/service'
import { checkWorkerSettings, workerSettings } from './config.ts'
import { createWorker } from './worker.ts'

await runService({
  name: 'llm-worker',
  settings: workerSettings,
  check: checkWorkerSettings,
  env: process.env,
  create: createWorker,
})
