/** The program of a thread of `SchemaThreads`: compiles and applies one schema after another. */
import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'

import { type Compiled, type Faults, faultsOf, SchemaChecker } from './schema-checker.ts'
import type { ThreadJob, ThreadNotice } from './schema-threads.ts'

/** Compiled schemas that are kept; one takes up to some megabytes. */
const MAX_KEPT = 32
const LOW_PRIORITY = 5

// Calls that need no check of this kind go first. On Linux this is the thread's own priority, elsewhere the process's.
if (process.platform === 'linux' && getPriority() < LOW_PRIORITY) setPriority(LOW_PRIORITY)

let checker = new SchemaChecker()
// Its own schemas are compiled at the first one, which would count against the limit of that.
checker.compile({})
const kept = new Map<number, Compiled>()

parentPort?.on('message', ({ schemaId, schema, value }: ThreadJob) => {
  const compiled = kept.get(schemaId) ?? compile(schemaId, schema)
  tell({ kind: 'compiled' })
  const faults = compiled.kind === 'check' ? apply(compiled, value) : compiled
  tell({ kind: 'checked', faults })
})
tell({ kind: 'ready' })

function compile(schemaId: number, schema: ThreadJob['schema']): Compiled {
  if (kept.size === MAX_KEPT) {
    kept.clear()
    checker = new SchemaChecker()
  }
  const compiled = checker.compile(schema)
  kept.set(schemaId, compiled)
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

function tell(notice: ThreadNotice): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it goes to a thread, not to a window
  parentPort?.postMessage(notice)
}
