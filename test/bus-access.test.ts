// Who uses what is kept on the bus: permissions are made from it, so it has to be complete.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ACCOUNTS, AUDIT_WRITERS, BLOB_USERS, BUCKETS, COUNTER_USERS } from '@mcp-host/contracts'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')

/** The sources of services and packages, by path. */
const sources = globSync('{packages,services}/*/src/**/*.ts', {
  cwd: root,
  exclude: ['**/*.test.ts', '**/__fixtures__/**'],
}).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** The services with a source that matches. */
function servicesWith(pattern: RegExp): string[] {
  const found = sources.flatMap(({ path, text }) =>
    path.startsWith('services/') && pattern.test(text) ? [path.split('/')[1] ?? ''] : [],
  )
  return [...new Set(found)]
}

test('every bucket has an entry that names its readers and writers, and no other has', () => {
  const defined = sources.flatMap(({ text }) => [
    ...Array.from(text.matchAll(/defineBucket\(\s*'(\w+)'/g), ([, bucket]) => bucket ?? ''),
    ...Array.from(
      text.matchAll(/^export const (?!BLOB)\w+_BUCKET = '(\w+)'/gm),
      ([, bucket]) => bucket ?? '',
    ),
  ])
  expect(Object.keys(BUCKETS).toSorted()).toEqual([...new Set(defined)].toSorted())
})

test.each([
  ['the audit log', /\bopenAudit\(/, AUDIT_WRITERS],
  ['stored values', /\bblobs\b/, BLOB_USERS],
  ['the counters', /\bbus\.counter\(|new RateLimits\(/, COUNTER_USERS],
] as const)('every service that uses %s is in the list of those', (_what, pattern, users) => {
  const listed: readonly string[] = users
  expect(servicesWith(pattern).filter((service) => !listed.includes(service))).toEqual([])
})

test('every service has an account', () => {
  const services = globSync('services/*', { cwd: root }).map((path) => path.split('/')[1] ?? '')
  const { tools: _, ...accounts } = ACCOUNTS
  expect(Object.keys(accounts).toSorted()).toEqual(services.toSorted())
})
