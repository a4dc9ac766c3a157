import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import type { Damage } from './damage.ts'
import { damageLog } from './damage.ts'

/** The files that are left after damage to two block files, the newest of which is the tenth. */
async function left(damage: Damage): Promise<Record<string, string>> {
  await using folder = await testFolder()
  const blocks = join(folder.path, 'jetstream', '$G', 'streams', 'SESS', 'msgs')
  await mkdir(blocks, { recursive: true })
  for (const name of ['9.blk', '10.blk', 'index.db']) {
    await writeFile(join(blocks, name), 'x'.repeat(40))
  }
  await damageLog(folder.path, damage)
  const names = await readdir(blocks)
  const read = (name: string): Promise<string> => readFile(join(blocks, name), 'latin1')
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await read(name)] as const)),
  )
}

const untouched = { '9.blk': 'x'.repeat(40), 'index.db': 'x'.repeat(40) }

test.each<[Damage['how'], number, object]>([
  ['truncate', 10, { '10.blk': 'x'.repeat(30) }],
  ['truncate', 100, { '10.blk': '' }],
  ['overwrite', 30, { '10.blk': `${'x'.repeat(10)}${'\u00a5'.repeat(16)}${'x'.repeat(14)}` }],
  ['delete', 10, {}],
])('%s at %i bytes before the end only damages the newest block', async (how, bytes, newest) => {
  expect(await left({ how, bytes })).toEqual({ ...untouched, ...newest })
})
