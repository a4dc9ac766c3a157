// The way in on a bare machine: plain JavaScript that an older Node runs too. It provides what is missing, then hands
// over to TypeScript under the right Node.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { compileCacheFolder } from './provision/cache.mjs'
import { closeInherited } from './provision/close-inherited.mjs'
import { launch } from './provision/launch.mjs'
import { provideNatsServer } from './provision/nats-server.mjs'
import { providePrograms } from './provision/programs.mjs'
import { ProvisionError } from './provision/provision-error.mjs'
import { endCommandsOn, wasInterrupted } from './provision/run-command.mjs'
import { provideToolchain } from './provision/toolchain.mjs'
import { isAtLeast } from './provision/version.mjs'
import { isFromNpm, watchParent } from './provision/watch-parent.mjs'
import { provideDependencies } from './provision/workspace.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const launcherMinimum = '20'

/** The starter waits most of the time, and needs no room for short-lived data. */
const SMALL_HEAP = ['--max-semi-space-size=1']
/** By default glibc keeps what the start has freed, some 8 MB. */
const SMALL_MALLOC = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '65536' }

/** The published library and its parts. */
const LIBRARY = ['async', 'json', 'mcp', 'mcp-host', 'mcp-json', 'process', 'upstream'].map(
  (name) => `packages/${name}/`,
)

const commands = {
  start: {
    summary: 'start the host: nats-server and the four services',
    target: ['start/main.js'],
    isBuilt: true,
    needsNatsServer: () => !hasSetting('NATS_URL'),
  },
  dev: {
    summary: 'start the host, and restart services whose sources change',
    target: ['tools/start.ts', '--watch'],
    needsNatsServer: () => !hasSetting('NATS_URL'),
  },
  chat: {
    summary: 'talk to a running host; with a question, print the answer and leave',
    target: ['tools/chat.ts'],
  },
  servers: {
    summary: 'list the MCP servers of a running host, restart one, reload mcp.json',
    target: ['tools/servers.ts'],
  },
  login: {
    summary: 'log in at an MCP server from a terminal',
    target: ['tools/login/login.ts'],
  },
  keys: {
    summary: 'create, list or revoke API keys',
    target: ['tools/keys.ts'],
  },
  accounts: {
    summary: 'create, list, invite or disable the accounts of a host with AUTH=local',
    target: ['tools/accounts.ts'],
  },
  policy: {
    summary: 'check policy.json, explain which rule decides about a call',
    target: ['tools/policy.ts'],
  },
  maintenance: {
    summary: 'announce maintenance: new messages are refused, answers go on; take it back',
    target: ['tools/maintenance.ts'],
  },
  audit: {
    summary: 'verify, export or search the audit log',
    target: ['tools/audit.ts'],
  },
  'bus-accounts': {
    summary: 'write an account at nats-server for each service; create the streams',
    target: ['tools/bus-accounts.ts'],
  },
  doctor: {
    summary: 'check the stored sessions; back up and repair damaged data',
    target: ['tools/doctor.ts'],
    needsNatsServer: () => !hasSetting('NATS_URL'),
  },
  stdio: {
    summary: 'be an MCP server on standard input and output: all servers of a running host',
    target: ['tools/stdio.ts'],
  },
  build: {
    summary: 'write the services and the web UI to dist/, as plain JavaScript',
    target: ['tools/build.ts'],
  },
  bench: {
    summary: 'measure the host, e.g. `bench chat`',
    target: ['bench/main.ts'],
    needsNatsServer: () => true,
  },
  chaos: {
    summary: 'kill, stop and freeze processes while sessions chat, and check that nothing shows',
    target: ['chaos/main.ts'],
    needsNatsServer: () => true,
  },
  conformance: {
    summary: 'run the MCP conformance suite against the gateways, and count what passes',
    target: ['conformance/main.ts'],
    needsNatsServer: () => true,
  },
  compat: {
    summary: 'compare real MCP servers from npm, directly and through the gateway',
    target: ['compat/main.ts'],
    needsNatsServer: () => true,
  },
  fuzz: {
    summary:
      'feed parsers and servers with hostile input; `fuzz --minutes 30`, `fuzz --seed 7 frames`',
    target: ['tools/fuzz.ts'],
    needsNatsServer: () => true,
  },
  test: {
    summary: 'run all checks and tests; with arguments, only the tests that match',
    target: ['tools/check.ts'],
    needsNatsServer: () => true,
  },
  'test:long': {
    summary: 'run the tests that take too long for `test`; `test:long --list` names them',
    target: ['tools/test-long.ts'],
    needsNatsServer: () => true,
  },
  coverage: {
    summary: 'measure how much of the library its tests run: 80 % of the lines at least',
    target: ['tools/check.ts', '--coverage.enabled', '--project=unit', ...LIBRARY],
    needsNatsServer: () => true,
  },
  generate: {
    summary: 'write the documents that are made from the code',
    target: ['tools/generate.ts'],
  },
  fmt: {
    summary: 'format all files',
    target: ['node_modules/oxfmt/bin/oxfmt', '.'],
  },
}

