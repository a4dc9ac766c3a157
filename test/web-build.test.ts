// The web UI is built once for each state of its sources.
import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { testFolder } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const PROGRAMS = [
  'tools/web/build-web.ts',
  'tools/provision/cache.mjs',
  'tools/provision/source-hash.mjs',
  'tools/root.ts',
] as const
const SOURCES = [
  'packages/web/index.html',
  'packages/web/package.json',
  'packages/web/src/deep/app.tsx',
  'packages/web/public/icon.svg',
  'packages/client/src/index.ts',
  'pnpm-lock.yaml',
] as const
/** Stands in for Vite, and notes each build. */
const FAKE_VITE = `
import { appendFileSync, writeFileSync } from 'node:fs'
export async function build({ root, build: { outDir } }) {
  appendFileSync(root + '/../../builds', 'x')
  writeFileSync(outDir + '/index.html', 'built')
}`

const open = new AsyncDisposableStack()
let folder: string
let web: Pick<typeof import('../tools/web/build-web.ts'), 'buildWeb' | 'webFolder'>

beforeAll(async () => {
  folder = open.use(await testFolder()).path
  for (const path of PROGRAMS) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await copyFile(join(root, path), join(folder, path))
  }
  for (const path of SOURCES) await write(path, 'first')
  await write('tools/node_modules/vite/package.json', '{ "type": "module", "main": "main.js" }')
  await write('tools/node_modules/vite/main.js', FAKE_VITE)
  web = await import(pathToFileURL(join(folder, PROGRAMS[0])).href)
})
afterAll(() => open.disposeAsync())

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

/** Builds the sources as they are, beside the cache of this machine. Resolves to the folder of the built files. */
async function built(): Promise<string> {
  const place = join(folder, 'cache', basename(web.webFolder()))
  await web.buildWeb(place)
  return place
}

async function builds(): Promise<number> {
  return (await readFile(join(folder, 'builds'), 'utf8')).length
}

test('sources that are built already are not built again', async () => {
  const place = await built()
  const before = await builds()
  const { ino, mtimeMs } = await stat(join(place, 'index.html'))
  // Only the content of a source counts.
  await write(SOURCES[0], 'first')
  expect(await built()).toBe(place)
  expect(await builds()).toBe(before)
  expect(await stat(join(place, 'index.html'))).toMatchObject({ ino, mtimeMs })
})

test.each(SOURCES)('a change of %s is built, and its return is not', async (source) => {
  const place = await built()
  const before = await builds()
  await write(source, 'second')
  const changed = await built()
  expect(changed).not.toBe(place)
  expect(await builds()).toBe(before + 1)
  expect(await readFile(join(changed, 'index.html'), 'utf8')).toBe('built')
  await write(source, 'first')
  expect(await built()).toBe(place)
  expect(await builds()).toBe(before + 1)
})
