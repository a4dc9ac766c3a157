// The commands of the documents, run in order beside a running host.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { eventually, runProgram, serverStates, testFolder } from '@mcp-host/testkit'
import { freePort } from '@mcp-host/tools/host'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DocumentedCommand } from './documented-commands.ts'
import { blocksOf, commandsOf } from './documented-commands.ts'

const root = join(import.meta.dirname, '..')
const guide = 'docs/guides/your-own-tool.md'

/** Commands that cannot run in this test. */
const skipped: readonly (readonly [RegExp, string])[] = [
  [/^npm start/, 'starts the host that the other commands use'],
  [/^npm test/, 'runs this test'],
  [
    /^npm run (?!.*--help)(dev|fmt|generate|fuzz|conformance|compat|coverage|test:long)/,
    'belongs to development',
  ],
  [/^npx /, 'fetches a program from the registry'],
  [
    /^(docker|deploy\/compose\/roll\.sh|for service|kind|kubectl|nats) /,
    'needs a container engine or a cluster',
  ],
  [/deploy\/k8s\/secrets/, 'has credentials in the repository'],
  [/^npm run policy -- accept/, 'needs a tool that has changed'],
  [/\/events /, 'follows a stream that does not end'],
  [/\$SESSION/, 'needs the ids of a session of the reader'],
]

const cleanup = new AsyncDisposableStack()
const smallestPicture =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

/** A writable copy of the repository. */
let clone: string
let url: string
let env: Record<string, string>

beforeAll(async () => {
  clone = cleanup.use(await testFolder()).path
  await makeClone()
  const port = String(await freePort())
  url = `http://127.0.0.1:${port}`
  env = {
    PORT: port,
    DATA_DIR: join(clone, '.data'),
    MCP_JSON_PATH: join(clone, 'mcp.json'),
    LLM_PROVIDER: 'demo',
    DEMO_TOKENS_PER_SECOND: '0',
    ENV_FILE: 'none',
    // What docs/guides/audit.md says to set.
    AUDIT: 'async',
  }
  const host = cleanup.use(await runProgram(['start'], env))
  await host.says('Ctrl-C stops everything')
})
afterAll(() => cleanup.disposeAsync())

async function makeClone(): Promise<void> {
  const own = new Set(['.git', '.data', '.env', 'mcp.json'])
  for (const name of await readdir(root)) {
    if (!own.has(name)) await symlink(join(root, name), join(clone, name))
  }
  await cp(join(root, 'mcp.json'), join(clone, 'mcp.json'))
  await writeFile(join(clone, 'cat.png'), Buffer.from(smallestPicture, 'base64'))
}

/** Runs the commands of a document in one shell. Resolves with the output of each. */
async function runAll(commands: readonly DocumentedCommand[]): Promise<string[]> {
  const script = [
    'set -eo pipefail',
    // curl must fail for an error status.
    'curl() { command curl --fail-with-body --max-time 20 "$@"; }',
    ...commands.map((command) => `printf '\\036'\n${atHost(command.text)}`),
  ]
  const shell = spawn('bash', ['-c', script.join('\n')], {
    cwd: clone,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(shell, 'close')
  const [output, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)])
  await ended
  const outputs = output.split('\u001E').slice(1)
  if (shell.exitCode !== 0) {
    throw new Error(`${commands[outputs.length - 1]?.text} failed:\n${outputs.at(-1)}\n${errors}`)
  }
  return outputs
}

const atHost = (command: string): string => command.replaceAll('http://127.0.0.1:3000', url)

/** Output without values that differ between runs. */
function settled(output: string): string {
  return output
    .replaceAll(clone, '/home/me/mcp-host')
    .replaceAll(/\d+/g, '0')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Runs commands of a document and compares their output with the documented one. */
async function check(commands: readonly DocumentedCommand[]): Promise<void> {
  const outputs = await runAll(commands)
  for (const [index, { text: command, expected }] of commands.entries()) {
    const output = settled(outputs[index] ?? '')
    const pieces = expected.flatMap((line) => line.split('…'))
    const missing = pieces.filter((piece) => !output.includes(settled(piece)))
    expect({ command, output, missing }).toEqual({ command, output, missing: [] })
  }
}

function runnableOf(markdown: string): DocumentedCommand[] {
  return commandsOf(markdown).filter(({ text: command }) =>
    skipped.every(([pattern]) => !pattern.test(command)),
  )
}

test('the commands of the guide to an own tool work as documented', async () => {
  const markdown = await readFile(join(root, guide), 'utf8')
  const [copy, ...commands] = runnableOf(markdown)
  const config = blocksOf(markdown).find(({ language }) => language === 'json')
  const entry = config?.text.split('\n').find((line) => line.includes('"my-server"'))
  if (copy === undefined || entry === undefined) throw new Error('the guide has lost its steps')
  await runAll([copy])
  const mcpJson = join(clone, 'mcp.json')
  const before = await readFile(mcpJson, 'utf8')
  await writeFile(mcpJson, before.replace('"servers": {', `"servers": {\n${entry},`))
  await eventually(
    async () =>
      (await serverStates(url)).some(
        ({ server, state }) => server === 'my-server' && state === 'ready',
      ),
    { what: 'the server of the guide' },
  )
  await check(commands)
})

const others = globSync(['*.md', 'docs/*.md', 'docs/{guides,reference}/*.md'], {
  cwd: root,
}).filter((path) => path !== guide)

test.each(
  others
    .map((path) => [path, runnableOf(readFileSync(join(root, path), 'utf8'))] as const)
    .filter(([, commands]) => commands.length > 0),
)('the commands of %s work as documented', (_, commands) => check(commands))

test('the example of the client package compiles, and prints the answer of a host', async () => {
  const markdown = await readFile(join(root, 'packages/client/README.md'), 'utf8')
  const example = blocksOf(markdown).find(({ language }) => language === 'ts')
  await writeFile(join(clone, 'client-example.ts'), atHost(example?.text ?? ''))
  const config = { extends: join(root, 'tsconfig.json'), files: ['client-example.ts'] }
  await writeFile(join(clone, 'client-example.json'), JSON.stringify({ ...config, include: [] }))
  const [, output = ''] = await runAll([
    { text: 'npx --no-install tsc --project client-example.json', expected: [] },
    // The states go to the second output.
    { text: `${process.execPath} client-example.ts 2>&1`, expected: [] },
  ])
  expect(output).toMatch(/^\s*connected\n/)
  expect(output).toContain('I am the built-in demo model')
})
