import { gatewaySettings } from '@mcp-host/gateway/config'
import type { WorkerConfig } from '@mcp-host/llm-worker/config'
import { workerSettings } from '@mcp-host/llm-worker/config'
import { readLlmSettings } from '@mcp-host/llm-worker/settings'
import { supervisorSettings } from '@mcp-host/mcp-supervisor/config'
import { orchestratorSettings } from '@mcp-host/orchestrator/config'
import type { Config, Settings } from '@mcp-host/service'
import { baseSettings, ConfigError, loadConfig, setting, values } from '@mcp-host/service'
import { busSettings } from './bus-settings.ts'
import type { Env } from './read-env.ts'
import { SERVICES } from './service-process.ts'

/** The settings of `npm start` itself. */
export const starterSettings = {
  ...busSettings,
  dataDir: setting({
    env: 'DATA_DIR',
    schema: values.text,
    default: '.data',
    describe:
      'Folder where `npm start` keeps the sessions, the logs and the list of running processes.',
  }),
  envFile: setting({
    env: 'ENV_FILE',
    schema: values.text,
    default: '.env',
    describe: 'File with further settings. This setting itself must be an environment variable.',
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

/** Every process with settings, in the order of the documentation. */
export const ALL_SETTINGS: readonly {
  readonly name: string
  readonly settings: Settings
  /** Throws `ConfigError` for settings that contradict each other. */
  readonly check?: (config: never, env: Env) => void
}[] = [
  { name: 'starter', settings: starterSettings },
  { name: 'every service', settings: baseSettings, check: checkPorts },
  { name: 'gateway', settings: gatewaySettings },
  { name: 'orchestrator', settings: orchestratorSettings },
  { name: 'mcp-supervisor', settings: supervisorSettings },
  { name: 'llm-worker', settings: workerSettings, check: checkModels },
]

const MAX_PORT = 65_535

/** `npm start` gives the services the port of OPS_PORT and the next ones. */
function checkPorts({ opsPort = 0 }: Config<typeof baseSettings>, env: Env): void {
  const { port } = loadConfig({ port: gatewaySettings.port }, env)
  const last = opsPort + SERVICES.length - 1
  if (opsPort === 0 || (last <= MAX_PORT && (port < opsPort || port > last))) return
  const message = `OPS_PORT=${opsPort}: the services take ${opsPort} to ${last}, of which none may be PORT (${port}) or above ${MAX_PORT}`
  throw new ConfigError([message])
}

/** What providers lack that were configured in part. Empty when the settings have faults. */
export function incompleteProviders(env: Env): string[] {
  try {
    const { incomplete } = readLlmSettings(loadConfig(workerSettings, env), env)
    return Array.from(incomplete, ([name, lack]) => `the provider ${name} ${lack}`)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return []
  }
}

function checkModels(config: WorkerConfig, env: Env): void {
  readLlmSettings(config, env)
}

/** The faults in the settings of all processes, each once. */
export function settingProblems(env: Env): string[] {
  const problems = ALL_SETTINGS.flatMap(({ settings, check }) => {
    try {
      const config = loadConfig(settings, env)
      // The check of a row gets the settings of the same row.
      check?.(config as never, env)
      return []
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return error.problems
    }
  })
  // A setting that several services share has the same fault in each.
  return [...new Set(problems)]
}
