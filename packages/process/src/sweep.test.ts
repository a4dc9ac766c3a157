import { expect, test } from 'vitest'

import { isAlive } from '@mcp-host/mcp-testkit'
import { findTagged, startForking, startSleeping } from '../test/tagged.ts'
import { TAG_NAME } from './process-table.ts'
import { Sweep } from './sweep.ts'

test('a sweep kills all processes with exactly its tag', async () => {
  const tag = `${crypto.randomUUID()}.1`
  const doomed = await Promise.all([
    startSleeping({ [TAG_NAME]: tag }),
    startSleeping({ BEFORE: 'a\nb', [TAG_NAME]: tag, BEHIND: 'x' }),
  ])
  const others = await Promise.all([
    startSleeping({ [TAG_NAME]: `${tag}0` }),
    startSleeping({ [TAG_NAME]: `x${tag}` }),
    startSleeping({ [`X${TAG_NAME}`]: tag }),
    startSleeping({ OTHER: `${TAG_NAME}=${tag}` }),
  ])
  await new Sweep().kill(tag)
  expect(doomed.filter(isAlive)).toEqual([])
  expect(others.filter(isAlive)).toEqual(others)
})

test('a sweep kills a chain of forking processes', async () => {
  const sweep = new Sweep()
  // A single chain could escape by chance.
  for (let chain = 0; chain < 3; chain += 1) {
    const tag = `${crypto.randomUUID()}.${chain}`
    await startForking({ [TAG_NAME]: tag })
    await sweep.kill(tag)
    expect(await findTagged(tag)).toEqual([])
  }
}, 30_000)

test('concurrent sweeps each end when their own work is done', async () => {
  const id = crypto.randomUUID()
  const tags = Array.from({ length: 5 }, (_, index) => `${id}.${index}`)
  const pids = await Promise.all(tags.map((tag) => startSleeping({ [TAG_NAME]: tag })))
  const sweep = new Sweep()
  await Promise.all(
    tags.map(async (tag, index) => {
      await sweep.kill(tag)
      expect(isAlive(pids[index] ?? 0)).toBe(false)
    }),
  )
})
