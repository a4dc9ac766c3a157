import { execFile } from 'node:child_process'
import {
  cp,
  glob,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import manifest from '../package.json' with { type: 'json' }
import { openWorkspace } from '@mcp-host/mcp-testkit'

const PACKAGE = join(import.meta.dirname, '..')
const ROOT = join(PACKAGE, '../..')
const EXAMPLE = join(import.meta.dirname, 'fixtures/readme-example.ts')
/** The oldest Node that the package supports, where `NODE_22` names it. */
const NODE = process.env['NODE_22'] ?? process.execPath
/** Ends a program that hangs; each program in this file runs for a second or two. */
const TIMEOUT_MS = 60_000
vi.setConfig({ testTimeout: 2 * TIMEOUT_MS, hookTimeout: 2 * TIMEOUT_MS })

/** Compiles only if the types of the entries resolve, and not to `any`. */
const TYPED = `
import { type CallToolOptions, MCPHost } from 'mcp-host'
import { toAiSdkTools } from 'mcp-host/ai-sdk'
import { spawnGuarded, type SpawnOptions } from 'mcp-host/process'
import { safeToolNames } from 'mcp-host/tool-names'

export const entries = { MCPHost, spawnGuarded, safeToolNames }
export const tools = toAiSdkTools(new MCPHost({ env: {} }))
// @ts-expect-error A time is a number.
export const call: CallToolOptions = { timeoutMs: 'soon' }
// @ts-expect-error A program needs a folder and an environment too.
export const program: SpawnOptions = { command: 'node' }
`

let scratch: string
let project: string
let installed: string

// Packing happens in a copy, so that the sources stay as they are and two runs do not meet.
beforeAll(async () => {
  scratch = await realpath(await mkdtemp(join(tmpdir(), 'mcp-host-package-')))
  const tarball = await pack(join(scratch, 'workspace'))
  project = join(scratch, 'project')
  installed = join(project, 'node_modules/mcp-host')
  await install(tarball)
})

afterAll(() => rm(scratch, { recursive: true, force: true }))

test.for(['example.mjs', 'example.ts'])(
  'a fresh project with the package runs the example of the README as %s',
  async (name) => {
    const workspace = await openWorkspace()
    const { command, args } = workspace.fixture('echo')
    await workspace.write('mcp.json', { servers: { echo: { command, args } } })
    await cp(EXAMPLE, join(project, name))

    const output = await run(NODE, [join(project, name)], workspace.folder)
    expect(output).toContain('echo is ready: echo, mail, old')
    expect(output).toContain("[ { type: 'text', text: 'hello' } ]")
    expect(workspace.processes()).toEqual([])
  },
)

test('slow schema checks run in a thread of the installed package', async () => {
  const workspace = await openWorkspace()
  const { command, args } = workspace.fixture('deep')
  const script = `
    const { MCPHost } = await import('mcp-host')
    const warned = []
    const logger = { trace() {}, debug() {}, info() {}, warn: (_, text) => warned.push(text), error() {} }
    const host = new MCPHost({ env: { PATH: process.env.PATH }, logger })
    await host.initialize({ servers: { it: ${JSON.stringify({ command, args })} } })
    await host.callTool('it.pattern', { a: 'aaa' })
    const refused = await host.callTool('it.pattern', { a: 'b' }).catch(({ message }) => message)
    console.log(refused, warned.filter((text) => text.includes('not checked')))
    await host.shutdown()`
  const output = await run(NODE, ['--input-type=module', '-e', script], project)
  expect(output.trim()).toBe('it.pattern: "a" must match pattern "^(a+)+$" []')
})

test('a strict TypeScript project gets the types of all entries without skipLibCheck', async () => {
  await cp(EXAMPLE, join(project, 'example.ts'))
  await writeFile(join(project, 'typed.ts'), TYPED)
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    noEmit: true,
    types: ['node'],
  }
  const files = ['example.ts', 'typed.ts']
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  await run(process.execPath, [compiler, '-p', '.'], project)
})

test('the entries load, and no other module of the package can be imported', async () => {
  const script = `
    const { MCPHost } = await import('mcp-host')
    const { spawnGuarded } = await import('mcp-host/process')
    const inner = await import(['mcp-host', 'dist', 'mcp-host', 'src', 'host.js'].join('/')).catch(({ code }) => code)
    console.log(typeof MCPHost, typeof spawnGuarded, inner)`
  const output = await run(NODE, ['--input-type=module', '-e', script], project)
  expect(output.trim()).toBe('function function ERR_PACKAGE_PATH_NOT_EXPORTED')
})

test('the packed manifest has exact versions of few dependencies, and no broker or service', async () => {
  const text = await readFile(join(installed, 'package.json'), 'utf8')
  expect(text).not.toMatch(/catalog:|workspace:/)
  const { dependencies, engines }: typeof manifest = JSON.parse(text)
  expect(engines).toEqual(manifest.engines)
  expect(Object.keys(dependencies)).toEqual(Object.keys(manifest.dependencies))
  expect(Object.keys(dependencies).filter((name) => /nats|fastify|^@mcp-host/.test(name))).toEqual(
    [],
  )
  for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+/)
})

