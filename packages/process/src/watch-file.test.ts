import { appendFileSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchFile } from './watch-file.ts'

let folder: string
let path: string
let changes: number
let watched: Disposable

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watch-file-'))
  path = join(folder, 'mcp.json')
  await writeFile(path, 'one')
  changes = 0
  watched = watchFile(path, () => void changes++, vi.fn<() => void>())
})
afterEach(async () => {
  watched[Symbol.dispose]()
  await rm(folder, { recursive: true })
})

test('a file that is written again is reported once', async () => {
  await writeFile(path, 'two')
  await vi.waitFor(() => expect(changes).toBe(1), { timeout: 5_000 })
  await writeFile(path, 'three')
  await vi.waitFor(() => expect(changes).toBe(2), { timeout: 5_000 })
})

test('a file that is replaced by another is reported', async () => {
  await writeFile(join(folder, 'draft'), 'two')
  await rename(join(folder, 'draft'), path)
  await vi.waitFor(() => expect(changes).toBe(1), { timeout: 5_000 })
})

test('a change is reported while another file of the folder is written continuously', async () => {
  using timer = new DisposableStack()
  const writeOther = (): void => appendFileSync(join(folder, 'other.log'), 'a line\n')
  timer.adopt(setInterval(writeOther, 20), clearInterval)
  await writeFile(path, 'two')
  await vi.waitFor(() => expect(changes).toBe(1), { timeout: 5_000 })
})

test('other changes in the folder, and the same content, are not reported', async () => {
  const other = join(folder, 'other')
  const onOther = vi.fn<() => void>()
  using _other = watchFile(other, onOther, vi.fn<() => void>())
  await writeFile(path, 'one')
  await writeFile(other, 'two')
  // Both are checked at the same time.
  await vi.waitFor(() => expect(onOther).toHaveBeenCalledOnce(), { timeout: 5_000 })
  expect(changes).toBe(0)
})

test('a folder that cannot be watched is reported without a throw', () => {
  const onFailure = vi.fn<(error: unknown) => void>()
  watchFile(join(folder, 'nowhere', 'mcp.json'), () => undefined, onFailure)
  expect(onFailure).toHaveBeenCalledOnce()
})
