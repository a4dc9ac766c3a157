// What the compose file promises without being run.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly environment?: Readonly<Record<string, unknown>> }>
  >
}

test('a host of the compose file asks for an account or a key unless it is told otherwise', () => {
  const file = join(import.meta.dirname, '..', 'docker-compose.yml')
  const { services } = parse(readFileSync(file, 'utf8'), { merge: true }) as Compose
  const auth = Object.values(services).flatMap(({ environment }) => environment?.['AUTH'] ?? [])
  expect(services['gateway']?.environment).toHaveProperty('AUTH')
  expect(new Set(auth)).toEqual(new Set(['${AUTH:-local,keys}']))
})
