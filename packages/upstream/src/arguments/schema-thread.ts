/** The program of a thread of `SchemaThreads`: compiles and applies one schema after another. */
import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'

import { type Compiled, type Faults, faultsOf, SchemaChecker } from './schema-checker.ts'
import type { ThreadJob, ThreadNotice } from './schema-threads.ts'

/** The number of cached schemas; one takes up to some megabytes. */
const MAX_SCHEMAS = 32
const LOW_PRIORITY = 5

// On Linux a thread has a priority of its own, elsewhere this would be that of the whole process.
if (process.platform === 'linux' && getPriority() < LOW_PRIORITY) setPriority(LOW_PRIORITY)

let checker = new SchemaChecker()
// ajv compiles its meta-schemas with the first schema, which would count against the limit of that schema.
checker.compile({})
const cache = new Map<number, Compiled>()

parentPort?.on('message', ({ schemaId, schema, value }: ThreadJob) => {
  const compiled = cache.get(schemaId) ?? compile(schemaId, schema)
  post({ kind: 'compiled' })
  const faults = compiled.kind === 'check' ? apply(compiled, value) : compiled
  post({ kind: 'checked', faults })
})
post({ kind: 'ready' })

function compile(schemaId: number, schema: ThreadJob['schema']): Compiled {
  if (cache.size === MAX_SCHEMAS) {
    cache.clear()
    checker = new SchemaChecker()
  }
  const compiled = checker.compile(schema)
  cache.set(schemaId, compiled)
  return compiled
}

function apply({ check }: Extract<Compiled, { kind: 'check' }>, value: unknown): Faults {
  const faults = faultsOf(check, value)
  if (faults.kind !== 'errors') return faults
  const errors = faults.errors.map(({ keyword, instancePath, params, message }) => {
    return { keyword, instancePath, params, message }
  })
  return { kind: 'errors', errors }
}

function post(notice: ThreadNotice): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the target is a thread, not a window
  parentPort?.postMessage(notice)
}