test('no module of the package uses an API that Node 22 lacks', async () => {
  const lacking =
    /^ *(await )?using |new (Async)?DisposableStack|(RegExp\.escape|Error\.isError|Promise\.try)\(|new (URLPattern|Float16Array)/m
  const modules = await filesOf('dist/**/*.js')
  const texts = await Promise.all(modules.map((file) => readFile(join(installed, file), 'utf8')))
  expect(modules.filter((_, index) => lacking.test(texts[index] ?? ''))).toEqual([])
})

test('npm accepts the package for publishing without corrections', async () => {
  // Without a registry, npm does not check whether this version is published already.
  const nowhere = ['--registry', 'http://127.0.0.1:9', '--fetch-retries=0']
  const tarball = `${manifest.name}-${manifest.version}.tgz`
  expect(manifest).not.toHaveProperty('private')
  const { stdout, stderr } = await capture('npm', ['publish', '--dry-run', ...nowhere, tarball])
  expect(stdout).toContain(`${manifest.name}@${manifest.version}`)
  expect(stderr).not.toMatch(/npm error|auto-corrected/)
})

test('each module comes with types, and with a source map that has its source', async () => {
  const modules = await filesOf('dist/**/*.js')
  expect(modules).not.toEqual([])
  for (const module of modules) {
    const map = await readFile(join(installed, `${module}.map`), 'utf8')
    const { sourcesContent }: { sourcesContent: string[] } = JSON.parse(map)
    expect(sourcesContent).toEqual([expect.any(String)])
    await readFile(join(installed, module.replace(/js$/, 'd.ts')))
  }
})

test('the parts of the package are built in, and no module asks for one as for a package', async () => {
  expect(await filesOf('dist/async/src/index.js')).not.toEqual([])
  for (const file of await filesOf('dist/**/*.{js,d.ts}')) {
    const text = await readFile(join(installed, file), 'utf8')
    expect(text, file).not.toMatch(/['"]@mcp-host\//)
  }
})

test('the package has a licence, a README and an API reference, and no tests', async () => {
  const files = await filesOf('**/*.*')
  expect(files).toEqual(expect.arrayContaining(['API.md', 'README.md']))
  expect(await filesOf('LICENSE')).toEqual(['LICENSE'])
  expect(files.filter((file) => /\.test\.|fixture|(^|\/)test\/|tsconfig/.test(file))).toEqual([])
})

/** Packs a copy of the package and its parts in a workspace of their own. Returns the name of the tarball. */
async function pack(workspace: string): Promise<string> {
  const copy = join(workspace, 'packages/mcp-host')
  const parts = await readdir(join(PACKAGE, 'node_modules/@mcp-host'))
  for (const name of ['mcp-host', ...parts]) {
    await copyPackage(join(ROOT, 'packages', name), join(workspace, 'packages', name))
  }
  for (const file of ['pnpm-workspace.yaml', 'tsconfig.json', 'LICENSE']) {
    await cp(join(ROOT, file), join(workspace, file))
  }
  await symlink(join(ROOT, 'node_modules'), join(workspace, 'node_modules'), 'junction')
  await run('pnpm', ['pack', '--pack-destination', scratch], copy)
  return `${manifest.name}-${manifest.version}.tgz`
}

/** Copies the sources of a package. Its copy uses the other copies, and the same packages from outside. */
async function copyPackage(folder: string, copy: string): Promise<void> {
  const isOurs = (path: string): boolean => !['node_modules', 'dist'].includes(basename(path))
  await cp(folder, copy, { recursive: true, filter: isOurs })
  const modules = join(folder, 'node_modules')
  for (const name of await readdir(modules)) {
    if (name === '@mcp-host') continue
    await mkdir(join(copy, 'node_modules'), { recursive: true })
    await symlink(join(modules, name), join(copy, 'node_modules', name), 'junction')
  }
  for (const part of await readdir(join(modules, '@mcp-host')).catch(() => [])) {
    await mkdir(join(copy, 'node_modules/@mcp-host'), { recursive: true })
    await symlink(join(copy, '..', part), join(copy, 'node_modules/@mcp-host', part), 'junction')
  }
}

/**
 * Installs the package with the dependencies that its manifest declares, and no others. The dependencies
 * are links to those of the workspace, because a test must not need a registry.
 */
async function install(tarball: string): Promise<void> {
  await mkdir(installed, { recursive: true })
  const target = join('project', 'node_modules', 'mcp-host')
  await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'], scratch)
  await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module' }))

  const packed: typeof manifest = JSON.parse(
    await readFile(join(installed, 'package.json'), 'utf8'),
  )
  const links = [
    ...Object.keys(packed.dependencies).map((name) => ({ name, from: PACKAGE })),
    { name: '@types/node', from: ROOT },
  ]
  for (const { name, from } of links) {
    const link = join(project, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(await realpath(join(from, 'node_modules', name)), link, 'junction')
  }
}

/** Returns what the program printed. Throws, with all of its output, when the program fails. */
async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await capture(program, args, cwd)
  return stdout
}

async function capture(
  program: string,
  args: readonly string[],
  cwd = scratch,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  // On Windows, pnpm and npm are scripts, which only a shell can start.
  const shell = process.platform === 'win32' && ['pnpm', 'npm'].includes(program)
  try {
    return await promisify(execFile)(program, args, { cwd, shell, timeout: TIMEOUT_MS })
  } catch (error) {
    // The compiler writes its errors to stdout, which the message of an exec error leaves out.
    const { message, stdout } = Object(error)
    throw new Error(`${message}\n${stdout}`, { cause: error })
  }
}

async function filesOf(pattern: string): Promise<string[]> {
  return Array.fromAsync(glob(pattern, { cwd: installed }))
}
