import { join } from 'node:path'

/** The program of a fixture, such as `echo`. */
export function fixturePath(name: string): string {
  return join(import.meta.dirname, '..', 'fixtures', `${name}.ts`)
}
