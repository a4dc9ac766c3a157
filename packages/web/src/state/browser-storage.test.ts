import { readFileSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { browserStorage } from './browser-storage.ts'

afterEach(() => {
  for (const key of browserStorage.keys) browserStorage.removeItem(key)
  vi.unstubAllGlobals()
})

const refuse = () => {
  throw new DOMException('The operation is insecure.', 'SecurityError')
}

test.each([
  ['each access', { get: refuse }],
  ['each call', { value: { getItem: refuse, setItem: refuse, removeItem: refuse, key: refuse } }],
  ['its presence', { value: null }],
])('values last as long as the page in a browser that refuses %s', (_, property) => {
  vi.stubGlobal('localStorage', undefined)
  Object.defineProperty(globalThis, 'localStorage', { configurable: true, ...property })
  expect(browserStorage.getItem('theme')).toBeNull()
  browserStorage.setItem('theme', 'dark')
  expect(browserStorage.getItem('theme')).toBe('dark')
  expect([browserStorage.keys, browserStorage.length, browserStorage.key(0)]).toEqual([
    ['theme'],
    1,
    'theme',
  ])
  browserStorage.removeItem('theme')
  expect(browserStorage.getItem('theme')).toBeNull()
})

test('a value that is too large for the storage takes the place of the one before it', () => {
  const stored = new Map([['draft', 'short']])
  vi.stubGlobal('localStorage', {
    get length() {
      return stored.size
    },
    key: (index: number) => Array.from(stored.keys())[index],
    getItem: (key: string) => stored.get(key) ?? null,
    removeItem: (key: string) => stored.delete(key),
    setItem(key: string, value: string) {
      if (value.length > 5) throw new DOMException('full', 'QuotaExceededError')
      stored.set(key, value)
    },
  })
  expect(browserStorage.getItem('draft')).toBe('short')
  browserStorage.setItem('draft', 'a long one')
  expect(browserStorage.getItem('draft')).toBe('a long one')
  expect(stored.size).toBe(0)
  browserStorage.setItem('draft', 'again')
  expect([Array.from(stored), browserStorage.keys]).toEqual([[['draft', 'again']], ['draft']])
})

test('no other file of the page uses a storage that may throw', () => {
  const source = join(import.meta.dirname, '..')
  const users = globSync('**/*.{ts,tsx}', { cwd: source })
    .filter((file) => !file.endsWith('.test.ts'))
    .filter((file) => /\b(?:local|session)Storage\b/.test(readFileSync(join(source, file), 'utf8')))
  expect(users).toEqual([join('state', 'browser-storage.ts')])
})
