import { gatewaySettings } from '@mcp-host/gateway/config'
import type { WorkerConfig } from '@mcp-host/llm-worker/config'
import { workerSettings } from '@mcp-host/llm-worker/config'
import { readLlmSettings } from '@mcp-host/llm-worker/settings'
import { supervisorSettings } from '@mcp-host/mcp-supervisor/config'
import { orchestratorSettings } from '@mcp-host/orchestrator/config'
import type { Settings } from '@mcp-host/service'
import { baseSettings, ConfigError, loadConfig, setting, values } from '@mcp-host/service'
import type { Env } from './read-env.ts'

/** What the starter itself can be told. */
export const starterSettings = {
  dataDir: setting({
    env: 'DATA_DIR',
    schema: values.text,
    default: '.data',
    describe: 'Folder for all that `npm start` keeps: the sessions, logs and what runs.',
  }),
  envFile: setting({
    env: 'ENV_FILE',
    schema: values.text,
    default: '.env',
    describe: 'File with further settings; only read from the environment.',
  }),
  natsServerBin: setting({
    env: 'NATS_SERVER_BIN',
    schema: values.text.optional(),
    describe: 'The nats-server program to run, instead of one that is found or fetched.',
  }),
  cache: setting({
    env: 'MCP_HOST_CACHE',
    schema: values.text.optional(),
    describe:
      "Folder for downloads (Node, pnpm, nats-server) and for code that Node has compiled, unless NODE_COMPILE_CACHE names one. Default: the user's cache folder.",
  }),
}

/** Every process that has settings, in the order they are documented. */
export const ALL_SETTINGS: readonly {
  readonly name: string
  readonly settings: Settings
  /** Throws `ConfigError` for what is wrong between them. */
  readonly check?: (config: never, env: Env) => void
}[] = [
  { name: 'starter', settings: starterSettings },
  { name: 'every service', settings: baseSettings },
  { name: 'gateway', settings: gatewaySettings },
  { name: 'orchestrator', settings: orchestratorSettings },
  { name: 'mcp-supervisor', settings: supervisorSettings },
  { name: 'llm-worker', settings: workerSettings, check: checkModels },
]

function checkModels(config: WorkerConfig, env: Env): void {
  readLlmSettings(config, env)
}

/** What is wrong with the settings of all processes together. */
export function settingProblems(env: Env): string[] {
  const problems = ALL_SETTINGS.flatMap(({ settings, check }) => {
    try {
      const config = loadConfig(settings, env)
      // Each is checked with its own settings only.
      check?.(config as never, env)
      return []
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return error.problems
    }
  })
  // Some settings are those of several services.
  return [...new Set(problems)]
}
