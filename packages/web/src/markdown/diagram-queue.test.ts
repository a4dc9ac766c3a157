import { expect, test } from 'vitest'
import { DiagramQueue } from './diagram-queue.ts'

const signal = new AbortController().signal
const drawing = (source: string) => ({ source, isDark: false })

test('diagrams are drawn one after another, each once, also after one that fails', async () => {
  const log: string[] = []
  const queue = new DiagramQueue(async ({ source, isDark }) => {
    log.push(`begin ${source}`)
    await Promise.resolve()
    log.push(`end ${source}`)
    if (source === 'bad') throw new Error('no')
    return `${source} ${isDark}`
  })
  const [bad, ...good] = await Promise.allSettled([
    queue.draw(drawing('bad'), signal),
    queue.draw(drawing('a'), signal),
    queue.draw(drawing('a'), signal),
    queue.draw({ source: 'a', isDark: true }, signal),
  ])
  expect(bad.status).toBe('rejected')
  expect(good).toMatchObject([{ value: 'a false' }, { value: 'a false' }, { value: 'a true' }])
  const pair = ['begin a', 'end a']
  expect(log).toEqual(['begin bad', 'end bad', ...pair, ...pair])
})

test('a diagram that is gone before its turn is not drawn', async () => {
  const queue = new DiagramQueue(() => Promise.reject(new Error('it was drawn')))
  await expect(queue.draw(drawing('a'), AbortSignal.abort('gone'))).rejects.toBe('gone')
})