async function main([name, ...args]) {
  if (!isAtLeast(process.versions.node, launcherMinimum)) {
    return fail(`Node ${launcherMinimum} or later is needed; this is ${process.versions.node}.`)
  }
  if (name === '--help' || name === '-h') {
    process.stdout.write(usage())
    return 0
  }
  const command = Object.hasOwn(commands, name ?? '') ? commands[name] : undefined
  if (!command) return fail(`${name ? `There is no command "${name}".\n` : ''}${usage()}`, 2)

  if (isFromNpm) watchParent(() => process.kill(process.pid, 'SIGTERM'))
  const environment = await provide(command)
  // The handler of the signal ends this process.
  if (wasInterrupted()) return new Promise(() => {})
  const [target, ...targetArgs] = command.target
  const program = join(environment.folder, target)
  const flags = command.isBuilt ? SMALL_HEAP : []
  return launch(environment.node, [...flags, program, ...targetArgs, ...args], environment.env)
}

/** Everything the command needs, fetched or installed where it is missing. */
async function provide(command) {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, endCommandsOn)
  try {
    const toolchain = await provideToolchain()
    await provideDependencies(root, toolchain)
    const programs = command.isBuilt ? await providePrograms(root, toolchain) : undefined
    const natsServer = command.needsNatsServer?.() ? await provideNatsServer() : undefined
    return {
      node: toolchain.node,
      folder: programs ?? root,
      env: {
        ...process.env,
        PATH: toolchain.path,
        NODE_COMPILE_CACHE: compileCacheFolder(),
        ...(programs && { ...SMALL_MALLOC, MCP_HOST_ROOT: root, MCP_HOST_DIST: programs }),
        ...(natsServer && { NATS_SERVER_BIN: natsServer }),
      },
    }
  } finally {
    // In this turn of the event loop a signal is handled that came meanwhile; the program would never hear of it.
    await setImmediate()
    for (const signal of signals) process.off(signal, endCommandsOn)
  }
}

/** Whether a setting is made in the environment or in the `.env` file. */
function hasSetting(name) {
  if (process.env[name] !== undefined) return process.env[name] !== ''
  const file = resolve(root, process.env.ENV_FILE || '.env')
  const setting = new RegExp(`^[ \\t]*(export[ \\t]+)?${name}[ \\t]*=[ \\t]*[^\\s#"']`, 'm')
  return existsSync(file) && setting.test(readFileSync(file, 'utf8'))
}

function usage() {
  const lines = Object.entries(commands).map(
    ([name, { summary }]) => `  ${name.padEnd(13)}${summary}\n`,
  )
  return `Usage: node tools/run.mjs <command> [arguments]\n\n${lines.join('')}`
}

function fail(message, code = 1) {
  process.stderr.write(`${message.trimEnd()}\n`)
  return code
}

try {
  closeInherited()
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof ProvisionError)) throw error
  if (!wasInterrupted()) process.exitCode = fail(error.message)
}
