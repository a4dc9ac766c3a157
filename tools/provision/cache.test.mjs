import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { cacheFolder, compileCacheFolder, installOnce } from './cache.mjs'

let root
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cache-test-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

test('two installs at once both succeed and leave one complete folder', async () => {
  const target = join(root, 'deep', 'tool')
  const bothAreFilling = Promise.withResolvers()
  let filling = 0
  const install = (name) =>
    installOnce(target, async (draft) => {
      writeFileSync(join(draft, 'first'), name)
      filling += 1
      if (filling === 2) bothAreFilling.resolve()
      await bothAreFilling.promise
      writeFileSync(join(draft, 'second'), name)
    })

  await Promise.all([install('a'), install('b')])

  expect(readFileSync(join(target, 'first'))).toEqual(readFileSync(join(target, 'second')))
  expect(readdirSync(join(root, 'deep'))).toEqual(['tool'])
})

test('a failed install leaves nothing behind and the next one starts afresh', async () => {
  const target = join(root, 'tool')
  const failing = installOnce(target, (draft) => {
    writeFileSync(join(draft, 'half'), '')
    throw new Error('no network')
  })
  await expect(failing).rejects.toThrow('no network')
  expect(readdirSync(root)).toEqual([])

  await installOnce(target, (draft) => writeFileSync(join(draft, 'whole'), ''))
  expect(existsSync(join(target, 'whole'))).toBe(true)
})

test('what is installed is not installed again', async () => {
  const target = join(root, 'tool')
  await installOnce(target, () => {})
  await installOnce(target, () => {
    throw new Error('filled twice')
  })
})

test('the cache is where the platform keeps such things, unless told otherwise', () => {
  expect(cacheFolder({ MCP_HOST_CACHE: '/x', XDG_CACHE_HOME: '/y' }, 'linux')).toBe('/x')
  expect(cacheFolder({ XDG_CACHE_HOME: '/y' }, 'linux')).toBe(join('/y', 'mcp-host'))
  expect(cacheFolder({}, 'linux')).toBe(join(homedir(), '.cache', 'mcp-host'))
  expect(cacheFolder({}, 'darwin')).toBe(join(homedir(), 'Library', 'Caches', 'mcp-host'))
  expect(cacheFolder({ LOCALAPPDATA: '/local' }, 'win32')).toBe(join('/local', 'mcp-host'))
})

test('compiled code is kept there too, or where Node is told to', () => {
  expect(compileCacheFolder({ MCP_HOST_CACHE: '/x' })).toBe(join('/x', 'compiled'))
  expect(compileCacheFolder({ MCP_HOST_CACHE: '/x', NODE_COMPILE_CACHE: '/y' })).toBe('/y')
})
