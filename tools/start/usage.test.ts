import { expect, test } from 'vitest'
import { ALL_SETTINGS } from '../host/settings.ts'
import { startUsage } from './usage.ts'

test('the usage of npm start has each setting once, apart from its description, below a topic', () => {
  const [head = '', ...groups] = startUsage().split('\n\n').slice(1)
  expect(head).toMatch(/^Starts nats-server/)
  const names = groups.flatMap((group) => {
    const [topic, ...lines] = group.trimEnd().split('\n')
    expect(topic).toMatch(/^[A-Z][A-Za-z ]+$/)
    expect(lines.length).toBeGreaterThan(0)
    return lines.map((line) => /^ {2}([A-Z_]+) {2,}\S/.exec(line)?.[1] ?? line)
  })
  const all = ALL_SETTINGS.flatMap(({ settings }) => Object.values(settings))
  expect(names.toSorted()).toEqual([...new Set(all.map(({ env }) => env))].toSorted())
})
